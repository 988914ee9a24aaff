"""Twins of team_epoch.cpp and team_gap.cpp: coordinate ascent for teams of problems over the same rows.

The arrays are described in native/team.hpp; what an epoch does and why, in native/team_epoch.cpp.
"""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

import numpy as np

from linnaeus.kernels.reference.dual import Hinge, SquaredHinge, visits
from linnaeus.kernels.reference.rows import Rows, outside, refuse, row_of, stored
from linnaeus.types import Array, Doubles, Ints, Longs, Words16, Words64

Box: TypeAlias = tuple[Doubles, Doubles, Doubles]
State: TypeAlias = tuple[Array, Array, Words16, Ints, Longs, Doubles, Words64]


CENTER, BETA, TOTAL, LOW, HIGH, DUAL, ESTIMATE, FINISHED = range(8)


class _Hinge(Hinge):
    @staticmethod
    def top(C: Array) -> Array:
        """A little below C: the product of the costs may have been rounded up."""
        return C * (1 - 4 * np.finfo(C.dtype).eps)


Loss: TypeAlias = type[_Hinge] | type[SquaredHinge]


class _Team:
    """One team's views into the arrays."""

    def __init__(self, at: int, rows: Rows, box: Box, state: State) -> None:
        self.alpha, self.W, self.marks, self.order, self.active, self.facts, self.seeds = state
        self.rows, (self.squares, self.costs, factors), self.at = rows, box, at
        self.alpha, self.W, self.order, self.facts = self.alpha[at], self.W[at], self.order[at], self.facts[at]
        positive = (self.marks[at][:, None] >> np.arange(self.alpha.shape[1])) & 1 > 0
        self.y = np.where(positive, 1.0, -1.0)
        self.C = self.costs[:, None] * np.where(positive, factors[at][1], factors[at][0])
        self.safe = np.where(self.C > 0, self.C, 1.0)  # where nothing is paid, any number will do
        self.real = self.alpha.dtype.type

    def dot(self, row: int) -> Array:
        """In four sums, added in pairs."""
        sums = np.zeros((4, self.W.shape[1]), self.real)
        for i, (column, x) in enumerate(zip(*row_of(self.rows, row), strict=True)):
            sums[i % 4] += self.real(x) * self.W[column]
        return (sums[0] + sums[1]) + (sums[2] + sums[3])

    def add(self, row: int, by: Array) -> None:
        for column, x in zip(*row_of(self.rows, row), strict=True):
            self.W[column] += self.real(x) * by


def _checked(rows: Rows, box: Box, state: State) -> int:
    """How many teams, after all arrays were held against each other."""
    alpha, weights, marks, order, active, facts, seeds = state
    n, (t, _, lanes), d = max(len(rows[0]) - 1, 0), alpha.shape, weights.shape[1]
    _, columns, _ = stored(rows, "team")
    shapes = [array.shape for array in (alpha, weights, marks, order, active, facts, seeds, *box)]
    wanted = [(t, n, lanes), (t, d, lanes), (t, n), (t, n), (t,), (t, 8, lanes), (t,), (n,), (n,), (t, 2, lanes)]
    refuse(shapes != wanted or lanes not in (4, 8, 16), "team: the arrays do not fit each other")
    refuse(outside(active, n + 1) or outside(order, n), "team: no such row")
    refuse(outside(columns, d), "team: a column has no weights")
    return int(t)


def _epoch(loss: Loss, rows: Rows, box: Box, state: State, _threads: int) -> None:
    for at in range(_checked(rows, box, state)):
        team = _Team(at, rows, box, state)
        if not team.facts[FINISHED].all():
            _sweep(loss, team)


def _sweep(loss: Loss, team: _Team) -> None:
    """Every active row once, in a random order; then the facts."""
    active = int(team.active[team.at])
    seen = np.zeros((3, team.alpha.shape[1]))
    stays = np.zeros(active, bool)
    for at in visits(team.seeds, team.at, active):
        stays[at] = _visit(loss, team, int(team.order[at]), seen)
    team.order[:active] = team.order[:active][np.argsort(~stays, kind="stable")]
    team.active[team.at] = stays.sum()
    counts = team.C > 0
    a = team.alpha.astype(np.float64)
    team.facts[TOTAL] = (team.y * a).sum(axis=0)
    gained = np.where(counts, loss.conjugate(a, team.safe), 0.0).sum(axis=0)
    team.facts[DUAL] = gained - 0.5 * (team.W.astype(np.float64) ** 2).sum(axis=0)
    team.facts[LOW] = np.where(seen[0] < 0, seen[0], -np.inf)
    team.facts[HIGH] = np.where(seen[1] > 0, seen[1], np.inf)
    team.facts[ESTIMATE] = seen[2]


