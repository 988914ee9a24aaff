"""Twin of descend.cpp: coordinate descent on a quadratic model with L1 and L2 penalty."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from linnaeus.kernels.reference.matrices import combine, pick
from linnaeus.kernels.reference.rows import Rows, refuse
from linnaeus.types import Doubles, Ints

Pair: TypeAlias = tuple[Doubles, Doubles]


SMALLEST = 1e-12
FLATTEST = 1e-9
DEPTH = 5


def descend(
    columns: Rows,
    picked: Ints,
    model: Pair,
    place: tuple[Doubles, Doubles, Doubles],
    penalty: tuple[float, float],
    limits: tuple[int, float],
) -> tuple[float, float, int]:
    """Weights and bias go down the model; see descend.cpp for the problem.

    The leader (the bias, or a dense column with a weight where there is none) is at its minimum all the time; every
    DEPTH passes the sequence of points is extrapolated, and the point kept if the model is lower there.
    """
    (slope, curvature), (weights, bias, moved), (most, fraction) = model, place, limits
    sides = pick(columns, picked, len(slope), "descend")
    refuse(len(weights) != len(picked), "descend: not one weight for each picked column")
    if len(curvature) != len(slope) or len(moved) != len(slope) or len(bias) > 1:
        raise ValueError("descend: slope, curvature and moved have one value for each row, the bias at most one")
    work, before = _Descent(sides, model, weights, penalty), weights.copy()
    work.start(len(bias) == 1)
    first, last, passes = work.run(most, fraction)
    if work.pivot >= 0:
        work.dismiss()
    bias += work.shift
    combine(columns, picked, weights - before, moved)
    moved += work.shift
    return first, last, passes


class _Descent:
    """The state of a descent: slopes of the model per row, curvature per column, how far the leader went."""

    def __init__(
        self, sides: list[tuple[Ints, Doubles]], model: Pair, weights: Doubles, penalty: tuple[float, float]
    ) -> None:
        self.sides, self.weights = sides, weights
        self.l1, self.l2 = penalty
        self.first, self.curvature = model
        self.slope = self.first.copy()
        self.leader = np.zeros(len(self.slope))
        self.pivot, self.level, self.shift = -1, SMALLEST, 0.0

    def start(self, bias: bool) -> None:
        """Choose a leader, put it at its minimum, measure the columns."""
        if bias:
            self.leader[:] = 1.0
        else:
            self._lead()
        self.level += float(self.curvature @ self.leader**2)
        pulled = -float(self.first @ self.leader)
        if self.pivot >= 0:
            weight = float(self.weights[self.pivot])
            self.level += self.l2
            pulled -= self.l2 * weight + self.l1 * np.sign(weight)
        self.shift = pulled / self.level
        self._measure()
        if self._crosses(self.weights, self.shift):
            self.shift = 0.0
            self.dismiss()

    def _lead(self) -> None:
        most = 0.0
        for p, (rows, _) in enumerate(self.sides):
            adds = len(rows) * abs(float(self.weights[p]))
            if len(rows) * 4 >= len(self.slope) and adds > most:
                self.pivot, most = p, adds
        if self.pivot >= 0:
            rows, values = self.sides[self.pivot]
            np.add.at(self.leader, rows, values)

    def dismiss(self) -> None:
        """The leader stays where it is, and is a column like others from now on."""
        self.slope += self.shift * self.curvature * self.leader
        self.weights[self.pivot] += self.shift
        self.shift, self.pivot = 0.0, -1
        self.leader[:] = 0.0
        self._measure()

    def _measure(self) -> None:
        bent = self.curvature * self.leader
        self.leaning = [float(v @ bent[r]) for r, v in self.sides]
        full = [float(v**2 @ self.curvature[r]) for r, v in self.sides]
        self.steepness = [
            self.l2 + SMALLEST + max(f - lean**2 / self.level, FLATTEST * f)
            for f, lean in zip(full, self.leaning, strict=True)
        ]

    def run(self, most: int, fraction: float) -> tuple[float, float, int]:
        """Passes until the model is at rest: over all columns, then over those in use, then over all again."""
        first = last = 0.0
        passes, every, visited = 0, True, list(range(len(self.sides)))
        points: list[Doubles] = []
        while passes < most:
            leading = self.pivot
            last, visited = self._visit(visited)
            points = points if self.pivot == leading else []
            first = last if passes == 0 else first
            passes += 1
            rest = last <= fraction * first
            if rest and every and passes > 1:
                break
            points = self._leap([*points, np.concatenate([self.weights, self.slope, [self.shift]])])
            every = rest
            visited = list(range(len(self.sides))) if every else visited
        return first, last, passes

    def _visit(self, visited: list[int]) -> tuple[float, list[int]]:
        """One pass: the largest slope met, and the columns that moved or are not zero."""
        met = [0.0 if p == self.pivot else self._move(p) for p in visited]
        kept = [p for p, slope in zip(visited, met, strict=True) if slope != 0 or self.weights[p] != 0]
        return max(met, default=0.0), kept

    def _move(self, p: int) -> float:
        rows, values = self.sides[p]
        at, steepness = float(self.weights[p]), self.steepness[p]
        gradient = self.l2 * at + self.shift * self.leaning[p] + float(values @ self.slope[rows])
        v, cut = at - gradient / steepness, self.l1 / steepness
        step = (v - cut if v > cut else v + cut if v < -cut else 0.0) - at
        if step == 0:
            return 0.0
        follow = self.shift - step * self.leaning[p] / self.level
        if self._crosses(self.weights, follow):
            self.dismiss()
            return self._move(p)
        self.weights[p] = at + step
        self.shift = follow
        np.add.at(self.slope, rows, step * values * self.curvature[rows])
        return abs(step) * steepness

    def _crosses(self, weights: Doubles, follow: float) -> bool:
        """Whether the leading column would change its sign, where its penalty has a kink."""
        if self.pivot < 0 or self.l1 <= 0:
            return False
        return bool((weights[self.pivot] + follow) * self.weights[self.pivot] <= 0)

    def _leap(self, points: list[Doubles]) -> list[Doubles]:
        """Anderson extrapolation from the last points; they are used up by it."""
        if len(points) <= DEPTH:
            return points
        count = len(self.weights)
        moves = np.diff(np.array(points)[:, :count], axis=0)
        products = moves @ moves.T
        if not np.trace(products) > 0:
            return []
        mix = np.linalg.solve(products + 1e-12 * np.trace(products) * np.eye(DEPTH), np.ones(DEPTH))
        there = (mix / mix.sum()) @ np.array(points[1:])
        if not self._crosses(there, there[-1]) and self._value(there) < self._value(points[-1]):
            self.weights[:], self.slope[:], self.shift = there[:count], there[count:-1], float(there[-1])
        return []

    def _value(self, point: Doubles) -> float:
        """The penalized model; how far a row has moved is told by its slope, where it has curvature."""
        count = len(self.weights)
        weights = point[:count].copy()
        if self.pivot >= 0:
            weights[self.pivot] += point[-1]
        now = point[count:-1] + point[-1] * self.curvature * self.leader
        bent = self.curvature > 0
        moved = (now[bent] - self.first[bent]) / self.curvature[bent]
        charged = self.l1 * np.abs(weights).sum() + 0.5 * self.l2 * weights @ weights
        return float(charged + 0.5 * (now[bent] + self.first[bent]) @ moved)
