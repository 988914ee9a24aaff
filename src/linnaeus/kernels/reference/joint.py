"""Twins of dual_crammer.cpp and dual_softmax.cpp: dual ascent over the simplexes of joint multiclass problems."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from linnaeus.kernels.reference.matrices import rows_dot
from linnaeus.kernels.reference.rows import Rows, outside, refuse, row_of, stored
from linnaeus.types import Doubles, Ints

Truth: TypeAlias = tuple[Ints, Doubles]
State: TypeAlias = tuple[Doubles, Doubles, Doubles, Doubles]
Problem: TypeAlias = tuple[Rows, Truth, State, Doubles]
Visit: TypeAlias = Callable[[Doubles, Doubles, float], tuple[float, Doubles | None]]


LEAST = 1e-290
"""Stands for zero where a logarithm is taken."""


def crammer_epoch(rows: Rows, truth: Truth, state: State, costs: Doubles, order: Ints, beta: float) -> float:
    """One exact step of the Crammer-Singer dual for each example of `order`; the sum of the gaps before the steps.

    `truth` is labels and C (n); `state` W (d, k), b (k), P (n, k) and gaps (n), changed in place.
    """
    return _ascend((rows, truth, state, _table(costs, state, 1.0)), order, beta, _visit_crammer)


def softmax_epoch(rows: Rows, truth: Truth, state: State, costs: Doubles, order: Ints, beta: float) -> float:
    """One exact step of the softmax dual for each example of `order`; the sum of the gaps before the steps."""
    return _ascend((rows, truth, state, _table(costs, state, 0.0)), order, beta, _visit_softmax)


def crammer_leap(
    rows: Rows, truth: Truth, state: State, past: tuple[Doubles, Doubles], by: float, _threads: int
) -> float:
    """W and P go on by `by` times their way since `past`, which becomes the present; ||W||^2 before the leap.

    Points that leave their simplex come back to it, and W with them. The bias is the caller's.
    """
    (_, strengths), (W, _, P, _) = truth, state
    _check((rows, truth, state, W))
    if past[0].shape != W.shape or past[1].shape != P.shape or not by >= 0:
        raise ValueError("crammer_leap: the arrays do not fit each other")
    square = float((W * W).sum())
    for now, before in zip((W, P), past, strict=True):
        here = now.copy()
        now += by * (now - before)
        before[:] = here
    for i in np.flatnonzero((P < 0).any(axis=1)):
        p = _project(P[i], 1.0)
        columns, x = row_of(rows, i)
        np.add.at(W, columns, x.astype(np.float64)[:, None] * (strengths[i] * (P[i] - p)))
        P[i] = p
    return square


def crammer_sums(rows: Rows, truth: Truth, state: State, costs: Doubles, _threads: int) -> Doubles:
    """C loss, C dual term, ||W||^2, C s_y, then C s and C p for each class (4 + 2k); s without the bias."""
    problem = rows, truth, state, _table(costs, state, 1.0)
    return _sums(problem, lambda H: H.max(axis=1), lambda P: np.zeros(len(P)))


def softmax_sums(rows: Rows, truth: Truth, state: State, costs: Doubles, _threads: int) -> Doubles:
    """As `crammer_sums`, with the soft maximum and the entropy."""
    problem = rows, truth, state, _table(costs, state, 0.0)
    return _sums(problem, _soft, lambda P: -(P * np.log(np.maximum(P, LEAST))).sum(axis=1))


def _ascend(problem: Problem, order: Ints, beta: float, visit: Visit) -> float:
    rows, (labels, strengths), (W, b, P, gaps), table = problem
    _check(problem)
    refuse(outside(order, len(labels)) or not beta >= 0, "ascend: no such row, or beta below zero")
    total = 0.0
    for i in order:
        gaps[i] = 0.0
        if strengths[i] <= 0:
            continue
        columns, x = row_of(rows, i)
        x = x.astype(np.float64)
        h = b + x @ W[columns] + table[labels[i]]
        gap, p = visit(h, P[i], strengths[i] * (x @ x + beta))
        gaps[i] = strengths[i] * gap
        total += gaps[i]
        if p is not None:
            move = strengths[i] * (P[i] - p)
            np.add.at(W, columns, x[:, None] * move)
            b += beta * move
            P[i] = p
    return total


def _visit_crammer(h: Doubles, p: Doubles, q: float) -> tuple[float, Doubles | None]:
    gap = float(p @ (h.max() - h))
    return (gap, _project(h + q * p, q)) if gap > 0 else (gap, None)


def _project(a: Doubles, q: float) -> Doubles:
    """The point of the simplex nearest to a / q, by sorting; the corner of the largest a for q = 0."""
    if q <= 0:
        return np.asarray(np.eye(len(a))[np.argmax(a)])
    a = a - a.max()
    down = np.sort(a)[::-1]
    thresholds = (np.cumsum(down) - q) / np.arange(1, len(a) + 1)
    threshold = thresholds[np.flatnonzero(down > thresholds)[-1]]
    p = np.maximum(0.0, a - threshold)
    return np.asarray(p / p.sum())


def _visit_softmax(h: Doubles, p: Doubles, q: float) -> tuple[float, Doubles | None]:
    logs = h - _soft(h[None])[0]
    gap = float(p @ (np.log(np.maximum(p, LEAST)) - logs))
    return (gap, _solve(h + q * p, q)) if gap > 0 else (gap, None)


def _solve(a: Doubles, q: float) -> Doubles:
    """P with log p + q p = a - u and sum p = 1, by halving the interval of u and, inside, Newton's method for log p."""
    low, high = a.max() - q - 1.0, a.max() + np.log(len(a)) + 1.0
    for _ in range(200):
        u = 0.5 * (low + high)
        if u in (low, high):  # no number lies between
            break
        low, high = (u, high) if np.exp(_logs(a - u, q)).sum() > 1.0 else (low, u)
    p = np.maximum(np.exp(_logs(a - high, q)), LEAST)
    return np.asarray(p / p.sum())


