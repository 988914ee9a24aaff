"""From examples to a model, for every task: features, cross-fitting, the training, the decision, an evaluation."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import linnaeus
from linnaeus.data.split import repeated
from linnaeus.erm.progress import Phase, Watcher
from linnaeus.kernels.threads import Beside
from linnaeus.learners.problems import is_family
from linnaeus.learners.run import Run
from linnaeus.model.kept_texts import keep
from linnaeus.model.model import Model
from linnaeus.recipes.tuning import refuse_folds
from linnaeus.tasks.examples import Examples
from linnaeus.training.checkpoint import closing, open_checkpoint
from linnaeus.training.crossfit import held_out
from linnaeus.training.fingerprint import fingerprint

if TYPE_CHECKING:
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.store.parts import PartsFile
    from linnaeus.tasks.examples import Held, Learned
    from linnaeus.types import Json

CALIBRATION = Phase("calibration", None, "probabilities and intervals from held-out rows")


def train(
    recipe: Recipe,
    data: Any,
    progress: Watcher | None = None,
    stages: Mapping[str, Any] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Model:
    """The whole training; the same data, recipe and seed give the same bits. Earlier stages are trained first.

    A training with a checkpoint keeps there what is done, and goes on from it if it was interrupted.
    """
    examples = data if isinstance(data, Examples) else recipe.task.examples(data)
    kept = None if checkpoint is None else open_checkpoint(checkpoint, recipe, examples)
    with closing(kept):
        if not recipe.before:
            return train_examples(recipe, examples, progress, kept)
        from linnaeus.training.stages import train_stages

        return train_stages(recipe, examples, progress, stages or {}, kept)


def train_examples(
    recipe: Recipe, examples: Examples, progress: Watcher | None = None, kept: PartsFile | None = None
) -> Model:
    """The training on examples that were read; `kept` is the file of its checkpoint."""
    tell = progress or (lambda _phase: None)
    task = recipe.task.meant(examples)
    recipe = recipe if task is recipe.task else replace(recipe, task=task)
    examples = examples.counted()
    task.refuse_examples(examples)
    refuse_folds(recipe.tuning, len(examples))
    tell(Phase("features"))
    bare = Model(task, recipe, None, {}, None, None, "")
    if (summed := _summed(bare, examples)) is not None:
        return summed
    if recipe.tuning is not None:
        examples = replace(examples, keys=task.keys(examples.stream, recipe.features))
        if recipe.tuning.by is not None:
            examples = replace(examples, groups=task.groups(examples, recipe.tuning.by))
    lesson = task.lesson(recipe, examples)
    held = held_out(recipe, lesson, examples, tell, kept)
    learner = recipe.learner if held is None or held.strength is None else recipe.learner.with_strength(held.strength)
    tell(Phase("training"))
    mark = Beside(lambda: fingerprint(examples, task)).begin()  # as long as one thread is enough for the rest
    learned = lesson.learn(learner, Run(progress, None if kept is None else kept.part("solver")))
    tell(CALIBRATION)
    bare = replace(bare, features=lesson.features)
    return _settled(bare, examples, held, learned, mark)


def _settled(bare: Model, examples: Examples, held: Held | None, learned: Learned, mark: Beside[str]) -> Model:
    """The model with what was learned, its decision, its evaluation and its facts."""
    recipe = bare.recipe
    kept = keep(examples) if recipe.keep == "texts" else None
    trace = learned.trace
    facts: dict[str, Json] = {
        "version": linnaeus.__version__,
        "rows": len(examples),
        **bare.task.sizes(examples),
        "fingerprint": mark.result(),
        "ending": "learned" if trace is None else trace.reason,
        "epochs": trace.last.epoch if trace else 0,
        "held_out": 0 if held is None else len(held.rows),
    }
    if examples.keys is not None and (several := int(repeated(examples.keys).sum())):
        facts["repeated"] = several
    if held is not None and held.strength is not None:
        facts["strength"] = held.strength
        facts["tried"] = [[strength, score] for strength, score in held.tried.items()]
    found = replace(bare, **learned.fields, facts=facts, kept=kept)
    settled: Model = bare.task.settle(found, examples, held)
    return settled


def _summed(bare: Model, examples: Examples) -> Model | None:
    """The model of a learner that only sums up plain counts, without rows; None where it needs them."""
    if examples.labels is None or not is_family(bare.recipe.learner):
        return None
    from linnaeus.training.tallying import tallied

    mark = Beside(lambda: fingerprint(examples, bare.task))
    found = tallied(bare.recipe, examples, mark.begin)
    if found is None:
        return None
    features, learned = found
    return _settled(replace(bare, features=features), examples, None, learned, mark)
