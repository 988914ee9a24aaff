"""Twins of dual_epoch.cpp and dual_gap.cpp: coordinate ascent on the duals of independent binary problems.

The arrays are described in native/dual_problems.hpp; what an epoch does and why, in native/dual_epoch.cpp.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linnaeus.kernels.reference.dual_losses import Hinge, Logistic, SquaredHinge
from linnaeus.kernels.reference.strips import visits

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Ints, Longs, Words64

    Rows: TypeAlias = tuple[Longs, Ints, Any]
    Box: TypeAlias = tuple[Doubles, Doubles, Doubles]
    State: TypeAlias = tuple[Doubles, Doubles, Ints, Longs, Longs, Doubles, Words64]

CENTER, BETA, TOTAL, LOW, HIGH, DUAL, ESTIMATE, VIOLATION = range(8)
STILL, FAR, LARGEST, SHARE, SWEEPS, CLOSE = 1e-12, 5.0, 96, 0.05, 1000, 0.01


def dual_epoch_hinge(rows: Rows, box: Box, state: State, threads: int) -> None:
    """One epoch for the hinge loss."""
    _epoch(Hinge, rows, box, state, threads)


def dual_epoch_squared_hinge(rows: Rows, box: Box, state: State, threads: int) -> None:
    """One epoch for the squared hinge loss."""
    _epoch(SquaredHinge, rows, box, state, threads)


def dual_epoch_logistic(rows: Rows, box: Box, state: State, threads: int) -> None:
    """One epoch for the logistic loss."""
    _epoch(Logistic, rows, box, state, threads)


def dual_gap_hinge(rows: Rows, box: Box, state: State, threads: int) -> Doubles:
    """Primal, dual and balanced dual values (p, 3) for the hinge loss."""
    return _gap(Hinge, rows, box, state, threads)


def dual_gap_squared_hinge(rows: Rows, box: Box, state: State, threads: int) -> Doubles:
    """Primal, dual and balanced dual values (p, 3) for the squared hinge loss."""
    return _gap(SquaredHinge, rows, box, state, threads)


def dual_gap_logistic(rows: Rows, box: Box, state: State, threads: int) -> Doubles:
    """Primal, dual and balanced dual values (p, 3) for the logistic loss."""
    return _gap(Logistic, rows, box, state, threads)


class _Problem:
    """One problem's views into the arrays, checked."""

    def __init__(self, at: int, rows: Rows, box: Box, state: State) -> None:
        alpha, weights, order, starts, counts, facts, seeds = state
        n, p = len(rows[0]) - 1, len(seeds)
        self.rows, (self.squares, self.costs, factors) = rows, box
        self.alpha, self.w = alpha.reshape(p, n)[at], weights.reshape(p, -1)[at]
        self.order = order[starts[at] : starts[at + 1]]
        self.counts, self.facts = counts.reshape(p, 2)[at], facts.reshape(p, 8)[at]
        self.factors, self.seeds, self.at = factors.reshape(p, 2)[at], seeds, at

    def member(self, i: int) -> tuple[int, float, float]:
        """Row, sign and cost of the member at this place."""
        code = int(self.order[i])
        row, positive = (code, 1) if code >= 0 else (~code, 0)
        return row, 2.0 * positive - 1.0, float(self.costs[row] * self.factors[positive])

    def values(self, row: int) -> tuple[Ints, Doubles]:
        indptr, indices, data = self.rows
        cut = slice(indptr[row], indptr[row + 1])
        if (indices[cut] < 0).any() or (indices[cut] >= len(self.w)).any():
            raise ValueError("dual: a column has no weight")
        return indices[cut], data[cut].astype(np.float64)

    def score(self, row: int) -> float:
        columns, x = self.values(row)
        return float(self.w[columns] @ x)

    def bias(self) -> float:
        return float(self.facts[CENTER] + self.facts[BETA] * self.facts[TOTAL])

    def move(self, row: int, by: float) -> None:
        """W += by * x, and the sum of y alpha with it."""
        columns, x = self.values(row)
        np.add.at(self.w, columns, by * x)
        self.facts[TOTAL] += by


