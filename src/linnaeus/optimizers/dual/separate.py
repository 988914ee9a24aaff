"""Binary problems solved independently, in waves of a fixed size, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

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
    cost_sums,
)
from linnaeus.types import Array, Arrays, Bools, Doubles, Ints, Longs, Warm, Words64

WAVE = 32
"""The number of problems that are solved at a time. It does not depend on the number of threads."""


class Wave(NamedTuple):
    """The arrays that change while a wave of problems is solved, as the kernels take them: native/dual_problems.hpp."""

    alpha: Doubles
    weights: Doubles
    order: Ints
    starts: Longs
    counts: Longs
    facts: Doubles
    seeds: Words64


def lay_out(n: int, sides: list[tuple[Ints, Ints]], weights: Doubles, seeds: Words64) -> Wave:
    """The arrays of problems over n rows before the first epoch; `weights` (p, d), all zero, are used in place."""
    p = len(sides)
    sizes = np.array([len(yes) + len(no) for yes, no in sides], np.int64)
    members = [_by_row(yes, no, n) for yes, no in sides]
    facts = np.zeros((p, VIOLATION + 1))
    facts[:, LOW], facts[:, HIGH] = -np.inf, np.inf
    counts = np.stack([sizes, np.zeros(p, np.int64)], axis=1)  # active members, and whether the problem is finished
    return Wave(
        alpha=np.zeros(p * n),
        weights=weights.reshape(-1),
        order=np.concatenate([*members, np.zeros(0, np.int32)]),
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        counts=counts.reshape(-1),
        facts=facts.reshape(-1),
        seeds=seeds,
    )


def _by_row(yes: Ints, no: Ints, n: int) -> Ints:
    """The rows of a problem in ascending order: i for a positive row, -1 - i for a negative one."""
    members, taken = np.empty(n, np.int32), np.zeros(n, bool)
    members[yes], members[no] = yes, ~np.asarray(no)
    taken[yes] = taken[no] = True
    return members if taken.all() else members[taken]


def solve_binaries(
    problems: Binaries,
    settings: Settings,
    tell: Callable[[Progress], object] = lambda _: None,
    saved: Mapping[str, Array] | None = None,
    warm: Warm | None = None,
) -> tuple[Doubles, Doubles]:
    """Weights W (d, k) and biases b (k,) of all problems, each solved to `tol` or for `epochs` epochs.

    With `saved`, a state from `Progress.state`, it resumes and returns identical results. `warm` has the final state of
    the same problems with smaller costs, whose dual variables are the starting point. `tell` is called after each epoch
    and may raise to stop.

    >>> from linnaeus.arrays import CSR
    >>> X = CSR(np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([1.0, -1.0]), 1)
    >>> sides = lambda which: [(np.array([0]), np.array([1])) for _ in which]
    >>> problems = Binaries(X, np.ones(2), 1, sides)
    >>> W, b = solve_binaries(problems, Settings("hinge", tol=1e-9))
    >>> W.round(3).tolist(), (b.round(3) + 0.0).tolist()
    ([[1.0]], [0.0])
    """
    work = Work(problems, settings, saved)
    if warm is not None and not saved:
        work.warm_up(warm)
    while work.which:
        work.run(tell)
        work.next_wave()
    return work.matrix(), work.biases()


class Work(Ascent):
    """Problems that are solved wave by wave: `which` are those of the current wave."""

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
        """Create the arrays of a wave, and set its biases."""
        self.which, self.here, self.fresh, self.ones = which, 0, False, np.ones(2 * len(which))
        if which:
            sides, weights = self.problems.sides(which), self.weights[which.start : which.stop]
            seeds = (np.arange(which.start, which.stop).astype(np.uint64) + np.uint64(self.settings.seed + 1)) * MIX
            self.arrays = lay_out(len(self.problems.X), sides, weights, seeds)
            self.place_biases(*cost_sums(self.problems.costs, sides))

    @property
    def finished(self) -> Longs:
        """Whether each problem of the wave is solved (p,), as a view."""
        return self.arrays.counts.reshape(-1, 2)[:, 1]

    @property
    def bounds_here(self) -> Doubles:
        """The bounds of the wave (2, p), as a view."""
        return self.bounds[:, self.which.start : self.which.stop]

    @property
    def last(self) -> bool:
        """Whether this is the last wave."""
        return self.which.stop == self.problems.count

    def worth_measuring(self, near: Bools, due: bool) -> Bools:
        """The unfinished problems that look solved, or all unfinished problems if they are due."""
        return (near | due) & (self.finished == 0)

    def next_wave(self) -> None:
        """Keep the biases of this wave, and begin the next."""
        self.known, self.past, stop = self.biases(), self.past + self.here, self.which.stop
        self._begin(range(stop, min(stop + WAVE, self.problems.count)))

    def matrix(self) -> Doubles:
        """The weights of all problems (d, k), as a view."""
        return self.weights.T

    def biases(self) -> Doubles:
        """The biases of all problems (k,); those of the current wave are the latest."""
        biases = self.known.copy()
        if self.which:
            biases[self.which.start : self.which.stop] = self.bias
        return biases

    @property
    def told(self) -> int:
        """The mean number of epochs of a wave, rounded up."""
        return -(-(self.past + self.here) // max(1, -(-self.problems.count // WAVE)))

    def state(self) -> Arrays:
        """Copies of all arrays, including the weights of all problems."""
        place = np.array([self.past, self.which.start, self.which.stop], np.int64)
        return super().state() | {"weights": self.weights.copy(), "known": self.known.copy(), "place": place}

    def restore(self, saved: Mapping[str, Array]) -> None:
        """Continue from a state."""
        super().restore(saved)
        self.weights, self.known = saved["weights"].copy(), saved["known"].copy()
        self.past, start, stop = (int(value) for value in saved["place"])
        self.which, self.ones = range(start, stop), np.ones(2 * (stop - start))
        arrays = {name: saved[name].copy() for name in Wave._fields if name != "weights"}
        self.arrays = Wave(weights=self.weights[start:stop].reshape(-1), **arrays)