def _visit(loss: Loss, team: _Team, row: int, seen: Doubles) -> bool:
    """Move the variables of a row; False if it is to be left out from now on."""
    real, facts = team.real, team.facts
    if not team.costs[row] > 0:
        return False
    a, y, C = team.alpha[row].copy(), team.y[row].astype(real), team.safe[row].astype(real)
    m = y * (team.dot(row) + (facts[CENTER] + facts[BETA] * facts[TOTAL]).astype(real))
    slope = loss.slope(a, m, C)
    bottom, top = (a <= 0) & (slope > 0), (a >= loss.top(C)) & (slope < 0)
    out = (bottom & (slope > facts[HIGH].astype(real))) | (top & (slope < facts[LOW].astype(real)))
    stays = (team.C[row] > 0) & (facts[FINISHED] == 0) & ~out
    projected = np.where(stays & ~bottom & ~top, slope, 0)
    seen[0], seen[1] = np.minimum(seen[0], projected), np.maximum(seen[1], projected)
    seen[2] += np.where(stays, loss.slack(a, slope, m, C), 0)
    q = real(team.squares[row]) + facts[BETA].astype(real)
    team.alpha[row] = np.where(projected != 0, loss.step(a, slope, m, q, C), a)
    moves = y * (team.alpha[row] - a)
    facts[TOTAL] += moves
    if (moves * moves).any():
        team.add(row, moves)
    return bool(stays.any())


def _gap(loss: Loss, rows: Rows, box: Box, state: State, _threads: int) -> Doubles:
    count = _checked(rows, box, state)
    values = np.zeros((count, 3, state[0].shape[2]))
    for at in range(count):
        team = _Team(at, rows, box, state)
        if not team.facts[FINISHED].all():
            values[at] = _certify(loss, team)
    return values.reshape(-1)


def _certify(loss: Loss, team: _Team) -> Doubles:
    """The three values; rows that were left out and would move come back."""
    W, a, paid = team.W.astype(np.float64), team.alpha.astype(np.float64), team.costs[:, None] > 0
    scores = np.zeros_like(a)
    for row in range(len(a)):
        columns, x = row_of(team.rows, row)
        scores[row] = x.astype(np.float64) @ W[columns]
    facts, y, C = team.facts, team.y, team.C
    m = y * (scores + (facts[CENTER] + facts[BETA] * facts[TOTAL]))
    keep = _kept(team, a)
    lost = ((1.0 - keep) * a * np.sqrt(team.squares)[:, None] * paid).sum(axis=0)
    half = 0.5 * (W**2).sum(axis=0)
    met, kept = ((part * a * y * scores * paid).sum(axis=0) for part in (1.0, keep))
    dual, balanced = (np.where(C > 0, loss.conjugate(a * part, team.safe), 0.0).sum(axis=0) for part in (1.0, keep))
    slope = loss.slope(a, m, team.safe)
    moves = ((slope < 0) & (a < loss.top(team.safe.astype(team.real)))) | ((slope > 0) & (a > 0))
    _activate(team, (moves & (C > 0) & (facts[FINISHED] == 0)).any(axis=1))
    primal = half + (C * loss.value(m)).sum(axis=0)
    return np.stack([primal, dual - (met - half), balanced - (kept - half + 0.5 * lost**2)])


def _kept(team: _Team, a: Doubles) -> Doubles:
    """By what each variable is multiplied so that both sides weigh the same (n, l)."""
    no, yes = (np.where(team.y == side, a, 0.0).sum(axis=0) for side in (-1.0, 1.0))
    free = (np.maximum(no, yes) > 0) & (team.facts[BETA] > 0)
    share = np.where(free, np.minimum(no, yes) / np.where(free, np.maximum(no, yes), 1.0), 1.0)
    return np.where((team.y > 0) == (yes > no), share, 1.0)


def _activate(team: _Team, moves: Array) -> None:
    active = int(team.active[team.at])
    back = moves[team.order[active:]]
    front = np.concatenate([team.order[:active], team.order[active:][back]])
    team.order[:] = np.concatenate([np.sort(front), np.sort(team.order[active:][~back])])
    team.active[team.at] = len(front)


team_epoch_hinge, team_gap_hinge = partial(_epoch, _Hinge), partial(_gap, _Hinge)
team_epoch_squared_hinge, team_gap_squared_hinge = partial(_epoch, SquaredHinge), partial(_gap, SquaredHinge)
