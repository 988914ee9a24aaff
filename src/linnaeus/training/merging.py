"""Models of more data: two models that count become the model of both data sets, and a model learns from new rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import linnaeus
from linnaeus.arrays.labels import point
from linnaeus.erm.progress import Watcher, Watching
from linnaeus.errors import UsageError
from linnaeus.learners.linear.streaming import Memory, go_on, widened
from linnaeus.learners.restore import weights_of
from linnaeus.learners.run import Run
from linnaeus.outputs import Binary, Multiclass, MultiLabel
from linnaeus.protocols import CountsOn, capability
from linnaeus.protocols import Model as Body
from linnaeus.tasks.base import CAN_UPDATE
from linnaeus.tasks.classify.settling import kind_of
from linnaeus.tasks.examples import Examples
from linnaeus.tasks.rows import pose
from linnaeus.training.fingerprint import fingerprint
from linnaeus.types import Array, Label, Lesson, Longs, Source

if TYPE_CHECKING:
    from linnaeus.features import Fitted
    from linnaeus.model.model import Model


def merged(one: Model, other: Model) -> Model:
    """The model of the data of both. Features must be the same: hashed ones, or those of a given vocabulary.

    Counts add up exactly; means and variances to rounding. Classes that only one of them knows are known to both. What
    was learned from held-out rows (probabilities, thresholds) is not the merged model's, and is left out.
    """
    for model in (one, other):
        _refuse_uncounted(model)
    if one.form != other.form or not _alike(one.features, other.features):
        raise UsageError(
            "The models do not see the same features; train both with hashed terms (Hashed), or a given vocabulary "
            "(Given), to merge them."
        )
    classes = np.union1d(one.classes, other.classes)  # type: ignore[arg-type]
    bodies = [model.body.widen(_at(model, classes), len(classes)) for model in (one, other)]
    seen = hashlib.sha256(f"{one.facts['fingerprint']}{other.facts['fingerprint']}".encode()).hexdigest()
    return _with(one, classes, bodies[0] + bodies[1], (one.facts["rows"] + other.facts["rows"], seen))


def _refuse_update(model: Model) -> None:
    """Refuse models that cannot go on learning."""
    if "estimator" in model.facts:
        kind = "estimators on matrices, some of which have partial_fit"
    elif model.stages or model.codes is not None:
        kind = "pipelines" if model.stages else "compact models"
    elif not model.task.goes_on and model.body is not None and not _counts(model):
        kind = f"models by {type(model.recipe.learner).__name__}"
    else:
        return
    raise UsageError(f"{CAN_UPDATE}, but not {kind}.")


def updated(model: Model, corpus: Source, progress: Watcher | None = None, remove: Sequence[Label] = ()) -> Model:
    """The model after further labeled rows; its features stay as they are. Labels to `remove` are taken out first.

    A model that counts is as if it had been trained on both. A linear model goes one epoch over the new rows with a
    stochastic optimizer, each row a step from the weights so far; what it decides by stays, if no class is new.
    """
    if remove:
        model = replace(model, **model.task.less(model, remove).fields)
    _refuse_update(model)
    examples = (corpus if isinstance(corpus, Examples) else model.task.examples(corpus)).counted()
    if model.task.goes_on:
        return _with_more(model, examples, progress)
    kinds = {"single": "single", "numbers": "numbers"}
    new = "numbers" if examples.labels is None else examples.labels.form
    if kinds.get(model.form, "sets") != kinds.get(new, "sets"):
        raise UsageError(
            "The labels of the new rows differ in kind from the model's; give rows like the training rows."
        )
    after = _after(model, examples)
    if model.body is None:
        return _stepped(model, examples, after, progress)
    assert examples.labels is not None
    classes = np.union1d(model.classes, examples.labels.classes)  # type: ignore[arg-type]
    X, y = model.features.rows(examples.stream), point(examples.labels, classes).y
    lesson = Lesson(X, y, examples.weights, len(classes), model.recipe.seed)
    body = model.body.widen(_at(model, classes), len(classes)).update(lesson)
    return _with(model, classes, body, after)


def _after(model: Model, examples: Examples) -> tuple[int, str]:
    """How many rows the model has seen after these examples, and the fingerprint of all of them."""
    before = model.facts.get("fingerprint", "")
    seen = hashlib.sha256(f"{before}{fingerprint(examples, model.task)}".encode()).hexdigest()
    return int(model.facts.get("rows", 0)) + len(examples), seen


def _with_more(model: Model, examples: Examples, progress: Watcher | None) -> Model:
    """The model of a task that goes on learning by itself."""
    learned = model.task.more(model, examples, Run(progress))
    rows, mark = _after(model, examples)
    sizes = {name: int(model.facts.get(name, 0)) + count for name, count in model.task.sizes(examples).items()}
    updates = int(model.facts.get("updates", 0)) + 1
    facts = {**model.facts, **sizes, "rows": rows, "fingerprint": mark, "updates": updates, "held_out": 0}
    return replace(model, **learned.fields, facts=facts, account=None)


def _stepped(model: Model, examples: Examples, after: tuple[int, str], progress: Watcher | None) -> Model:
    """A linear model after one epoch over the new rows."""
    labels, classes = examples.labels, model.classes
    if labels is not None:
        classes = np.union1d(model.classes, labels.classes)  # type: ignore[arg-type]
        examples = replace(examples, labels=point(labels, classes))
    problem = pose(model.recipe.learner, model.features.rows(examples.stream), examples)
    params = {name: np.asarray(value, np.float64) for name, value in model.params.items()}
    memory = Memory(int(model.facts.get("updates", 0)), int(model.facts["rows"]), dict(model.memory))
    if classes is not None and model.classes is not None:
        params, memory = widened(params, memory, (model.space, model.classes), (problem.space, classes))
    settings = model.recipe.learner.settings(model.recipe.seed, None if progress is None else Watching(progress))
    found = go_on(settings, problem, params, memory)
    rows, mark = after
    facts = {**model.facts, "rows": rows, "fingerprint": mark, "updates": found.memory.batches, "held_out": 0}
    new = replace(model, params=found.params, memory=found.memory.state, space=problem.space, classes=classes)
    new = replace(new, facts=facts, account=None, kept=None)
    if classes is None or model.classes is None or len(classes) == len(model.classes):
        return new
    return replace(new, decision=model.recipe.decision.untaught(kind_of(new), len(classes)))


def _counts(model: Model) -> bool:
    return capability(model.body, CountsOn) is not None


def _with(model: Model, classes: Array, body: Body, seen: tuple[int, str]) -> Model:
    """The model with another body, and nothing that was learned for the old one."""
    space = MultiLabel() if model.form != "single" else Binary() if len(classes) == 2 else Multiclass()
    rows, mark = seen
    facts = {"version": linnaeus.__version__, "rows": rows, "fingerprint": mark, "ending": "merged", "epochs": 0}
    params = weights_of(body, space)
    found = replace(model, classes=classes, space=space, body=body, params=params, account=None, kept=None)
    decision = model.recipe.decision.untaught(kind_of(found), len(classes))
    return replace(found, decision=decision, facts={**facts, "held_out": 0})


def _at(model: Model, classes: Array) -> Longs:
    return np.searchsorted(classes, model.classes)  # type: ignore[arg-type]


def _refuse_uncounted(model: Model) -> None:
    if "estimator" in model.facts:
        raise UsageError("Models of estimators on matrices cannot be merged; train one on the rows of both.")
    if not _counts(model):
        name = type(model.recipe.learner).__name__
        raise UsageError(f"A model by {name} cannot be merged; models that count can, such as naive Bayes.")


def _alike(one: Fitted, other: Fitted) -> bool:
    """Whether two pieces are made of the same numbers."""
    a, b = one.state(), other.state()
    if a.manifest != b.manifest or a.tensors.keys() != b.tensors.keys():
        return False
    return all(np.array_equal(a.tensors[name], b.tensors[name]) for name in a.tensors)