def _logs(c: Doubles, q: float) -> Doubles:
    """V with v + q e^v = c, from above."""
    v = np.minimum(c, np.log(np.maximum(c, 1.0) / q) if q > 0 else c)
    for _ in range(60):
        e = q * np.exp(v)
        before, v = v, v - (v + e - c) / (1.0 + e)
        if (np.abs(v - before) <= 1e-15 * np.abs(v)).all():  # only rounding is left
            break
    return v


def _soft(H: Doubles) -> Doubles:
    top = H.max(axis=1)
    return np.asarray(top + np.log(np.exp(H - top[:, None]).sum(axis=1)))


def _table(costs: Doubles, state: State, flat: float) -> Doubles:
    """Costs by truth: those given, or `flat` for every mistake."""
    k = state[0].shape[1]
    if not costs.size:
        return flat * (1.0 - np.eye(k))
    refuse(costs.shape != (k, k), "joint: the arrays do not fit each other")
    return costs


def _check(problem: Problem) -> None:
    rows, (labels, strengths), (W, b, P, gaps), _ = problem
    n, (d, k) = len(rows[0]) - 1, W.shape
    _, columns, _ = stored(rows, "joint")
    if (len(labels), len(strengths), len(gaps), b.shape, P.shape) != (n, n, n, (k,), (n, k)):
        raise ValueError("joint: the arrays do not fit each other")
    refuse(outside(labels, k), "joint: a label is no class")
    refuse(outside(columns, d), "joint: a column has no weights")


def _sums(problem: Problem, upper: Callable[[Doubles], Doubles], entropy: Callable[[Doubles], Doubles]) -> Doubles:
    rows, (labels, C), (W, b, P, _), table = problem
    _check(problem)
    S = np.zeros(P.shape)
    rows_dot(rows, W, S, 1)
    here = np.arange(len(labels))
    losses = upper(S + b + table[labels]) - (S + b)[here, labels]
    dual = (P * table[labels]).sum(axis=1) + entropy(P)
    heads = [C @ losses, C @ dual, (W * W).sum(), C @ S[here, labels]]
    return np.concatenate([heads, C @ S, C @ P])
