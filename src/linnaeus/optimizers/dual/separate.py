"""Binary problems solved one by one, in waves of a fixed size, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.optimizers.dual.binary import (
    HIGH,
    LOSSES,
    LOW,
    MIX,
    VIOLATION,
    Ascent,
    Binaries,
    Progress,
    Settings,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Array, Arrays, Doubles, Ints, Longs, Warm, Words64

ACTIVE, FINISHED = range(2)
"""The columns of a wave's counts."""
WAVE = 32
"""Problems that are solved side by side; not a function of the threads."""


class Wave(NamedTuple):
    """What changes while a wave of problems is solved, as the kernels take it: native/dual_problems.hpp."""

    alpha: Doubles
    weights: Doubles
    order: Ints
    starts: Longs
    counts: Longs
    facts: Doubles
    seeds: Words64


def lay_out(problems: Binaries, which: range, weights: Doubles, seed: int) -> Wave:
    """The arrays of these problems before the first epoch; `weights` (p, d), all zero, become theirs."""
    p = len(which)
    sides = problems.sides(which)
    sizes = np.array([len(yes) + len(no) for yes, no in sides], np.int64)
    members = [_by_row(yes, no, len(problems.X)) for yes, no in sides]
    facts = np.zeros((p, VIOLATION + 1))
    facts[:, LOW], facts[:, HIGH] = -np.inf, np.inf
    counts = np.stack([sizes, np.zeros(p, np.int64)], axis=1)
    seeds = (np.arange(which.start, which.stop).astype(np.uint64) + np.uint64(seed + 1)) * MIX
    return Wave(
        alpha=np.zeros(p * len(problems.X)),
        weights=weights.reshape(-1),
        order=np.concatenate([*members, np.zeros(0, np.int32)]),
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        counts=counts.reshape(-1),
        facts=facts.reshape(-1),
        seeds=seeds,
    )


def _by_row(yes: Ints, no: Ints, n: int) -> Ints:
    """The members of a problem in the order of their rows: a positive one as i, a negative one as -1 - i."""
    members, taken = np.empty(n, np.int32), np.zeros(n, bool)
    members[yes], members[no] = yes, ~np.asarray(no)
    taken[yes] = taken[no] = True
    return members if taken.all() else members[taken]


def cost_sums(problems: Binaries, wave: Wave, which: range) -> Doubles:
    """The cost of all negatives and of all positives of each problem (p, 2)."""
    sums = np.zeros((len(which), 2))
    for i in range(len(which)):
        members = wave.order[wave.starts[i] : wave.starts[i + 1]]
        sums[i] = problems.costs[~members[members < 0]].sum(), problems.costs[members[members >= 0]].sum()
    return sums * problems.factors[which.start : which.stop]


def solve_binaries(
    problems: Binaries,
    settings: Settings,
    tell: Callable[[Progress], object] = lambda _: None,
    saved: Mapping[str, Array] | None = None,
    warm: Warm | None = None,
) -> tuple[Doubles, Doubles]:
    """Weights W (d, k) and biases b (k,) of all problems, each solved to `tol` or for `epochs`.

    `saved` is what `Progress.state` gave: the work goes on from there, to the same bits. `warm` is what it gave when
    all costs were so many times smaller: the work begins with its duals. `tell` may raise to end it.

    >>> from linnaeus.arrays import CSR
    >>> X = CSR(np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([1.0, -1.0]), 1)
    >>> sides = lambda which: [(np.array([0]), np.array([1])) for _ in which]
    >>> problems = Binaries(X, np.ones(2), 1, sides, np.ones((1, 2)))
    >>> W, b = solve_binaries(problems, Settings("hinge", tol=1e-9))
    >>> W.round(3).tolist(), (b.round(3) + 0.0).tolist()
    ([[1.0]], [0.0])
    """
    work = Work(problems, settings, saved)
    if warm is not None and not saved:
        work.warm_up(warm)
    while work.which:
        while work.unfinished:
            work.epoch()
            tell(work.progress())
        work.next_wave()
    return work.matrix(), work.biases()


class Work(Ascent):
    """The state of a solution wave by wave."""

    arrays: Wave

    def __init__(self, problems: Binaries, settings: Settings, saved: Mapping[str, Array] | None) -> None:
        super().__init__(problems, settings, LOSSES[settings.loss].alone)
        if saved:
            self.restore(saved)
            return
        self.weights, self.known = np.zeros((problems.count, problems.X.width)), np.zeros(problems.count)
        self.bounds, self.past = np.zeros((2, problems.count)), 0
        self._begin(range(min(WAVE, problems.count)))

    def _begin(self, which: range) -> None:
        """Lay a wave out, and place its biases."""
        self.which, self.here, self.fresh = which, 0, False
        if which:
            self.arrays = lay_out(self.problems, which, self.weights[which.start : which.stop], self.settings.seed)
            self.place_biases(*cost_sums(self.problems, self.arrays, which).T)

    @property
    def finished(self) -> Longs:
        """Whether each problem of the wave is solved (p,), a view."""
        return self.arrays.counts.reshape(-1, 2)[:, FINISHED]

    @property
    def bounds_here(self) -> Doubles:
        """The bounds of the wave (2, p), a view."""
        return self.bounds[:, self.which.start : self.which.stop]

    @property
    def last(self) -> bool:
        """Whether this is the last wave: before, nothing is known of the problems to come."""
        return self.which.stop == self.problems.count

    @property
    def box(self) -> tuple[Doubles, Doubles, Doubles]:
        """What the kernels call the box."""
        return self.squares, self.problems.costs, self.problems.factors[self.which.start : self.which.stop].reshape(-1)

    def worth_measuring(self, near: NDArray[np.bool_], due: bool) -> NDArray[np.bool_]:
        """Those that look solved, and from time to time all."""
        worth: NDArray[np.bool_] = (near | due) & (self.finished == 0)
        return worth

    def next_wave(self) -> None:
        """Keep the biases of this wave, and lay out the next."""
        self.known, self.past, stop = self.biases(), self.past + self.here, self.which.stop
        self._begin(range(stop, min(stop + WAVE, self.problems.count)))

    def matrix(self) -> Doubles:
        """The weights of all problems (d, k): those being worked on, not a copy."""
        return self.weights.T

    def biases(self) -> Doubles:
        """The biases of all problems (k,), those of the wave as they are now."""
        biases = self.known.copy()
        if self.which:
            biases[self.which.start : self.which.stop] = self.bias
        return biases

    @property
    def told(self) -> int:
        """The number of epochs over all problems."""
        return -(-(self.past + self.here) // max(1, -(-self.problems.count // WAVE)))

    def state(self) -> Arrays:
        """Copies of all arrays, the weights of all problems among them."""
        place = np.array([self.past, self.which.start, self.which.stop], np.int64)
        return super().state() | {"weights": self.weights.copy(), "known": self.known.copy(), "place": place}

    def restore(self, saved: Mapping[str, Array]) -> None:
        """Go on from a state."""
        super().restore(saved)
        self.weights, self.known = saved["weights"].copy(), saved["known"].copy()
        self.past, start, stop = (int(value) for value in saved["place"])
        self.which = range(start, stop)
        arrays = {name: saved[name].copy() for name in Wave._fields if name != "weights"}
        self.arrays = Wave(weights=self.weights[start:stop].reshape(-1), **arrays)
