"""Models that count, put together: two models of parts of some data become the model of the whole, without the data."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import linnaeus
from linnaeus.errors import UsageError
from linnaeus.learners.restore import weights_of
from linnaeus.outputs import Binary, Multiclass, MultiLabel
from linnaeus.tasks.classify.settling import kind_of
from linnaeus.tasks.examples import as_examples
from linnaeus.training.fingerprint import fingerprint
from linnaeus.types import LabelSets, Lesson

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
    bodies: list[Any] = [model.body.widen(_at(model, classes), len(classes)) for model in (one, other)]
    seen = hashlib.sha256(f"{one.facts['fingerprint']}{other.facts['fingerprint']}".encode()).hexdigest()
    return _with(one, classes, bodies[0] + bodies[1], (one.facts["rows"] + other.facts["rows"], seen))


def updated(model: Model, corpus: Any) -> Model:
    """The model after further labeled rows: as if it had been trained on both; its features stay as they are."""
    _refuse_uncounted(model)
    examples = as_examples(corpus).counted()
    if examples.labels is None or examples.labels.sets != (model.form != "single"):
        raise UsageError(
            "The labels of the new rows differ in kind from the model's; give rows like the training rows."
        )
    classes = np.union1d(model.classes, examples.labels.classes)  # type: ignore[arg-type]
    now, y = np.searchsorted(classes, examples.labels.classes).astype(np.int32), examples.labels.y
    y = LabelSets(y.offsets, now[y.labels]) if isinstance(y, LabelSets) else now[y]
    lesson = Lesson(model.features.rows(examples.stream), y, examples.weights, len(classes), model.recipe.seed)
    body = model.body.widen(_at(model, classes), len(classes)).update(lesson)
    seen = hashlib.sha256(f"{model.facts['fingerprint']}{fingerprint(examples, model.task)}".encode()).hexdigest()
    return _with(model, classes, body, (model.facts["rows"] + len(examples), seen))


def _with(model: Model, classes: Any, body: Any, seen: tuple[int, str]) -> Model:
    """The model with another body, and nothing that was learned for the old one."""
    space = MultiLabel() if model.form != "single" else Binary() if len(classes) == 2 else Multiclass()
    rows, mark = seen
    facts = {"version": linnaeus.__version__, "rows": rows, "fingerprint": mark, "ending": "merged", "epochs": 0}
    params = weights_of(body, space)
    found = replace(model, classes=classes, space=space, body=body, params=params, account=None, kept=None)
    decision = model.recipe.decision.untaught(kind_of(found), len(classes))
    return replace(found, decision=decision, facts={**facts, "held_out": 0})


def _at(model: Model, classes: Any) -> Any:
    return np.searchsorted(classes, model.classes)  # type: ignore[arg-type]


def _refuse_uncounted(model: Model) -> None:
    if not hasattr(model.body, "widen"):
        name = type(model.recipe.learner).__name__
        raise UsageError(f"A model by {name} cannot be merged or updated; models that count can, such as naive Bayes.")


def _alike(one: Fitted, other: Fitted) -> bool:
    """Whether two pieces are made of the same numbers."""
    a, b = one.state(), other.state()
    if a.manifest != b.manifest or a.tensors.keys() != b.tensors.keys():
        return False
    return all(np.array_equal(a.tensors[name], b.tensors[name]) for name in a.tensors)
