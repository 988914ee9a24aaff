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
class Certificate:
    """The lowest value and the highest bound that were seen."""

    value: float
    bound: float
    seconds: float

    @property
    def gap(self) -> float:
        """Relative."""
        return (self.value - self.bound) / self.value


def solve(problem: Problem, X: Array, y: Array, gap: float, limit: float) -> Certificate:
    """Until the relative gap is small or the seconds (of the processor: the machine may be busy) are over."""
    start = time.process_time()
    if problem.family == "crammer-singer":
        value, bound = _joint(problem, X, y, gap, start + limit)
    elif y.max() == 1:
        value, bound = _binary(problem, X, y, gap, start + limit)
    else:
        k = int(y.max()) + 1
        parts = []
        for label in range(k):
            now = time.process_time()
            share = (start + limit - now) / (k - label)
            parts.append(_binary(problem, X, (y == label).astype(int), gap, now + share))
        value, bound = (sum(column) for column in zip(*parts, strict=True))
    return Certificate(value, bound, time.process_time() - start)


def _binary(problem: Problem, X: Array, y: Array, gap: float, end: float) -> tuple[float, float]:
    epoch = _hinge()
    truth = signs(y, 1)[:, 0]
    alpha, w = np.zeros(len(y)), np.zeros(X.shape[1])
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    skip = np.zeros(len(y), np.int64)
    value, bound, turn = np.inf, -np.inf, 0
    while time.process_time() < end and (turn == 0 or value - bound > gap * value):
        for _ in range(EPOCHS):
            order = np.random.default_rng(turn).permutation(len(y))
            epoch((X.indptr, X.indices, X.data), truth, problem.C, (alpha, w, squares, skip), order)
            turn += 1
        skip[:] = 0
        w = X.T @ (alpha * truth)
        value = min(value, objective(Problem("imdb", "l2-hinge", problem.C), X, y, w[None]))
        bound = max(bound, float(alpha.sum() - 0.5 * w @ w))
    return value, bound


def _joint(problem: Problem, X: Array, y: Array, gap: float, end: float) -> tuple[float, float]:
    epoch = _crammer_singer()
    k = int(y.max()) + 1
    alpha, W = np.zeros((len(y), k)), np.zeros((X.shape[1], k))
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    skip = np.zeros(len(y), np.int64)
    value, bound, turn = np.inf, -np.inf, 0
    while time.process_time() < end and (turn == 0 or value - bound > gap * value):
        for _ in range(EPOCHS):
            order = np.random.default_rng(turn).permutation(len(y))
            epoch((X.indptr, X.indices, X.data), y, problem.C, (alpha, W, squares, skip), order)
            turn += 1
        skip[:] = 0
        W = np.ascontiguousarray(X.T @ alpha)
        value = min(value, objective(problem, X, y, W.T))
        wrong = float(alpha.sum() - alpha[np.arange(len(y)), y].sum())
        bound = max(bound, -wrong - 0.5 * float((W * W).sum()))
    return value, bound


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
