"""Binary problems that have all rows in common, lined up in teams: the arrays that the kernels of teams work on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linnaeus.optimizers.dual.problems import BETA, CENTER, HIGH, LOW, MIX, TOTAL, Binaries

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Ints, Longs, Words16, Words64

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

    alpha: Any
    weights: Any
    marks: Words16
    order: Ints
    active: Longs
    facts: Doubles
    seeds: Words64

    @property
    def finished(self) -> Doubles:
        """Whether each problem is solved (t, l), a view."""
        return self.facts[:, FINISHED]

    @property
    def bias(self) -> Doubles:
        """The biases (t, l)."""
        return self.facts[:, CENTER] + self.facts[:, BETA] * self.facts[:, TOTAL]


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
    if problems.count < FEWEST or shape.teams * shape.lanes * problems.size > MOST:
        return None
    marks = np.zeros((shape.teams, problems.size), np.uint16)
    sums = np.zeros((2, problems.count))
    for t in range(shape.teams):
        for c, (yes, no) in enumerate(problems.sides(shape.team(t))):
            if len(yes) + len(no) != problems.size:
                return None
            marks[t, yes] |= np.uint16(1 << c)
            sums[:, shape.team(t)[c]] = problems.costs[no].sum(), problems.costs[yes].sum()
    sums *= problems.factors.T
    return marks, np.stack([shape.deal(side, 0.0) for side in sums])


def line_up(problems: Binaries, marks: Words16, seed: int, number: type) -> Lineup:
    """The arrays before the first epoch, weights and duals of this type; no lane has a bias yet."""
    shape, n = Shape.of(problems.count), problems.size
    facts = np.zeros((shape.teams, FACTS, shape.lanes))
    facts[:, LOW], facts[:, HIGH] = -np.inf, np.inf
    facts[:, FINISHED] = shape.deal(np.zeros(problems.count), 1.0)
    return Lineup(
        alpha=np.zeros((shape.teams, n, shape.lanes), number),
        weights=np.zeros((shape.teams, problems.width, shape.lanes), number),
        marks=marks,
        order=np.tile(np.arange(n, dtype=np.int32), (shape.teams, 1)),
        active=np.full(shape.teams, n, np.int64),
        facts=facts,
        seeds=(np.arange(shape.teams).astype(np.uint64) + np.uint64(seed + 1)) * MIX,
    )


def number_of(problems: Binaries, squares: Doubles, tol: float) -> type:
    """The type of weights and duals: half the memory to read where that is exact enough."""
    steep = float(problems.costs.max(initial=0.0) * problems.factors.max(initial=1.0) * squares.max(initial=0.0))
    narrow = problems.rows[2].dtype == np.float32 and tol >= ROUGH and steep <= STEEP
    return np.float32 if narrow else np.float64
