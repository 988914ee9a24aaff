"""From examples to a model, for every task: features, cross-fitting, the training, the decision, an evaluation.

Cross-fitting gives answers to examples by models that have not seen them: the strength is chosen by these answers, and
probabilities are learned from them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import linnaeus
from linnaeus.data.split import Split, folds, holdout, kept_together, repeated
from linnaeus.erm.progress import Folds, Phase, Watcher
from linnaeus.evaluation.facts import join
from linnaeus.kernels.threads import Beside
from linnaeus.learners.problems import is_family
from linnaeus.learners.run import Run
from linnaeus.model.kept_texts import keep
from linnaeus.model.model import Model
from linnaeus.recipes.tuning import Tuning, refuse_folds
from linnaeus.store.parts import PartsFile
from linnaeus.tasks.examples import Examples, Held, Learned, Leg
from linnaeus.training.checkpoint import closing, kept_legs, open_checkpoint
from linnaeus.training.climb import Climb
from linnaeus.training.fingerprint import fingerprint
from linnaeus.types import Json, Source

if TYPE_CHECKING:
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.base import TaskLesson

CALIBRATION = Phase("calibration", None, "probabilities and intervals from held-out rows")
FEW = 3
"""Folds up to which not every strength is tried."""


def train(
    recipe: Recipe,
    data: Source,
    progress: Watcher | None = None,
    stages: Mapping[str, Source] | None = None,
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
    return bare.task.settle(found, examples, held)


def _summed(bare: Model, examples: Examples) -> Model | None:
    """The model of a learner that only sums up plain counts, without rows; None where it needs them."""
    if examples.labels is None or not is_family(bare.recipe.learner):
        return None
    from linnaeus.tasks.rows import tallied

    mark = Beside(lambda: fingerprint(examples, bare.task))
    found = tallied(bare.recipe, examples, mark.begin)
    if found is None:
        return None
    features, learned = found
    return _settled(replace(bare, features=features), examples, None, learned, mark)


def held_out(
    recipe: Recipe, lesson: TaskLesson, examples: Examples, tell: Watcher, kept: PartsFile | None = None
) -> Held | None:
    """Answers by models that have not seen the examples, where the recipe wants any and there are enough.

    The strengths are walked on each fold, and the answers are those of the best one. Where there are few folds, because
    the data are large, the first climbs from one of the stronger to the best one, and the others try that and its
    neighbors. Folds that `kept` knows are not walked again.
    """
    tuning, own = recipe.tuning, recipe.learner.strength
    if tuning is None or not (splits := cut(lesson, examples, tuning, recipe.seed)):
        return None
    shown = Folds(len(splits), len(tuning.strengths or ()), tell)
    strengths = tuning.strengths if own is not None and tuning.strengths else (own or 0.0,)

    def walked(fold: int, some: tuple[float, ...] | Climb) -> list[Leg]:
        place = None if kept is None else kept.part(f"fold{fold}")
        inside = Run(shown.within, None if kept is None else kept.part(f"fold{fold}.solver"))
        return kept_legs(place, lambda: walk(splits[fold], some, inside))

    def walk(split: Split, some: tuple[float, ...] | Climb, inside: Run) -> list[Leg]:
        shown.begin()
        found: list[Leg] = []
        for leg in lesson.legs(split, some, inside):
            shown.tried(some.current if isinstance(some, Climb) else some[len(found)], leg.score)
            found.append(leg)
            if isinstance(some, Climb):
                some.tell(leg.score)
        return found

    if len(splits) > FEW:
        chosen, first = strengths, walked(0, strengths)
    else:
        path = Climb(strengths)
        legs = path.by_place(walked(0, path))
        near = sorted(legs) if len(splits) == 1 else path.near_best(legs)
        chosen, first = tuple(strengths[at] for at in near), [legs[at] for at in near]
    found = [first, *(walked(fold, chosen) for fold in range(1, len(splits)))]
    sizes = np.array([len(split.test) for split in splits], np.float64)
    tried = [float(np.average([some[i].score for some in found], weights=sizes)) for i in range(len(chosen))]
    best = max(range(len(chosen)), key=tried.__getitem__)
    rows = np.concatenate([split.test for split in splits])
    order = np.argsort(rows, kind="stable")
    parts = [some[best].answers for some in found]
    answers = np.concatenate(parts)[order] if isinstance(parts[0], np.ndarray) else join(parts).take(order)
    return Held(rows[order], answers, chosen[best] if own is not None else None, dict(zip(chosen, tried, strict=True)))


def cut(lesson: TaskLesson, examples: Examples, tuning: Tuning, seed: int) -> list[Split]:
    """The splits: classes keep their shares, groups and equal texts stay together; no more folds than data allow."""
    n, count = len(examples), tuning.folds or lesson.folds
    share = min(tuning.share, max(0.02, tuning.rows / n)) if count == 1 else 1 / count
    groups = kept_together(examples.keys, examples.groups, part=n * share)
    most = n if groups is None else len(np.unique(groups))
    if not lesson.enough(n, most):
        return []
    if count == 1:
        return [_bounded(holdout(n, share=share, seed=seed, strata=examples.strata, groups=groups), tuning.rows)]
    return folds(n, min(count, most), seed=seed, strata=examples.strata, groups=groups)


def _bounded(split: Split, rows: int) -> Split:
    """At most so many rows to test on, at equal distances."""
    count = len(split.test)
    return split if count <= rows else Split(split.train, split.test[np.arange(rows) * count // rows])
