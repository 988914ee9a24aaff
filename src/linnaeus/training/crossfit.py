"""Answers to examples by models that have not seen them: the strength is chosen by them, and probabilities learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linnaeus.data.split import Split, folds, holdout, kept_together
from linnaeus.erm.progress import Folds, Watcher
from linnaeus.evaluation.facts import join
from linnaeus.tasks.examples import Held, Leg
from linnaeus.training.checkpoint import kept_legs

if TYPE_CHECKING:
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.recipes.tuning import Tuning
    from linnaeus.store.parts import PartsFile
    from linnaeus.tasks.base import TaskLesson
    from linnaeus.tasks.examples import Examples
    from linnaeus.types import Longs

Told: TypeAlias = Callable[[float, float], None]

FEW = 3
"""Folds up to which not every strength is tried on each."""
WORSE = 2
"""Weaker strengths that did worse than the best one, in a row, before no weaker ones are tried."""


def held_out(
    recipe: Recipe, lesson: TaskLesson, examples: Examples, tell: Watcher, kept: PartsFile | None = None
) -> Held | None:
    """Answers by models that have not seen the examples, where the recipe wants any and there are enough."""
    tuning = recipe.tuning
    if tuning is None or not (splits := cut(lesson, examples, tuning, recipe.seed)):
        return None
    shown = Folds(len(splits), len(tuning.strengths or ()), tell)

    def legs(split: Split, strengths: tuple[float, ...]) -> Iterator[Leg]:
        shown.begin()
        return lesson.legs(split, strengths)

    return crossfit(recipe.learner, legs, splits, tuning, shown.tried, kept)


def cut(lesson: TaskLesson, examples: Examples, tuning: Tuning, seed: int) -> list[Split]:
    """The splits: classes keep their shares, groups and equal texts stay together; no more folds than data allow."""
    n, count = len(examples), tuning.folds or lesson.folds
    share = min(tuning.share, max(0.02, tuning.rows / n)) if count == 1 else 1 / count
    groups = kept_together(examples.keys, examples.groups, part=n * share)
    most = n if groups is None else len(np.unique(groups))
    if not lesson.enough(n, most):
        return []
    if count == 1:
        return [_bounded(holdout(n, share=share, seed=seed, strata=lesson.strata, groups=groups), tuning.rows)]
    return folds(n, min(count, most), seed=seed, strata=lesson.strata, groups=groups)


def _bounded(split: Split, rows: int) -> Split:
    """At most so many rows to test on, at equal distances."""
    count = len(split.test)
    return split if count <= rows else Split(split.train, split.test[np.arange(rows) * count // rows])


def crossfit(
    learner: Any,
    legs: Callable[[Split, tuple[float, ...]], Iterator[Leg]],
    splits: list[Split],
    tuning: Tuning,
    told: Told = lambda *_: None,
    kept: PartsFile | None = None,
) -> Held:
    """Walk the strengths on each fold, choose the best, and give the held-out answers of the chosen one.

    `legs` gives the answers for each strength on a split. Where there are few folds, because the data are large, the
    first walks until weaker strengths only do worse, and the others try the best of the first and its neighbors. Folds
    that `kept` knows are not walked again.
    """
    own = learner.strength
    strengths = tuning.strengths if own is not None and tuning.strengths else (own or 0.0,)
    few = len(splits) <= FEW

    def walked(fold: int, some: tuple[float, ...], least: int) -> list[Leg]:
        place = None if kept is None else kept.part(f"fold{fold}")
        return kept_legs(place, lambda: walk(splits[fold], some, least))

    def walk(split: Split, some: tuple[float, ...], least: int) -> list[Leg]:
        found: list[Leg] = []
        for strength, leg in zip(some, legs(split, some), strict=False):
            told(strength, leg.score)
            found.append(leg)
            if len(found) >= least and _only_worse([leg.score for leg in found]):
                break
        return found

    first = walked(0, strengths, 0 if few else len(strengths))
    near = _near([leg.score for leg in first]) if few and len(splits) > 1 else range(len(first))
    chosen = strengths[near.start : near.stop]
    found = [first[near.start : near.stop]]
    found += [walked(fold, chosen, len(near)) for fold in range(1, len(splits))]
    sizes = np.array([len(split.test) for split in splits], np.float64)
    tried = [float(np.average([some[i].score for some in found], weights=sizes)) for i in range(len(near))]
    best = max(range(len(near)), key=tried.__getitem__)
    rows = np.concatenate([split.test for split in splits])
    order = np.argsort(rows, kind="stable")
    answers = _ordered([some[best].answers for some in found], order)
    return Held(rows[order], answers, chosen[best] if own is not None else None, dict(zip(chosen, tried, strict=True)))


def _only_worse(scores: list[float]) -> bool:
    return len(scores) - 1 - scores.index(max(scores)) >= WORSE


def _near(scores: list[float]) -> range:
    """The best of these (of equals the strongest) and its neighbors.

    >>> _near([0.5, 0.9, 0.8, 0.7])
    range(0, 3)
    """
    best = max(range(len(scores)), key=scores.__getitem__)
    return range(max(0, best - 1), min(len(scores), best + 2))


def _ordered(parts: list[Any], order: Longs) -> Any:
    """The answers of all folds in the order of the examples."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)[order]
    return join(parts).take(order)
