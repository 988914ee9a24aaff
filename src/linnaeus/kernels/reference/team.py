"""Twins of team_epoch.cpp and team_gap.cpp: coordinate ascent for teams of problems over the same rows.

The arrays are described in native/team.hpp; what an epoch does and why, in native/team_epoch.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linnaeus.kernels.reference.dual import visits

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Ints, Longs, Words16, Words64

    Rows: TypeAlias = tuple[Longs, Ints, Any]
    Box: TypeAlias = tuple[Doubles, Doubles, Doubles]
    State: TypeAlias = tuple[Any, Any, Words16, Ints, Longs, Doubles, Words64]

CENTER, BETA, TOTAL, LOW, HIGH, DUAL, ESTIMATE, FINISHED = range(8)


def team_epoch_hinge(rows: Rows, box: Box, state: State, threads: int) -> None:
    """One epoch for the hinge loss."""
    _epoch(_Hinge, rows, box, state, threads)


def team_epoch_squared_hinge(rows: Rows, box: Box, state: State, threads: int) -> None:
    """One epoch for the squared hinge loss."""
    _epoch(_SquaredHinge, rows, box, state, threads)


def team_gap_hinge(rows: Rows, box: Box, state: State, threads: int) -> Doubles:
    """Primal, dual and balanced dual values (t, 3, l) for the hinge loss."""
    return _gap(_Hinge, rows, box, state, threads)


def team_gap_squared_hinge(rows: Rows, box: Box, state: State, threads: int) -> Doubles:
    """Primal, dual and balanced dual values (t, 3, l) for the squared hinge loss."""
    return _gap(_SquaredHinge, rows, box, state, threads)


class _Hinge:
    """phi = max(0, 1 - m), a in [0, C]."""

    @staticmethod
    def top(C: Any) -> Any:
        """A little below C: the product of the costs may have been rounded up."""
        return C * (1 - 4 * np.finfo(C.dtype).eps)

    @staticmethod
    def slope(_a: Any, m: Any, _C: Any) -> Any:
        return m - 1

    @staticmethod
    def step(a: Any, slope: Any, q: Any, C: Any) -> Any:
        to = np.where(q > 0, a - slope / np.where(q > 0, q, 1), np.where(slope < 0, C, 0))
        return np.clip(to, 0, _Hinge.top(C))

    @staticmethod
    def slack(a: Any, slope: Any, _m: Any, C: Any) -> Any:
        return np.where(slope > 0, a * slope, (a - C) * slope)

    @staticmethod
    def value(m: Doubles) -> Doubles:
        return np.maximum(1.0 - m, 0.0)

    @staticmethod
    def conjugate(a: Doubles, _C: Doubles) -> Doubles:
        return a


class _SquaredHinge:
    """phi = max(0, 1 - m)^2, a >= 0."""

    @staticmethod
    def top(C: Any) -> Any:
        return np.full_like(C, np.inf)

    @staticmethod
    def slope(a: Any, m: Any, C: Any) -> Any:
        return m - 1 + a * _half(C)

    @staticmethod
    def step(a: Any, slope: Any, q: Any, C: Any) -> Any:
        return np.maximum(a - slope / (q + _half(C)), 0)

    @staticmethod
    def slack(a: Any, _slope: Any, m: Any, C: Any) -> Any:
        off = np.maximum(1 - m, 0) - a * _half(C)
        return C * off * off + a * np.maximum(m - 1, 0)

    @staticmethod
    def value(m: Doubles) -> Doubles:
        return np.asarray(np.maximum(1.0 - m, 0.0) ** 2)

    @staticmethod
    def conjugate(a: Doubles, C: Doubles) -> Doubles:
        return np.asarray(a - a * a * 0.5 * _half(C))


def _half(C: Any) -> Any:
    """1 / (2 C); where nothing is paid, any number will do."""
    return C.dtype.type(0.5) / np.where(C > 0, C, 1)


class _Team:
    """One team's views into the arrays."""

    def __init__(self, at: int, rows: Rows, box: Box, state: State) -> None:
        self.alpha, self.W, self.marks, self.order, self.active, self.facts, self.seeds = state
        self.rows, (self.squares, self.costs, factors), self.at = rows, box, at
        self.alpha, self.W, self.order, self.facts = self.alpha[at], self.W[at], self.order[at], self.facts[at]
        positive = (self.marks[at][:, None] >> np.arange(self.alpha.shape[1])) & 1 > 0
        self.y = np.where(positive, 1.0, -1.0)
        self.C = self.costs[:, None] * np.where(positive, factors[at][1], factors[at][0])
        self.real = self.alpha.dtype.type

    def values(self, row: int) -> tuple[Ints, Any]:
        indptr, indices, data = self.rows
        return indices[indptr[row] : indptr[row + 1]], data[indptr[row] : indptr[row + 1]]

    def dot(self, row: int) -> Any:
        """In four sums, added in pairs."""
        sums = np.zeros((4, self.W.shape[1]), self.real)
        for i, (column, x) in enumerate(zip(*self.values(row), strict=True)):
            sums[i % 4] += self.real(x) * self.W[column]
        return (sums[0] + sums[1]) + (sums[2] + sums[3])

    def add(self, row: int, by: Any) -> None:
        for column, x in zip(*self.values(row), strict=True):
            self.W[column] += self.real(x) * by


