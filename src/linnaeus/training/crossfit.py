"""Scores of rows by models that have not seen them: the strength is chosen by them, and probabilities learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linnaeus.arrays import linear
from linnaeus.data.split import Split, folds, holdout, kept_together
from linnaeus.erm.choose import choose_optimizer
from linnaeus.erm.path import walk
from linnaeus.erm.pieces import piece
from linnaeus.frozen import dataclass
from linnaeus.learners.linear.solving import Problem, objective_of, stopping
from linnaeus.learners.problems import is_family, learn
from linnaeus.learners.restore import scores_of
from linnaeus.outputs import Multiclass, Real
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from linnaeus.erm import Objective, Stop
    from linnaeus.learners.linear.learner import Linear
    from linnaeus.protocols import Solver
    from linnaeus.recipes.tuning import Tuning
    from linnaeus.tasks.examples import Examples
    from linnaeus.types import Doubles, Longs

Told: TypeAlias = Callable[[float, float], None]
Parts: TypeAlias = Callable[[Split], tuple[Problem, Problem]]

FEW = 3
"""Folds up to which not every strength is tried on each."""
FOLDS = ((3e7, 10), (6e7, 5), (2e8, 3))
"""How many folds there are below so many stored values times scores; beyond, a fifth of the rows is held out once."""
ENOUGH = 200
"""Rows from which there may be more than 5 folds."""
LOOSE = 1e-2
"""The relative gap to which strengths are compared: held-out scores hardly change below it."""
WORSE = 2
"""Weaker strengths that did worse than the best one, in a row, before no weaker ones are tried."""


@dataclass(frozen=True)
class Held:
    """Rows that were held out, their scores (m, w), the strength that was chosen, and how each one did."""

    rows: Longs
    scores: Doubles
    strength: float | None
    tried: dict[float, float]


def cut(problem: Problem, examples: Examples, tuning: Tuning, seed: int) -> list[Split]:
    """The splits: classes keep their shares, groups and equal texts stay together; no more folds than data allow."""
    n = problem.rows.shape[0]
    strata = None if isinstance(problem.y, LabelSets) or isinstance(problem.space, Real) else problem.y
    count = tuning.folds or _by_size(problem)
    share = min(0.2, max(0.02, tuning.rows / n)) if count == 1 else 1 / count
    groups = kept_together(examples.keys, examples.groups, part=n * share)
    most = n if groups is None else len(np.unique(groups))
    if most < 2:
        return []
    if count == 1:
        return [_bounded(holdout(n, share=share, seed=seed, strata=strata, groups=groups), tuning.rows)]
    return folds(n, min(count, most), seed=seed, strata=strata, groups=groups)


def _bounded(split: Split, rows: int) -> Split:
    """At most so many rows to test on, at equal distances."""
    count = len(split.test)
    return split if count <= rows else Split(split.train, split.test[np.arange(rows) * count // rows])


def _by_size(problem: Problem) -> int:
    size = problem.rows.nnz if hasattr(problem.rows, "nnz") else int(np.prod(problem.rows.shape))
    work = size * problem.space.width(problem.k)
    found = next((folds for most, folds in FOLDS if work < most), 1)
    return found if problem.rows.shape[0] >= ENOUGH else min(found, 5)


def crossfit(
    learner: Any, parts: Parts, splits: list[Split], tuning: Tuning, seed: int, told: Told = lambda *_: None
) -> Held:
    """Walk the strengths on each fold, choose the best, and give the held-out scores of the chosen one.

    `parts` gives the problem on the two sides of a split. Where there are few folds, because the data are large, the
    first walks until weaker strengths only do worse, and the others try the best of the first and its neighbors.
    """
    own = getattr(learner, "strength", None)
    strengths = tuning.strengths if own is not None and tuning.strengths else (own or 0.0,)
    few = len(splits) <= FEW

    def legs_of(split: Split, some: tuple[float, ...], least: int) -> list[tuple[Doubles, float]]:
        found = []
        for strength, leg in zip(some, _legs(learner, parts(split), some, seed, least), strict=False):
            told(strength, leg[1])
            found.append(leg)
        return found

    first = legs_of(splits[0], strengths, 0 if few else len(strengths))
    near = _near([score for _, score in first]) if few and len(splits) > 1 else range(len(first))
    chosen = strengths[near.start : near.stop]
    found = [first[near.start : near.stop]]
    found += [legs_of(split, chosen, len(near)) for split in splits[1:]]
    sizes = np.array([len(split.test) for split in splits], np.float64)
    tried = [float(np.average([legs[i][1] for legs in found], weights=sizes)) for i in range(len(near))]
    best = max(range(len(near)), key=tried.__getitem__)
    rows = np.concatenate([split.test for split in splits])
    order = np.argsort(rows, kind="stable")
    S = np.concatenate([legs[best][0] for legs in found])[order]
    return Held(rows[order], S, chosen[best] if own is not None else None, dict(zip(chosen, tried, strict=True)))


def _near(scores: list[float]) -> range:
    """The best of these (of equals the strongest) and its neighbors.

    >>> _near([0.5, 0.9, 0.8, 0.7])
    range(0, 3)
    """
    best = max(range(len(scores)), key=scores.__getitem__)
    return range(max(0, best - 1), min(len(scores), best + 2))


def _legs(
    learner: Any, parts: tuple[Problem, Problem], strengths: tuple[float, ...], seed: int, least: int = 0
) -> Iterator[tuple[Doubles, float]]:
    """Held-out scores and how good they are, for each strength, until weaker ones only do worse."""
    (train, present), test = there(parts[0]), parts[1]
    results: list[float] = []
    for found in (_models if is_family(learner) else _walk)(learner, (train, test), strengths, seed):
        S = spread(found, present, parts[0])
        results.append(goodness(test.space, S, test.y, test.weights))
        yield S, results[-1]
        if len(results) >= least and len(results) - 1 - results.index(max(results)) >= WORSE:
            return


def _walk(
    learner: Linear, parts: tuple[Problem, Problem], strengths: tuple[float, ...], seed: int
) -> Iterator[Doubles]:
    """Scores of the second part by models of the first, each strength from where the one before it ended."""
    for leg in walk(_pose(learner, parts[0], seed), _choose(learner, seed), strengths, seed):
        yield linear.scores(parts[1].rows, leg.params)


def _models(learner: Any, parts: tuple[Problem, Problem], strengths: tuple[float, ...], seed: int) -> Iterator[Doubles]:
    """The same of a learner that enters at scores."""
    for strength in strengths:
        chosen = learner if getattr(learner, "strength", None) is None else learner.with_strength(strength)
        yield scores_of(learn(chosen, parts[0], seed), parts[1].rows, parts[0].space)


def there(problem: Problem) -> tuple[Problem, Longs | None]:
    """The problem of the classes that have rows, where some have none and all are scored together; and which have.

    The bias of a class without rows would sink for ever under the log loss.
    """
    if not isinstance(problem.space, Multiclass):
        return problem, None
    present, y = np.unique(problem.y, return_inverse=True)
    if len(present) == problem.k or len(present) < 2:
        return problem, None
    costs = problem.space.costs
    if costs is not None:
        costs = tuple(tuple(costs[a][b] for b in present) for a in present)
    space = replace(problem.space, costs=costs)
    return replace(problem, y=y.astype(np.int32), space=space, k=len(present)), present.astype(np.int64)


def spread(S: Doubles, present: Longs | None, problem: Problem) -> Doubles:
    """Scores of all classes: those without rows score as low as the lowest of the others."""
    if present is None:
        return S
    found = np.repeat(S.min(axis=1, keepdims=True), problem.k, axis=1)
    found[:, present] = S
    return found


def _pose(learner: Linear, problem: Problem, seed: int) -> Callable[[float], Objective]:
    def pose(strength: float) -> Objective:
        spec = learner if learner.strength is None else learner.with_strength(strength)
        return objective_of(spec.settings(seed), problem)

    return pose


def _choose(learner: Linear, seed: int) -> Callable[[Objective], tuple[Solver, Stop]]:
    def choose(objective: Objective) -> tuple[Solver, Stop]:
        loose = learner if learner.tol is None else replace(learner, tol=max(learner.tol, LOOSE))
        auto = isinstance(loose.optimizer, str)
        solver = choose_optimizer(objective, loose.tol) if auto else piece("optimizer", loose.optimizer)
        return solver, stopping(loose.settings(seed), objective.loss, solver)

    return choose


def goodness(space: Any, S: Doubles, y: Any, weights: Doubles) -> float:
    """The share of right answers; of label sets micro-F1; of numbers minus the mean squared error."""
    found = space.decode(S)
    if isinstance(space, Real):
        return -float(np.average(((found - y) ** 2).reshape(len(weights), -1).mean(axis=1), weights=weights))
    if not isinstance(y, LabelSets):
        return float(np.average(found == y, weights=weights))
    truth = np.zeros(found.shape, bool)
    truth[np.repeat(np.arange(len(y)), np.diff(y.offsets)), y.labels] = True
    hits = float(weights @ (truth & (found > 0)).sum(axis=1))
    return 2 * hits / max(1e-300, float(weights @ (truth.sum(axis=1) + (found > 0).sum(axis=1))))