def _checked(rows: Rows, box: Box, state: State) -> int:
    """How many problems, after all arrays were held against each other."""
    indptr, indices, data = rows
    alpha, weights, order, starts, counts, facts, seeds = state
    n, p = max(len(indptr) - 1, 0), len(seeds)
    ends = np.concatenate([[0], indptr])
    if (np.diff(ends) < 0).any() or ends[-1] > min(len(indices), len(data)):
        raise ValueError("dual: the offsets do not fit the values")
    sizes = (len(starts), len(counts), len(facts), len(box[2]), len(alpha), len(box[0]), len(box[1]))
    if sizes != (p + 1, p * 2, p * 8, p * 2, p * n, n, n) or (p and len(weights) % p) or (not p and len(weights)):
        raise ValueError("dual: the arrays of the problems do not fit each other")
    if starts[0] < 0 or starts[-1] > len(order):
        raise ValueError("dual: the arrays of the problems do not fit each other")
    active = counts.reshape(p, 2)[:, 0]
    if (np.diff(starts) < 0).any() or (active < 0).any() or (active > np.diff(starts)).any():
        raise ValueError("dual: the members of a problem do not fit")
    members = order[starts[0] : starts[-1]]
    if (np.where(members < 0, ~members, members) >= n).any():
        raise ValueError("dual: a member is no row")
    return p


def _epoch(loss: Any, rows: Rows, box: Box, state: State, threads: int) -> None:
    del threads
    for at in range(_checked(rows, box, state)):
        problem = _Problem(at, rows, box, state)
        if not problem.counts[1]:
            _sweep(loss, problem)


def _sweep(loss: Any, p: _Problem) -> None:
    """Every active variable once, in a random order; then the block that moved furthest; then the facts."""
    moved, seen = np.zeros(int(p.counts[0])), np.zeros(3)
    gone = np.zeros(len(moved), bool)
    for at in visits(p.seeds, p.at, len(moved)):
        step = _visit(loss, p, at, seen)
        gone[at], moved[at] = step is None, step or 0.0
    active = len(moved) - int(gone.sum())
    p.order[: len(moved)] = p.order[np.argsort(gone, kind="stable")]
    _polish(loss, p, moved[~gone])
    p.counts[0] = active
    _finish(loss, p, seen)


def _visit(loss: Any, p: _Problem, at: int, seen: Doubles) -> float | None:
    """Move the variable at this place, and say how far; None if it is to be left out from now on."""
    row, y, C = p.member(at)
    a, q = float(p.alpha[row]), float(p.squares[row] + p.facts[BETA])
    m = y * (p.score(row) + p.bias())
    slope = _projected(loss, (a, m, C), p.facts) if C > 0 else None
    if slope is None:
        return None
    seen[:] = min(seen[0], slope), max(seen[1], slope), seen[2] + loss.slack(a, loss.slope(a, m, C), m, C)
    if abs(slope) <= STILL:
        return 0.0
    step = loss.step(a, slope, m, q, C) - a
    p.alpha[row] = a + step
    p.move(row, y * step)
    return abs(float(step))


def _projected(loss: Any, at: tuple[float, float, float], facts: Doubles) -> float | None:
    """The slope, 0 where a bound holds it; None for a variable to be left out."""
    a, m, C = at
    slope: float = loss.slope(a, m, C)
    if a <= 0 and slope > 0:
        return None if slope > facts[HIGH] else 0.0
    if a >= loss.top(C) and slope < 0:
        return None if slope < facts[LOW] else 0.0
    return slope


