"""Twins of dual_epoch.cpp and dual_gap.cpp: coordinate ascent on the duals of independent binary problems.

The arrays are described in native/dual_problems.hpp; what an epoch does and why, in native/dual_epoch.cpp. A loss says
what has to be known of it for one variable a and its margin m, or for arrays of these, as in native/dual_losses.hpp: q
is the curvature of the quadratic part, C the cost of the row. The logarithms and exponentials are NumPy's, so the two
agree to rounding, not to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from linnaeus.kernels.hashes import K0, MASK
from linnaeus.kernels.reference.rows import Rows, check_offsets, misfit, outside, refuse, row_of
from linnaeus.types import Array, Doubles, Ints, Longs, Words64

Box: TypeAlias = tuple[Doubles, Doubles, Doubles]
State: TypeAlias = tuple[Doubles, Doubles, Ints, Longs, Longs, Doubles, Words64]
Member: TypeAlias = tuple[int, float, float]
Number: TypeAlias = Any
"""A number, or an array of numbers."""


STRIPS = 128


def visits(seeds: Words64, at: int, active: int) -> Iterator[int]:
    """The places of an epoch: each round takes the next one of every strip, the strips in a new random order.

    `seeds[at]` moves on with every draw.
    """
    count = min(active, STRIPS)
    begins = [active * i // count for i in range(count + 1)] if count else [0]
    strips = [(low, high - low, draw(seeds, at, high - low)) for low, high in pairwise(begins)]
    for turn in range(-(-active // STRIPS)):
        for i in range(count, 1, -1):
            j = draw(seeds, at, i)
            strips[i - 1], strips[j] = strips[j], strips[i - 1]
        yield from [low + (first + turn) % length for low, length, first in strips if turn < length]


def draw(seeds: Words64, at: int, n: int) -> int:
    """A number below n, by xorshift."""
    seed = int(seeds[at]) or K0
    seed ^= (seed << 13) & MASK
    seed ^= seed >> 7
    seed ^= (seed << 17) & MASK
    seeds[at] = seed
    return ((seed >> 32) * n) >> 32


TINY_STEP, MOST, END, FLAT = 0.01, 60, 750.0, 1e-30
"""Newton's method stops at this share of its first slope, or after so many steps; bounds of logits and curvatures."""


class Hinge:
    """phi = max(0, 1 - m), a in [0, C]."""

    @staticmethod
    def top(C: Number) -> Number:
        """The largest value of the variable."""
        return C

    @staticmethod
    def slope(_a: Number, m: Number, _C: Number) -> Number:
        """Derivative of the dual, as something to be minimized."""
        return m - 1

    @classmethod
    def step(cls, a: Number, slope: Number, _m: Number, q: Number, C: Number) -> Number:
        """The variable's minimum, all others fixed, from its slope."""
        return np.minimum(np.maximum(a - slope / np.maximum(q, FLAT), 0), cls.top(C))

    @staticmethod
    def value(m: Number) -> Number:
        """The loss."""
        return np.maximum(1.0 - m, 0.0)

    @staticmethod
    def conjugate(a: Number, _C: Number) -> Number:
        """What the variable adds to the dual value."""
        return a

    @staticmethod
    def slack(a: Number, slope: Number, _m: Number, C: Number) -> Number:
        """Its part of the duality gap, from its slope."""
        return np.maximum(a * slope, (a - C) * slope)


class SquaredHinge:
    """phi = max(0, 1 - m)^2, a >= 0."""

    @staticmethod
    def top(C: Number) -> Number:
        """No bound."""
        return C * np.inf

    @staticmethod
    def slope(a: Number, m: Number, C: Number) -> Number:
        """With a diagonal 1 / (2 C)."""
        return m - 1 + a * (0.5 / C)

    @staticmethod
    def step(a: Number, slope: Number, _m: Number, q: Number, C: Number) -> Number:
        """The minimum, at least 0."""
        return np.maximum(a - slope / (q + 0.5 / C), 0)

    @staticmethod
    def value(m: Number) -> Number:
        """The loss."""
        return np.maximum(1.0 - m, 0.0) ** 2

    @staticmethod
    def conjugate(a: Number, C: Number) -> Number:
        """A - a^2 / (4 C)."""
        return a - a * a * (0.25 / C)

    @staticmethod
    def slack(a: Number, _slope: Number, m: Number, C: Number) -> Number:
        """Its part of the duality gap."""
        off = np.maximum(1 - m, 0) - a * (0.5 / C)
        return C * off * off + a * np.maximum(m - 1, 0)


