"""Twins of dual_epoch.cpp and dual_gap.cpp: coordinate ascent on the duals of independent binary problems.

The arrays are described in native/dual_problems.hpp; what an epoch does and why, in native/dual_epoch.cpp. A loss says
what has to be known of it for one variable a and its margin m, as in native/dual_losses.hpp: q is the curvature of the
quadratic part, C the cost of the row. The logarithms and exponentials are Python's, so the two agree to rounding, not
to the bit.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linnaeus.types import Doubles, Ints, Longs, Words64

    Rows: TypeAlias = tuple[Longs, Ints, Any]
    Box: TypeAlias = tuple[Doubles, Doubles, Doubles]
    State: TypeAlias = tuple[Doubles, Doubles, Ints, Longs, Longs, Doubles, Words64]

STRIPS, MASK = 128, (1 << 64) - 1


def visits(seeds: Words64, at: int, active: int) -> Iterator[int]:
    """The places of an epoch: each round takes the next one of every strip, the strips in a new random order.

    `seeds[at]` moves on with every draw.
    """
    count = min(active, STRIPS)
    begins = [active * i // count for i in range(count + 1)] if count else [0]
    strips = [(low, high - low, _draw(seeds, at, high - low)) for low, high in pairwise(begins)]
    for turn in range(-(-active // STRIPS)):
        for i in range(count, 1, -1):
            j = _draw(seeds, at, i)
            strips[i - 1], strips[j] = strips[j], strips[i - 1]
        yield from [low + (first + turn) % length for low, length, first in strips if turn < length]


def _draw(seeds: Words64, at: int, n: int) -> int:
    """A number below n, by xorshift."""
    seed = int(seeds[at]) or 0x9E3779B97F4A7C15
    seed ^= (seed << 13) & MASK
    seed ^= seed >> 7
    seed ^= (seed << 17) & MASK
    seeds[at] = seed
    return ((seed >> 32) * n) >> 32


TINY_STEP, MOST, END = 0.01, 60, 750.0


class Hinge:
    """phi = max(0, 1 - m), a in [0, C]."""

    @staticmethod
    def top(C: float) -> float:
        """The largest value of the variable."""
        return C

    @staticmethod
    def slope(a: float, m: float, C: float) -> float:
        """Derivative of the dual, as something to be minimized."""
        del a, C
        return m - 1.0

    @staticmethod
    def step(a: float, slope: float, m: float, q: float, C: float) -> float:
        """The variable's minimum, all others fixed, from its slope."""
        del m
        if not q > 0:
            return C if slope < 0 else (0.0 if slope > 0 else a)
        return min(max(a - slope / q, 0.0), C)

    @staticmethod
    def value(m: float) -> float:
        """The loss."""
        return max(0.0, 1.0 - m)

    @staticmethod
    def conjugate(a: float, C: float) -> float:
        """What the variable adds to the dual value."""
        del C
        return a

    @staticmethod
    def slack(a: float, slope: float, m: float, C: float) -> float:
        """Its part of the duality gap, from its slope."""
        del m
        return a * slope if slope > 0 else (a - C) * slope


class SquaredHinge:
    """phi = max(0, 1 - m)^2, a >= 0."""

    @staticmethod
    def top(C: float) -> float:
        """No bound."""
        del C
        return math.inf

    @staticmethod
    def slope(a: float, m: float, C: float) -> float:
        """With a diagonal 1 / (2 C)."""
        return m - 1.0 + a * (0.5 / C)

    @staticmethod
    def step(a: float, slope: float, m: float, q: float, C: float) -> float:
        """The minimum, at least 0."""
        del m
        return max(a - slope / (q + 0.5 / C), 0.0)

    @staticmethod
    def value(m: float) -> float:
        """The loss."""
        return max(0.0, 1.0 - m) ** 2

    @staticmethod
    def conjugate(a: float, C: float) -> float:
        """A - a^2 / (4 C)."""
        return a - a * a * (0.25 / C)

    @staticmethod
    def slack(a: float, slope: float, m: float, C: float) -> float:
        """Its part of the duality gap."""
        del slope
        off = max(0.0, 1.0 - m) - a * (0.5 / C)
        return C * off * off + a * max(0.0, m - 1.0)


