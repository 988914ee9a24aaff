"""Binary problems that have all rows in common, solved side by side in teams: a row is read once for a whole team.

When most are solved, what is left goes on one by one, where rows at rest cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

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
)
from linnaeus.optimizers.dual.separate import WAVE, Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Array, Arrays, Doubles, Floats, Ints, Longs, Warm, Words16, Words64

    Marked = tuple[Words16, Doubles]

FINISHED, FACTS = 7, 8
"""In the facts of a team, whether a problem is solved; the others are those of `problems`. How many facts."""
FEWEST = 3
"""Problems that are worth a team."""
MOST = 1 << 28
"""Dual variables that are kept at once: one gigabyte as floats."""
ROUGH, STEEP = 1e-5, 1e4
"""Weights are floats for tolerances from here on, where C |x|^2 stays below this: rounding is then far below both."""


class Lineup(NamedTuple):
    """What changes while teams of problems are solved, as the kernels take it: native/team.hpp."""

    alpha: Floats | Doubles
    weights: Floats | Doubles
    marks: Words16
    order: Ints
    active: Longs
    facts: Doubles
    seeds: Words64


class Shape(NamedTuple):
    """How problems are dealt out: so many teams, so many lanes each, `each` of them taken (by the last maybe fewer).

    A function of the number of problems alone. A row costs a team of 16 what it costs a team of 4: one line of memory
    for each stored value.

    >>> Shape.of(77), Shape.of(20)
    (Shape(problems=77, teams=5, lanes=16, each=16), Shape(problems=20, teams=2, lanes=16, each=10))
    """

    problems: int
    teams: int
    lanes: int
    each: int

    @classmethod
    def of(cls, count: int) -> Shape:
        """For this many problems."""
        lanes = 4 if count <= 4 else 8 if count <= 8 else 16
        teams = -(-count // lanes)
        return cls(count, teams, lanes, -(-count // teams))

    def team(self, t: int) -> range:
        """The problems of a team."""
        return range(t * self.each, min(self.problems, (t + 1) * self.each))

    def deal(self, values: Doubles, rest: float) -> Doubles:
        """Numbers of the problems (k,) as numbers of teams (t, l); lanes without a problem get the rest."""
        dealt = np.full((self.teams, self.lanes), rest)
        for t in range(self.teams):
            dealt[t, : len(self.team(t))] = values[self.team(t).start : self.team(t).stop]
        return dealt

    def collect(self, dealt: Doubles) -> Doubles:
        """The numbers of the problems (k,), from those of teams (t, l)."""
        return np.concatenate([dealt[t, : len(self.team(t))] for t in range(self.teams)])


def mark(problems: Binaries) -> tuple[Words16, Doubles] | None:
    """Which rows are positive (t, n), as bits, and the costs of negatives and positives (2, t, l).

    None for problems that are not for teams: too few, too many variables, or rows that take no part.
    """
    shape = Shape.of(problems.count)
    if problems.count < FEWEST or shape.teams * shape.lanes * len(problems.X) > MOST:
        return None
    marks = np.zeros((shape.teams, len(problems.X)), np.uint16)
    sums = np.zeros((2, problems.count))
    for t in range(shape.teams):
        for c, (yes, no) in enumerate(problems.sides(shape.team(t))):
            if len(yes) + len(no) != len(problems.X):
                return None
            marks[t, yes] |= np.uint16(1 << c)
            sums[:, shape.team(t)[c]] = problems.costs[no].sum(), problems.costs[yes].sum()
    sums *= problems.factors.T
    return marks, np.stack([shape.deal(side, 0.0) for side in sums])


def line_up(problems: Binaries, marks: Words16, seed: int, number: type) -> Lineup:
    """The arrays before the first epoch, weights and duals of this type; no lane has a bias yet."""
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
    """The type of weights and duals: half the memory to read where that is exact enough."""
    steep = float(problems.costs.max(initial=0.0) * problems.factors.max(initial=1.0) * squares.max(initial=0.0))
    narrow = problems.X.data.dtype == np.float32 and tol >= ROUGH and steep <= STEEP
    return np.float32 if narrow else np.float64


def solve_teams(
    problems: Binaries,
    settings: Settings,
    tell: Callable[[Progress], object] = lambda _: None,
    saved: Mapping[str, Array] | None = None,
    warm: Warm | None = None,
) -> tuple[Doubles, Doubles] | None:
    """What `solve_binaries` does, for problems that have all rows in common: one-vs-rest, label sets.

    None for other problems, for losses without a kernel here, and for a state of `solve_binaries`.

    >>> from linnaeus.arrays import CSR
    >>> X = CSR(np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([1.0, -1.0]), 1)
    >>> sides = lambda which: [(np.array([0]), np.array([1])) for _ in which]
    >>> problems = Binaries(X, np.ones(2), 3, sides, np.ones((3, 2)))
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
    while work.unfinished and not few_left(work):
        work.epoch()
        tell(work.progress())
    if not work.unfinished:
        return work.matrix(), work.biases()
    rest = Rest(work, saved)
    while rest.work.unfinished:
        rest.work.epoch()
        tell(rest.progress())
    return rest.matrix(), rest.biases()


