"""Binary problems that share all rows, solved side by side in teams: each row is read once for a whole team.

When most problems are solved, the others continue one by one, because a single problem can skip inactive rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from linnaeus.optimizers.dual.binary import (
    BETA,
    CENTER,
    HIGH,
    LOSSES,
    LOW,
    MIX,
    TOTAL,
    Ascent,
    Binaries,
    Progress,
    Settings,
    cost_sums,
)
from linnaeus.optimizers.dual.separate import WAVE, Work
from linnaeus.types import AnyFloats, Array, Arrays, Bools, Doubles, Floats, Ints, Longs, Warm, Words16, Words64

Marked = tuple[Words16, Doubles]


FINISHED, FACTS = 7, 8
"""The fact of a team that tells whether a problem is solved, and the number of facts; the others are as in `binary`."""
FEWEST = 3
"""The smallest number of problems that is solved in teams."""
MOST = 1 << 28
"""The largest number of dual variables: one gigabyte in float32."""
ROUGH, STEEP = 1e-5, 1e4
"""Weights are float32 if the tolerance is at least the first and C |x|^2 at most the second; rounding is negligible."""


class Lineup(NamedTuple):
    """The arrays that change while teams of problems are solved, as the kernels take them: native/team.hpp."""

    alpha: Floats | Doubles
    weights: Floats | Doubles
    marks: Words16
    order: Ints
    active: Longs
    facts: Doubles
    seeds: Words64


class Shape(NamedTuple):
    """The division of problems into teams of `lanes` lanes, of which `each` are used; the last team may use fewer.

    It depends only on the number of problems. A team of 16 reads a row as fast as a team of 4: each stored value takes
    one cache line.

    >>> Shape.of(77), Shape.of(20)
    (Shape(problems=77, teams=5, lanes=16, each=16), Shape(problems=20, teams=2, lanes=16, each=10))
    """

    problems: int
    teams: int
    lanes: int
    each: int

    @classmethod
    def of(cls, count: int) -> Shape:
        """The division of this many problems."""
        lanes = 4 if count <= 4 else 8 if count <= 8 else 16
        teams = -(-count // lanes)
        return cls(count, teams, lanes, -(-count // teams))

    def team(self, t: int) -> range:
        """The problems of a team."""
        return range(t * self.each, min(self.problems, (t + 1) * self.each))

    def deal(self, values: Doubles, rest: float) -> Doubles:
        """Numbers of the problems (k,) as numbers of teams (t, l); unused lanes get `rest`."""
        dealt = np.full((self.teams, self.lanes), rest)
        for t in range(self.teams):
            dealt[t, : len(self.team(t))] = values[self.team(t).start : self.team(t).stop]
        return dealt

    def collect(self, dealt: AnyFloats) -> Doubles:
        """The numbers of the problems (..., k), from those of teams (..., t, l)."""
        parts = [dealt[..., t, : len(self.team(t))] for t in range(self.teams)]
        return np.concatenate(parts, axis=-1, dtype=np.float64)


def mark(problems: Binaries) -> tuple[Words16, Doubles] | None:
    """The positive rows of each team (t, n) as bits, and the costs of negatives and positives (2, t, l).

    None if the problems cannot be solved in teams: too few, too many variables, or rows that a problem ignores.
    """
    shape = Shape.of(problems.count)
    if problems.count < FEWEST or shape.teams * shape.lanes * len(problems.X) > MOST:
        return None
    marks = np.zeros((shape.teams, len(problems.X)), np.uint16)
    sums = []
    for t in range(shape.teams):
        sides = problems.sides(shape.team(t))
        if any(len(yes) + len(no) != len(problems.X) for yes, no in sides):
            return None
        for c, (yes, _) in enumerate(sides):
            marks[t, yes] |= np.uint16(1 << c)
        sums.append(cost_sums(problems.costs, sides))
    return marks, np.stack([shape.deal(side, 0.0) for side in np.hstack(sums)])


def line_up(problems: Binaries, marks: Words16, seed: int, number: type) -> Lineup:
    """The arrays before the first epoch; weights and dual variables have this type."""
    shape, n = Shape.of(problems.count), len(problems.X)
    facts = np.zeros((shape.teams, FACTS, shape.lanes))
    facts[:, LOW], facts[:, HIGH] = -np.inf, np.inf
    facts[:, FINISHED] = shape.deal(np.zeros(problems.count), 1.0)
    return Lineup(
        alpha=np.zeros((shape.teams, n, shape.lanes), number),
        weights=np.zeros((shape.teams, problems.X.width, shape.lanes), number),
        marks=marks,
        order=np.tile(np.arange(n, dtype=np.int32), (shape.teams, 1)),
        active=np.full(shape.teams, n, np.int64),
        facts=facts,
        seeds=(np.arange(shape.teams).astype(np.uint64) + np.uint64(seed + 1)) * MIX,
    )


def number_of(problems: Binaries, squares: Doubles, tol: float) -> type:
    """The type of weights and dual variables: float32 if that is precise enough, because it is faster."""
    steep = float(problems.costs.max(initial=0.0) * squares.max(initial=0.0))
    narrow = problems.X.data.dtype == np.float32 and tol >= ROUGH and steep <= STEEP
    return np.float32 if narrow else np.float64


def solve_teams(
    problems: Binaries,
    settings: Settings,
    tell: Callable[[Progress], object] = lambda _: None,
    saved: Mapping[str, Array] | None = None,
    warm: Warm | None = None,
) -> tuple[Doubles, Doubles] | None:
    """The same as `solve_binaries`, for problems that share all rows: one-vs-rest, label sets.

    None for other problems, for losses without a kernel for teams, and for a saved state of `solve_binaries`.

    >>> from linnaeus.arrays import CSR
    >>> X = CSR(np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([1.0, -1.0]), 1)
    >>> sides = lambda which: [(np.array([0]), np.array([1])) for _ in which]
    >>> problems = Binaries(X, np.ones(2), 3, sides)
    >>> W, b = solve_teams(problems, Settings("hinge", tol=1e-9))
    >>> W.round(3).tolist(), (b.round(3) + 0.0).tolist()
    ([[1.0, 1.0, 1.0]], [0.0, 0.0, 0.0])
    """
    known = LOSSES[settings.loss].team is not None and not (saved and "marks" not in saved)
    marked = mark(problems) if known else None
    if marked is None:
        return None
    work = Teams(problems, settings, marked)
    if saved:
        work.restore(saved)
    elif warm is not None:
        work.warm_up(warm)
    work.run(tell)
    last = Rest(work, saved) if work.few_left else work
    last.run(tell)
    return last.matrix(), last.biases()


class Teams(Ascent):
    """Problems that are solved in teams, until few are left."""

    arrays: Lineup

    def __init__(self, problems: Binaries, settings: Settings, marked: Marked) -> None:
        super().__init__(problems, settings, LOSSES[settings.loss].team)
        self.shape, (marks, (no, yes)) = Shape.of(problems.count), marked
        self.lanes = (self.shape.lanes,)
        self.ones = np.ones((self.shape.teams, 2, self.shape.lanes))
        self.arrays = line_up(problems, marks, settings.seed, number_of(problems, self.squares, settings.tol))
        self.bounds = np.zeros((2, *no.shape))
        self.place_biases(no, yes)

    @property
    def finished(self) -> Doubles:
        """Whether each problem is solved (t, l), as a view."""
        return self.arrays.facts[:, FINISHED]

    @property
    def few_left(self) -> bool:
        """Whether it is faster to solve the remaining problems one by one."""
        left = int((self.finished == 0).sum())
        few = 0 < left <= WAVE and (left * FEW <= self.problems.count or self.here >= LONG)
        return few and self.here < self.settings.epochs

    @property
    def unfinished(self) -> bool:
        """Whether there are more epochs to run in teams."""
        return super().unfinished and not self.few_left

    def worth_measuring(self, near: Bools, due: bool) -> Bools:
        """The teams (t,) in which at least half of the unfinished problems look solved, or all if they are due."""
        going = self.finished == 0
        half: Bools = 2 * (near & going).sum(axis=1) >= going.sum(axis=1)
        return (half | due) & going.any(axis=1)

    def all_bounds(self) -> Doubles:
        """Primal and dual values of all problems (2, k), as a copy."""
        return self.shape.collect(self.bounds)

    def matrix(self) -> Doubles:
        """The weights of all problems (d, k), as a copy."""
        return self.shape.collect(self.arrays.weights.transpose(1, 0, 2))

    def biases(self) -> Doubles:
        """The biases of all problems (k,)."""
        return self.shape.collect(self.bias)

    def restore(self, saved: Mapping[str, Array]) -> None:
        """Continue from a state."""
        super().restore(saved)
        self.arrays = Lineup(*(saved[name].copy() for name in Lineup._fields))


FEW, LONG = 3, 100
"""One problem in three counts as few; after 100 epochs, so does any number that fits in one wave."""
PREFIX = "rest."
"""The beginning of the names of the `Rest` in a state."""


class Rest(Work):
    """The unfinished problems of teams, which start from their dual variables; reports are about all problems."""

    def __init__(self, teams: Teams, saved: Mapping[str, Array] | None = None) -> None:
        self.teams, problems = teams, teams.problems
        self.left = np.flatnonzero(teams.shape.collect(teams.finished) == 0)
        self.places = self.left // teams.shape.each, self.left % teams.shape.each  # the team and the lane of each

        def sides(some: range) -> list[tuple[Ints, Ints]]:
            return [problems.sides(range(self.left[i], self.left[i] + 1))[0] for i in some]

        settings = replace(teams.settings, epochs=max(teams.settings.epochs - teams.here, 0))
        mine = {name.removeprefix(PREFIX): value for name, value in (saved or {}).items() if name.startswith(PREFIX)}
        super().__init__(replace(problems, count=len(self.left), sides=sides), settings, mine)
        if not mine:
            self._take_over()

    def _take_over(self) -> None:
        """Copy dual variables and biases; compute the weights again, because they were rounded."""
        lineup, (t, c) = self.teams.arrays, self.places
        alpha = lineup.alpha[t, :, c].astype(np.float64)
        self.arrays.alpha[:] = alpha.reshape(-1)
        signs = np.where((lineup.marks[t] >> c[:, None].astype(np.uint16)) & 1, 1.0, -1.0)
        self.weights[:] = self.problems.X.tdot((signs * alpha).T).T
        for fact in (CENTER, BETA, TOTAL):
            self.facts[fact] = lineup.facts[t, fact, c]

    @property
    def told(self) -> int:
        """The number of epochs in teams and after them."""
        return self.teams.here + self.here

    def all_bounds(self) -> Doubles:
        """Primal and dual values of all problems (2, k), as a copy."""
        bounds = self.teams.all_bounds()
        bounds[:, self.left] = self.bounds
        return bounds

    def matrix(self) -> Doubles:
        """The weights of all problems (d, k), as a copy."""
        W = self.teams.matrix()
        W[:, self.left] = self.weights.T
        return W

    def biases(self) -> Doubles:
        """The biases of all problems (k,)."""
        b = self.teams.biases()
        b[self.left] = super().biases()
        return b

    def state(self) -> Arrays:
        """The state of the teams with the values of these problems, and the state of these problems."""
        state, (t, c) = self.teams.state(), self.places
        state["alpha"][t, :, c] = self.arrays.alpha.reshape(len(t), -1)
        state["weights"][t, :, c] = self.weights
        for fact in (CENTER, BETA, TOTAL):
            state["facts"][t, fact, c] = self.facts[fact]
        return state | {PREFIX + name: value for name, value in super().state().items()}