def _checked(rows: Rows, box: Box, state: State) -> int:
    """How many teams, after all arrays were held against each other."""
    indptr, indices, data = rows
    alpha, weights, marks, order, active, facts, seeds = state
    n, (t, _, lanes), d = max(len(indptr) - 1, 0), alpha.shape, weights.shape[1]
    ends = np.concatenate([[0], indptr])
    if (np.diff(ends) < 0).any() or ends[-1] > min(len(indices), len(data)):
        raise ValueError("team: the offsets do not fit the values")
    shapes = [array.shape for array in (alpha, weights, marks, order, active, facts, seeds, *box)]
    wanted = [(t, n, lanes), (t, d, lanes), (t, n), (t, n), (t,), (t, 8, lanes), (t,), (n,), (n,), (t, 2, lanes)]
    if shapes != wanted or lanes not in (4, 8, 16):
        raise ValueError("team: the arrays do not fit each other")
    if (active < 0).any() or (active > n).any() or (order < 0).any() or (order >= n).any():
        raise ValueError("team: no such row")
    used = indices[indptr[0] : indptr[-1]] if len(indptr) else indices[:0]
    if (used < 0).any() or (used >= d).any():
        raise ValueError("team: a column has no weights")
    return int(t)


TeamLoss: TypeAlias = type[_Hinge] | type[_SquaredHinge]


def _epoch(loss: TeamLoss, rows: Rows, box: Box, state: State, threads: int) -> None:
    del threads
    for at in range(_checked(rows, box, state)):
        team = _Team(at, rows, box, state)
        if not team.facts[FINISHED].all():
            _sweep(loss, team)


def _sweep(loss: TeamLoss, team: _Team) -> None:
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
    gained = np.where(counts, loss.conjugate(a, team.C), 0.0).sum(axis=0)
    team.facts[DUAL] = gained - 0.5 * (team.W.astype(np.float64) ** 2).sum(axis=0)
    team.facts[LOW] = np.where(seen[0] < 0, seen[0], -np.inf)
    team.facts[HIGH] = np.where(seen[1] > 0, seen[1], np.inf)
    team.facts[ESTIMATE] = seen[2]