class Teams(Ascent):
    """The state of a solution in teams."""

    arrays: Lineup

    def __init__(self, problems: Binaries, settings: Settings, marked: Marked) -> None:
        super().__init__(problems, settings, LOSSES[settings.loss].team)
        self.shape, (marks, (no, yes)) = Shape.of(problems.count), marked
        self.lanes = (self.shape.lanes,)
        self.sides = np.ones((self.shape.teams, 2, self.shape.lanes))
        self.sides[:, 0], self.sides[:, 1] = (self.shape.deal(side, 1.0) for side in problems.factors.T)
        self.arrays = line_up(problems, marks, settings.seed, number_of(problems, self.squares, settings.tol))
        self.bounds = np.zeros((2, *no.shape))
        self.place_biases(no, yes)

    @property
    def finished(self) -> Doubles:
        """Whether each problem is solved (t, l), a view."""
        return self.arrays.facts[:, FINISHED]

    @property
    def box(self) -> tuple[Doubles, Doubles, Doubles]:
        """What the kernels call the box."""
        return self.squares, self.problems.costs, self.sides

    def worth_measuring(self, near: NDArray[np.bool_], due: bool) -> NDArray[np.bool_]:
        """Teams (t,) of which half the unfinished problems, falling as fast as in the last epoch, look solved."""
        going = self.finished == 0
        half: NDArray[np.bool_] = 2 * (near & going).sum(axis=1) >= going.sum(axis=1)
        worth: NDArray[np.bool_] = (half | due) & going.any(axis=1)
        return worth

    def collect(self, values: Doubles) -> Doubles:
        """Numbers of all problems (k,), from those of teams (t, l)."""
        return self.shape.collect(values)

    def matrix(self) -> Doubles:
        """The weights of all problems (d, k), a copy."""
        W = np.empty((self.problems.X.width, self.shape.problems))
        for t in range(self.shape.teams):
            which = self.shape.team(t)
            W[:, which.start : which.stop] = self.arrays.weights[t, :, : len(which)]
        return W

    def biases(self) -> Doubles:
        """The biases of all problems (k,)."""
        return self.collect(self.bias)

    def restore(self, saved: Mapping[str, Array]) -> None:
        """Go on from a state."""
        super().restore(saved)
        self.arrays = Lineup(*(saved[name].copy() for name in Lineup._fields))


FEW, LONG = 3, 100
"""One problem in so many is few; after so many epochs any that fit into one wave are."""
PREFIX = "rest."
"""Of the names in a state that belong to the rest."""


def few_left(teams: Teams) -> bool:
    """Whether the rest is better solved one by one."""
    left = int((teams.finished == 0).sum())
    return 0 < left <= WAVE and (left * FEW <= teams.problems.count or teams.here >= LONG)


class Rest:
    """The unfinished problems of teams, with the duals they have come to."""

    def __init__(self, teams: Teams, saved: Mapping[str, Array] | None = None) -> None:
        self.teams, shape = teams, teams.shape
        self.which = np.flatnonzero(teams.collect(teams.finished) == 0)
        self.lanes = self.which // shape.each, self.which % shape.each  # team and lane of each
        settings = replace(teams.settings, epochs=max(teams.settings.epochs - teams.here, 0))
        mine = {name.removeprefix(PREFIX): value for name, value in (saved or {}).items() if name.startswith(PREFIX)}
        self.work = Work(self._problems(), settings, mine or None)
        if not mine:
            self._take_over()

    def _problems(self) -> Binaries:
        problems, which = self.teams.problems, self.which

        def sides(some: range) -> list[tuple[Ints, Ints]]:
            return [problems.sides(range(which[i], which[i] + 1))[0] for i in some]

        return replace(problems, count=len(which), sides=sides, factors=problems.factors[which])

    def _take_over(self) -> None:
        """Duals and biases as they are; the weights are added up anew, for they were rounded."""
        lineup, work, (t, c) = self.teams.arrays, self.work, self.lanes
        alpha = lineup.alpha[t, :, c].astype(np.float64)
        work.arrays.alpha[:] = alpha.reshape(-1)
        signs = np.where((lineup.marks[t] >> c[:, None].astype(np.uint16)) & 1, 1.0, -1.0)
        work.weights[:] = work.problems.X.tdot((signs * alpha).T).T
        for fact in (CENTER, BETA, TOTAL):
            work.facts[fact] = lineup.facts[t, fact, c]

    def progress(self) -> Progress:
        """What is told after an epoch: of all problems."""
        teams, rest = self.teams, self.work.progress()
        primal, dual = (teams.collect(bound) for bound in teams.bounds)
        primal[self.which], dual[self.which] = rest.primal, rest.dual
        here = teams.here + self.work.here
        return Progress(here, primal, dual, rest.fresh, lambda: self.matrix().T, self.biases, self.state)

    def matrix(self) -> Doubles:
        """The weights of all problems (d, k), a copy."""
        W = self.teams.matrix()
        W[:, self.which] = self.work.weights.T
        return W

    def biases(self) -> Doubles:
        """The biases of all problems (k,)."""
        b = self.teams.biases()
        b[self.which] = self.work.biases()
        return b

    def state(self) -> Arrays:
        """That of the teams, with what the rest has come to in its place; and that of the rest."""
        state, (t, c) = self.teams.state(), self.lanes
        state["alpha"][t, :, c] = self.work.arrays.alpha.reshape(len(t), -1)
        state["weights"][t, :, c] = self.work.weights
        for fact in (CENTER, BETA, TOTAL):
            state["facts"][t, fact, c] = self.work.facts[fact]
        return state | {PREFIX + name: value for name, value in self.work.state().items()}