class Logistic:
    """phi = log(1 + e^-m), a = C / (1 + e^-t)."""

    top = SquaredHinge.top

    @staticmethod
    def slope(a: Number, m: Number, C: Number) -> Number:
        """M + log(a / (C - a)), finite at both ends."""
        with np.errstate(divide="ignore"):
            return m + np.minimum(np.maximum(np.log(a / (C - a)), -END), END)

    @staticmethod
    def step(a: Number, slope: Number, m: Number, q: Number, C: Number) -> Number:
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
    def value(m: Number) -> Number:
        """The loss."""
        return np.logaddexp(0.0, -m)

    @staticmethod
    def conjugate(a: Number, C: Number) -> Number:
        """C times the entropy of a / C."""
        return C * (_entropy(a / C) + _entropy(1.0 - a / C))

    @staticmethod
    def slack(a: Number, slope: Number, m: Number, C: Number) -> Number:
        """Its part of the duality gap, to second order; a bound at the ends."""
        if 0 < a < C:
            return 0.5 * slope * slope * a * (C - a) / C
        z = -m if a > 0 else m
        return C * (math.exp(-z) if z > 0 else 1.0 - z)


def _sigmoid(t: float) -> float:
    e = math.exp(-abs(t))
    return (1.0 if t >= 0 else e) / (1.0 + e)


def _entropy(p: Doubles) -> Doubles:
    return -p * np.log(np.maximum(p, 1e-300))


CENTER, BETA, TOTAL, LOW, HIGH, DUAL, ESTIMATE, VIOLATION = range(8)
STILL, FAR, LARGEST, SHARE, SWEEPS, CLOSE = 1e-12, 5.0, 96, 0.05, 1000, 0.01
Loss: TypeAlias = type[Hinge] | type[SquaredHinge] | type[Logistic]


class _Problem:
    """One problem's views into the arrays."""

    def __init__(self, at: int, rows: Rows, box: Box, state: State) -> None:
        alpha, weights, order, starts, counts, facts, seeds = state
        n, p = len(rows[0]) - 1, len(seeds)
        self.rows, (self.squares, self.costs, factors) = rows, box
        self.alpha, self.w = alpha.reshape(p, n)[at], weights.reshape(p, -1)[at]
        self.order = order[starts[at] : starts[at + 1]]
        self.counts, self.facts = counts.reshape(p, 2)[at], facts.reshape(p, 8)[at]
        self.factors, self.seeds, self.at = factors.reshape(p, 2)[at], seeds, at

    def members(self) -> tuple[Array, Array, Array]:
        """Row, sign and cost of each member."""
        positive = (self.order >= 0).astype(np.intp)
        rows = _row(self.order)
        return rows, 2.0 * positive - 1.0, self.costs[rows] * self.factors[positive]

    def values(self, row: int) -> tuple[Ints, Doubles]:
        columns, x = row_of(self.rows, row)
        refuse(outside(columns, len(self.w)), "dual: a column has no weight")
        return columns, x.astype(np.float64)

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


def _row(members: Ints) -> Ints:
    """The rows of members; a negative one stands for its complement."""
    return np.where(members < 0, ~members, members)


def _checked(rows: Rows, box: Box, state: State) -> int:
    """How many problems, after all arrays were held against each other."""
    alpha, weights, order, starts, counts, facts, seeds = state
    n, p = max(len(rows[0]) - 1, 0), len(seeds)
    check_offsets(rows, "dual")
    sizes = (len(starts), len(counts), len(facts), len(box[2]), len(alpha), len(box[0]), len(box[1]))
    fits = sizes == (p + 1, p * 2, p * 8, p * 2, p * n, n, n) and not (len(weights) % p if p else len(weights))
    refuse(
        not fits or starts[0] < 0 or starts[-1] > len(order), "dual: the arrays of the problems do not fit each other"
    )
    active = counts.reshape(p, 2)[:, 0]
    lost = misfit(starts, len(order)) or (active < 0).any() or (active > np.diff(starts)).any()
    refuse(lost, "dual: the members of a problem do not fit")
    refuse(outside(_row(order[starts[0] : starts[-1]]), n), "dual: a member is no row")
    return p


def _epoch(loss: Loss, rows: Rows, box: Box, state: State, _threads: int) -> None:
    """One epoch."""
    for at in range(_checked(rows, box, state)):
        problem = _Problem(at, rows, box, state)
        if not problem.counts[1]:
            _sweep(loss, problem)


def _sweep(loss: Loss, p: _Problem) -> None:
    """Every active variable once, in a random order; then the block that moved furthest; then the facts."""
    moved, seen = np.zeros(int(p.counts[0])), np.zeros(3)
    gone, members = np.zeros(len(moved), bool), list(zip(*p.members(), strict=True))
    for at in visits(p.seeds, p.at, len(moved)):
        step = _visit(loss, p, members[at], seen)
        gone[at], moved[at] = step is None, step or 0.0
    p.order[: len(moved)] = p.order[np.argsort(gone, kind="stable")]
    _polish(loss, p, moved[~gone])
    p.counts[0] = len(moved) - int(gone.sum())
    _finish(loss, p, seen)


def _visit(loss: Loss, p: _Problem, member: Member, seen: Doubles) -> float | None:
    """Move a variable, and say how far; None if it is to be left out from now on."""
    row, y, C = member
    a, q = p.alpha[row], p.squares[row] + p.facts[BETA]
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


def _projected(loss: Loss, at: tuple[float, float, float], facts: Doubles) -> float | None:
    """The slope, 0 where a bound holds it; None for a variable to be left out."""
    a, m, C = at
    slope: float = loss.slope(a, m, C)
    if a <= 0 and slope > 0:
        return None if slope > facts[HIGH] else 0.0
    if a >= loss.top(C) and slope < 0:
        return None if slope < facts[LOW] else 0.0
    return slope


