"""Optima of the losses with a kink, certified: plain dual coordinate ascent, value and bound from its own iterate.

    hinge           min_a 1/2 ||X^T (a y)||^2 - sum a,  0 <= a <= C                    (Hsieh et al., ICML 2008)
    Crammer-Singer  min_a 1/2 sum_m ||X^T a_m||^2 + sum_{i, m != y_i} a_im,
                    sum_m a_im = 0, a_im <= C [m = y_i]                                (Keerthi et al., KDD 2008)

Minus these is a bound below any P(W). Written for the race, independent of the peers and of Linnaeus, in no hurry; it
needs Numba (skglm brings it). A bound stays a bound whatever the arithmetic did, because both are computed afresh.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from race.problems import Problem, objective, signs

Array = Any
EPOCHS = 20


@dataclass(frozen=True)
class Goal:
    """The relative gap to reach, the lowest value anybody else has, and the seconds (of the processor) it may take."""

    gap: float
    best: float
    limit: float


@dataclass(frozen=True)
class Certificate:
    """The lowest value and the highest bound that were seen."""

    value: float
    bound: float
    seconds: float


def solve(problem: Problem, X: Array, y: Array, goal: Goal) -> Certificate:
    """Until the goal is reached, or the time is over."""
    start = time.process_time()
    if problem.family == "crammer-singer":
        value, bound = _ascend(_Joint(problem, X, y), goal)
    elif y.max() == 1:
        value, bound = _ascend(_Binary(problem, X, y), goal)
    else:
        parts = _one_vs_rest(problem, X, y, goal)
        value, bound = (sum(column) for column in zip(*parts, strict=True))
    return Certificate(value, bound, time.process_time() - start)


def _one_vs_rest(problem: Problem, X: Array, y: Array, goal: Goal) -> list[tuple[float, float]]:
    """Each class gets its share of the time that is left; nobody knows the values of the others class by class."""
    start, k, parts = time.process_time(), int(y.max()) + 1, []
    for label in range(k):
        share = (start + goal.limit - time.process_time()) / (k - label)
        one = _Binary(problem, X, (y == label).astype(int))
        parts.append(_ascend(one, Goal(goal.gap, np.inf, share)))
    return parts


def _ascend(dual: _Binary | _Joint, goal: Goal) -> tuple[float, float]:
    start = time.process_time()
    value, bound, turn = np.inf, -np.inf, 0
    while turn == 0 or (
        time.process_time() - start < goal.limit and min(value, goal.best) - bound > goal.gap * abs(value)
    ):
        for _ in range(EPOCHS):
            dual.epoch(np.random.default_rng(turn).permutation(len(dual.y)))
            turn += 1
        now = dual.measure()
        value, bound = min(value, now[0]), max(bound, now[1])
    return value, bound


class _Binary:
    """Dual variables of the hinge, and the weights they make."""

    def __init__(self, problem: Problem, X: Array, y: Array) -> None:
        self.problem, self.X, self.y, self.truth = problem, X, y, signs(y, 1)[:, 0]
        self.alpha, self.w = np.zeros(len(y)), np.zeros(X.shape[1])
        self.squares, self.rest = np.asarray(X.multiply(X).sum(axis=1)).ravel(), np.zeros(len(y), np.int64)

    def epoch(self, order: Array) -> None:
        """One pass."""
        rows = (self.X.indptr, self.X.indices, self.X.data)
        _hinge()(rows, self.truth, self.problem.C, (self.alpha, self.w, self.squares, self.rest), order)

    def measure(self) -> tuple[float, float]:
        """Value and bound; the weights are computed afresh, and every row is looked at again."""
        self.rest[:] = 0
        self.w = self.X.T @ (self.alpha * self.truth)
        value = objective(self.problem, self.X, self.y, self.w[None])
        return value, float(self.alpha.sum() - 0.5 * self.w @ self.w)


class _Joint:
    """Dual variables (n, k) of Crammer-Singer, and the weights they make."""

    def __init__(self, problem: Problem, X: Array, y: Array) -> None:
        self.problem, self.X, self.y, k = problem, X, y, int(y.max()) + 1
        self.alpha, self.W = np.zeros((len(y), k)), np.zeros((X.shape[1], k))
        self.squares, self.rest = np.asarray(X.multiply(X).sum(axis=1)).ravel(), np.zeros(len(y), np.int64)

    def epoch(self, order: Array) -> None:
        """One pass."""
        rows = (self.X.indptr, self.X.indices, self.X.data)
        _crammer_singer()(rows, self.y, self.problem.C, (self.alpha, self.W, self.squares, self.rest), order)

    def measure(self) -> tuple[float, float]:
        """Value and bound, likewise."""
        self.rest[:] = 0
        self.W = np.ascontiguousarray(self.X.T @ self.alpha)
        wrong = float(self.alpha.sum() - self.alpha[np.arange(len(self.y)), self.y].sum())
        bound = -wrong - 0.5 * float((self.W * self.W).sum())
        return objective(self.problem, self.X, self.y, self.W.T), bound


@cache
def _hinge() -> Any:
    """One epoch; a row that did not move rests for the next five."""
    import numba

    @numba.njit
    def epoch(rows: Any, truth: Any, C: float, state: Any, order: Any) -> None:
        indptr, indices, data = rows
        alpha, w, squares, skip = state
        for i in order:
            if squares[i] == 0.0:
                alpha[i] = C
                continue
            if skip[i] > 0:
                skip[i] -= 1
                continue
            score = 0.0
            for p in range(indptr[i], indptr[i + 1]):
                score += data[p] * w[indices[p]]
            old = alpha[i]
            new = min(max(old + (1.0 - truth[i] * score) / squares[i], 0.0), C)
            if new == old:
                skip[i] = 5
                continue
            alpha[i] = new
            step = (new - old) * truth[i]
            for p in range(indptr[i], indptr[i + 1]):
                w[indices[p]] += step * data[p]

    return epoch


@cache
def _crammer_singer() -> Any:  # noqa: C901 one loop, as in the paper
    """One epoch, likewise, with the k dual variables of a row at a time."""
    import numba

    @numba.njit
    def epoch(rows: Any, y: Any, C: float, state: Any, order: Any) -> None:
        indptr, indices, data = rows
        alpha, W, squares, skip = state
        k = W.shape[1]
        target, step = np.empty(k), np.empty(k)
        for i in order:
            if squares[i] == 0.0:
                continue
            if skip[i] > 0:
                skip[i] -= 1
                continue
            # min over a: squares/2 |a|^2 - target a, with target = squares * alpha - score - [m != y]
            for m in range(k):
                target[m] = squares[i] * alpha[i, m] - (0.0 if m == y[i] else 1.0)
            for p in range(indptr[i], indptr[i + 1]):
                for m in range(k):
                    target[m] -= data[p] * W[indices[p], m]
            # a_m = min(cap_m, (target_m - beta) / squares) with beta such that they sum to zero
            target[y[i]] -= C * squares[i]
            ordered = np.sort(target)
            beta, r = ordered[0] + C * squares[i], 1
            while r < k and ordered[r] < beta / r:
                beta += ordered[r]
                r += 1
            beta /= r
            target[y[i]] += C * squares[i]
            moved = False
            for m in range(k):
                cap = C if m == y[i] else 0.0
                new = min(cap, (target[m] - beta) / squares[i])
                step[m] = new - alpha[i, m]
                moved = moved or abs(step[m]) > 1e-15 * C
                alpha[i, m] = new
            if not moved:
                skip[i] = 5
                continue
            for p in range(indptr[i], indptr[i + 1]):
                for m in range(k):
                    W[indices[p], m] += step[m] * data[p]

    return epoch