class Logistic:
    """phi = log(1 + e^-m), a = C / (1 + e^-t)."""

    @staticmethod
    def top(C: float) -> float:
        """Never reached."""
        del C
        return math.inf

    @staticmethod
    def logit(a: float, C: float) -> float:
        """log(a / (C - a)), finite at both ends."""
        if not a > 0:
            return -END
        return math.log(a / (C - a)) if a < C else END

    @staticmethod
    def slope(a: float, m: float, C: float) -> float:
        """M + log(a / (C - a))."""
        return m + Logistic.logit(a, C)

    @staticmethod
    def step(a: float, slope: float, m: float, q: float, C: float) -> float:
        """Newton's method for q (C sigma(t) - a) + m + t = 0, halving the bounds where it leaves them."""
        low, high = -m - q * (C - a), -m + q * a
        inside = 0 < a < C
        t = slope - m if inside else math.copysign(math.log1p(q * C), a - 0.5 * C)
        s, h = a / C, slope
        if not inside or t < low or t > high:
            t = min(max(t, low), high)
            s = _sigmoid(t)
            h = q * (C * s - a) + m + t
        enough = TINY_STEP * abs(h)
        for _ in range(MOST):
            if abs(h) <= enough:
                break
            low, high = (low, t) if h > 0 else (t, high)
            t -= h / (1.0 + q * C * s * (1.0 - s))
            if not low < t < high:
                t = low + 0.5 * (high - low)
            s = _sigmoid(t)
            h = q * (C * s - a) + m + t
        return C * s

    @staticmethod
    def value(m: float) -> float:
        """The loss."""
        return max(0.0, -m) + math.log1p(math.exp(-abs(m)))

    @staticmethod
    def conjugate(a: float, C: float) -> float:
        """C times the entropy of a / C."""
        return C * (_entropy(a / C) + _entropy(1.0 - a / C))

    @staticmethod
    def slack(a: float, slope: float, m: float, C: float) -> float:
        """Its part of the duality gap, to second order; a bound at the ends."""
        if 0 < a < C:
            return 0.5 * slope * slope * a * (C - a) / C
        z = -m if a > 0 else m
        return C * (math.exp(-z) if z > 0 else 1.0 - z)


def _sigmoid(t: float) -> float:
    e = math.exp(-abs(t))
    return (1.0 if t >= 0 else e) / (1.0 + e)


def _entropy(p: float) -> float:
    return -p * math.log(p) if p > 0 else 0.0


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


DualLoss: TypeAlias = type[Hinge] | type[SquaredHinge] | type[Logistic]


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


def _epoch(loss: DualLoss, rows: Rows, box: Box, state: State, threads: int) -> None:
    del threads
    for at in range(_checked(rows, box, state)):
        problem = _Problem(at, rows, box, state)
        if not problem.counts[1]:
            _sweep(loss, problem)


def _sweep(loss: DualLoss, p: _Problem) -> None:
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


def _visit(loss: DualLoss, p: _Problem, at: int, seen: Doubles) -> float | None:
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


def _projected(loss: DualLoss, at: tuple[float, float, float], facts: Doubles) -> float | None:
    """The slope, 0 where a bound holds it; None for a variable to be left out."""
    a, m, C = at
    slope: float = loss.slope(a, m, C)
    if a <= 0 and slope > 0:
        return None if slope > facts[HIGH] else 0.0
    if a >= loss.top(C) and slope < 0:
        return None if slope < facts[LOW] else 0.0
    return slope


def _polish(loss: DualLoss, p: _Problem, moved: Doubles) -> None:
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


def _block_sweep(loss: DualLoss, p: _Problem, block: tuple[list[tuple[int, float, float]], Doubles, Doubles]) -> float:
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


def _finish(loss: DualLoss, p: _Problem, seen: Doubles) -> None:
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


def _gap(loss: DualLoss, rows: Rows, box: Box, state: State, threads: int) -> Doubles:
    del threads
    count = _checked(rows, box, state)
    values = np.zeros((count, 3))
    for at in range(count):
        values[at] = _certify(loss, _Problem(at, rows, box, state))
    return values.reshape(-1)


def _certify(loss: DualLoss, p: _Problem) -> tuple[float, float, float]:
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