def _polish(loss: Any, p: _Problem, moved: Doubles) -> None:
    """Solve the block of rows that moved furthest, with its Gram matrix."""
    mean = moved.sum() / max((moved > 0).sum(), 1)
    block = np.flatnonzero(moved > min(FAR, 0.5 * math.sqrt(len(moved))) * mean)
    room = min(LARGEST, int(math.sqrt(4.0 * SHARE * len(moved))))
    if len(block) > room:
        block = block[np.argsort(-moved[block], kind="stable")][:room]
    if len(block) < 2:
        return
    members = [p.member(int(i)) for i in block]
    X = np.zeros((len(block), len(p.w)))
    for i, (row, _, _) in enumerate(members):
        np.add.at(X[i], *p.values(row))
    y = np.array([sign for _, sign, _ in members])
    Q = np.outer(y, y) * (X @ X.T + p.facts[BETA])
    m = y * (X @ p.w + p.bias())
    before = np.array([p.alpha[row] for row, _, _ in members])
    for _ in range(SWEEPS):
        if _block_sweep(loss, p, (members, Q, m)) <= CLOSE * mean:
            break
    for (row, sign, _), old in zip(members, before, strict=True):
        p.move(row, sign * float(p.alpha[row] - old))


def _block_sweep(loss: Any, p: _Problem, block: tuple[list[tuple[int, float, float]], Doubles, Doubles]) -> float:
    """Each variable of the block once; the largest move."""
    members, Q, m = block
    largest = 0.0
    for i, (row, _, C) in enumerate(members):
        a, margin = float(p.alpha[row]), float(m[i])
        step = loss.step(a, loss.slope(a, margin, C), margin, float(p.squares[row] + p.facts[BETA]), C) - a
        p.alpha[row] = a + step
        m += step * Q[i]
        largest = max(largest, abs(step))
    return largest


def _finish(loss: Any, p: _Problem, seen: Doubles) -> None:
    least, most, estimate = (float(value) for value in seen)
    total = value = 0.0
    for i in range(len(p.order)):
        row, y, C = p.member(i)
        if C > 0:
            total += y * p.alpha[row]
            value += loss.conjugate(float(p.alpha[row]), C)
    p.facts[TOTAL] = total
    p.facts[LOW] = least if least < 0 else -np.inf
    p.facts[HIGH] = most if most > 0 else np.inf
    p.facts[DUAL] = value - 0.5 * float(p.w @ p.w)
    p.facts[ESTIMATE], p.facts[VIOLATION] = estimate, max(most, -least)


def _gap(loss: Any, rows: Rows, box: Box, state: State, threads: int) -> Doubles:
    del threads
    count = _checked(rows, box, state)
    values = np.zeros((count, 3))
    for at in range(count):
        values[at] = _certify(loss, _Problem(at, rows, box, state))
    return values.reshape(-1)


def _certify(loss: Any, p: _Problem) -> tuple[float, float, float]:
    norm = 0.5 * float(p.w @ p.w)
    if p.counts[1]:
        return norm, -norm, -norm
    _sort(p.order[: int(p.counts[0])])
    _sort(p.order[int(p.counts[0]) :])
    members = [p.member(i) for i in range(len(p.order))]
    sides = [sum(float(p.alpha[row]) for row, y, _ in members if y == side) for side in (-1, 1)]
    heavy = int(sides[1] > sides[0])
    keep = [1.0, 1.0]
    if sides[heavy] > 0 and p.facts[BETA] > 0:
        keep[heavy] = sides[1 - heavy] / sides[heavy]
    losses = dual = balanced = met = length = 0.0
    active = int(p.counts[0])
    for i, (row, y, C) in enumerate(members):
        score = p.score(row)
        if not C > 0:
            continue
        a, m, kept = float(p.alpha[row]), y * (score + p.bias()), keep[int(y > 0)]
        losses += C * loss.value(m)
        dual += loss.conjugate(a, C)
        balanced += loss.conjugate(a * kept, C)
        met += (1.0 - kept) * a * y * score
        length += (1.0 - kept) * a * math.sqrt(p.squares[row])
        slope = loss.slope(a, m, C)
        if i >= active and ((slope < 0 and a < loss.top(C)) or (slope > 0 and a > 0)):
            at = int(p.counts[0])
            p.order[[i, at]] = p.order[[at, i]]
            p.counts[0] = at + 1
    if p.counts[0] > active:
        _sort(p.order[: p.counts[0]])
    return norm + losses, dual - norm, balanced - norm + met - 0.5 * length * length


def _sort(members: Ints) -> None:
    """In place, by row."""
    members[:] = members[np.argsort(np.where(members < 0, ~members, members), kind="stable")]