def _polish(loss: Loss, p: _Problem, moved: Doubles) -> None:
    """Solve the block of rows that moved furthest, with its Gram matrix."""
    mean = moved.sum() / max((moved > 0).sum(), 1)
    block = np.flatnonzero(moved > min(FAR, 0.5 * math.sqrt(len(moved))) * mean)
    room = min(LARGEST, int(math.sqrt(4.0 * SHARE * len(moved))))
    if len(block) > room:
        block = block[np.argsort(-moved[block], kind="stable")][:room]
    if len(block) < 2:
        return
    rows, y, C = (part[block] for part in p.members())
    X = np.zeros((len(block), len(p.w)))
    for i, row in enumerate(rows):
        np.add.at(X[i], *p.values(row))
    Q = np.outer(y, y) * (X @ X.T + p.facts[BETA])
    m = y * (X @ p.w + p.bias())
    before = p.alpha[rows]
    for _ in range(SWEEPS):
        if _block_sweep(loss, p, (rows, C, Q, m)) <= CLOSE * mean:
            break
    for row, by in zip(rows, y * (p.alpha[rows] - before), strict=True):
        p.move(row, by)


def _block_sweep(loss: Loss, p: _Problem, block: tuple[Array, ...]) -> float:
    """Each variable of the block once; the largest move."""
    rows, costs, Q, m = block
    largest = 0.0
    for i, (row, C) in enumerate(zip(rows, costs, strict=True)):
        a = p.alpha[row]
        step = loss.step(a, loss.slope(a, m[i], C), m[i], p.squares[row] + p.facts[BETA], C) - a
        p.alpha[row] = a + step
        m += step * Q[i]
        largest = max(largest, abs(step))
    return largest


def _finish(loss: Loss, p: _Problem, seen: Doubles) -> None:
    least, most, estimate = (float(value) for value in seen)
    rows, y, C = (part[p.members()[2] > 0] for part in p.members())
    p.facts[TOTAL] = y @ p.alpha[rows]
    p.facts[LOW] = least if least < 0 else -np.inf
    p.facts[HIGH] = most if most > 0 else np.inf
    p.facts[DUAL] = loss.conjugate(p.alpha[rows], C).sum() - 0.5 * float(p.w @ p.w)
    p.facts[ESTIMATE], p.facts[VIOLATION] = estimate, max(most, -least)


def _gap(loss: Loss, rows: Rows, box: Box, state: State, _threads: int) -> Doubles:
    """Primal, dual and balanced dual values (p, 3)."""
    problems = [_Problem(at, rows, box, state) for at in range(_checked(rows, box, state))]
    return np.array([_certify(loss, problem) for problem in problems], np.float64).reshape(-1)


def _certify(loss: Loss, p: _Problem) -> tuple[float, float, float]:
    norm, active = 0.5 * float(p.w @ p.w), int(p.counts[0])
    if p.counts[1]:
        return norm, -norm, -norm
    _sort(p.order[:active])
    _sort(p.order[active:])
    rows, y, C = p.members()
    a, scores, keep = p.alpha[rows], np.array([p.score(row) for row in rows]), np.ones(2)
    sides = [a[y < 0].sum(), a[y > 0].sum()]
    heavy = int(sides[1] > sides[0])
    if sides[heavy] > 0 and p.facts[BETA] > 0:
        keep[heavy] = sides[1 - heavy] / sides[heavy]
    kept = keep[(y > 0).astype(np.intp)]
    paid = np.flatnonzero(C > 0)
    rows, y, C, a, scores, kept = [part[paid] for part in (rows, y, C, a, scores, kept)]
    m, off = y * (scores + p.bias()), (1.0 - kept) * a
    losses, met, length = float(C @ loss.value(m)), off @ (y * scores), off @ np.sqrt(p.squares[rows])
    dual, balanced = loss.conjugate(a, C).sum(), loss.conjugate(a * kept, C).sum()
    slope = loss.slope(a, m, C)
    moves = ((slope < 0) & (a < loss.top(C))) | ((slope > 0) & (a > 0))
    for i in paid[moves & (paid >= active)]:
        at = int(p.counts[0])
        p.order[[i, at]] = p.order[[at, i]]
        p.counts[0] = at + 1
    if p.counts[0] > active:
        _sort(p.order[: p.counts[0]])
    return norm + losses, dual - norm, balanced - norm + met - 0.5 * length * length


def _sort(members: Ints) -> None:
    """In place, by row."""
    members[:] = members[np.argsort(_row(members), kind="stable")]


dual_epoch_hinge, dual_gap_hinge = partial(_epoch, Hinge), partial(_gap, Hinge)
dual_epoch_squared_hinge, dual_gap_squared_hinge = partial(_epoch, SquaredHinge), partial(_gap, SquaredHinge)
dual_epoch_logistic, dual_gap_logistic = partial(_epoch, Logistic), partial(_gap, Logistic)