def _visit(loss: TeamLoss, team: _Team, row: int, seen: Doubles) -> bool:
    """Move the variables of a row; False if it is to be left out from now on."""
    real, facts = team.real, team.facts
    if not team.costs[row] > 0:
        return False
    a, y, C = team.alpha[row].copy(), team.y[row].astype(real), team.C[row].astype(real)
    m = y * (team.dot(row) + (facts[CENTER] + facts[BETA] * facts[TOTAL]).astype(real))
    slope = loss.slope(a, m, C)
    bottom, top = (a <= 0) & (slope > 0), (a >= loss.top(C)) & (slope < 0)
    out = (bottom & (slope > facts[HIGH].astype(real))) | (top & (slope < facts[LOW].astype(real)))
    stays = (C > 0) & (facts[FINISHED] == 0) & ~out
    projected = np.where(stays & ~bottom & ~top, slope, 0)
    seen[0], seen[1] = np.minimum(seen[0], projected), np.maximum(seen[1], projected)
    seen[2] += np.where(stays, loss.slack(a, slope, m, C), 0)
    q = real(team.squares[row]) + facts[BETA].astype(real)
    team.alpha[row] = np.where(projected != 0, loss.step(a, slope, q, C), a)
    moves = y * (team.alpha[row] - a)
    facts[TOTAL] += moves
    if moves.any():
        team.add(row, moves)
    return bool(stays.any())


def _gap(loss: TeamLoss, rows: Rows, box: Box, state: State, threads: int) -> Doubles:
    del threads
    count = _checked(rows, box, state)
    values = np.zeros((count, 3, state[0].shape[2]))
    for at in range(count):
        team = _Team(at, rows, box, state)
        if not team.facts[FINISHED].all():
            values[at] = _certify(loss, team)
    return values.reshape(-1)


def _certify(loss: TeamLoss, team: _Team) -> Doubles:
    """The three values; rows that were left out and would move come back."""
    W, a, paid = team.W.astype(np.float64), team.alpha.astype(np.float64), team.costs[:, None] > 0
    scores = np.zeros_like(a)
    for row in range(len(a)):
        columns, x = team.values(row)
        scores[row] = x.astype(np.float64) @ W[columns]
    facts, y, C = team.facts, team.y, team.C
    m = y * (scores + (facts[CENTER] + facts[BETA] * facts[TOTAL]))
    keep = _kept(team, a)
    lost = ((1.0 - keep) * a * np.sqrt(team.squares)[:, None] * paid).sum(axis=0)
    half = 0.5 * (W**2).sum(axis=0)
    met, kept = ((part * a * y * scores * paid).sum(axis=0) for part in (1.0, keep))
    dual, balanced = (np.where(C > 0, loss.conjugate(a * part, C), 0.0).sum(axis=0) for part in (1.0, keep))
    slope = loss.slope(a, m, C)
    moves = ((slope < 0) & (a < loss.top(C.astype(team.real)))) | ((slope > 0) & (a > 0))
    _activate(team, (moves & (C > 0) & (facts[FINISHED] == 0)).any(axis=1))
    primal = half + (C * loss.value(m)).sum(axis=0)
    return np.stack([primal, dual - (met - half), balanced - (kept - half + 0.5 * lost**2)])


def _kept(team: _Team, a: Doubles) -> Doubles:
    """By what each variable is multiplied so that both sides weigh the same (n, l)."""
    no, yes = (np.where(team.y == side, a, 0.0).sum(axis=0) for side in (-1.0, 1.0))
    free = (np.maximum(no, yes) > 0) & (team.facts[BETA] > 0)
    share = np.where(free, np.minimum(no, yes) / np.where(free, np.maximum(no, yes), 1.0), 1.0)
    return np.where((team.y > 0) == (yes > no), share, 1.0)


def _activate(team: _Team, moves: Any) -> None:
    active = int(team.active[team.at])
    back = moves[team.order[active:]]
    front = np.concatenate([team.order[:active], team.order[active:][back]])
    team.order[:] = np.concatenate([np.sort(front), np.sort(team.order[active:][~back])])
    team.active[team.at] = len(front)
