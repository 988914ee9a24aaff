"""Binary problems over the rows of one matrix, and the arrays of a wave of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linnaeus import kernels
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Ints, Longs, Words64

CENTER, BETA, TOTAL, LOW, HIGH, DUAL, ESTIMATE, VIOLATION = range(8)
"""The columns of a wave's facts; see native/dual_problems.hpp."""
ACTIVE, FINISHED = range(2)
"""The columns of a wave's counts."""
FREE_BETA = 0.1
"""How strongly an unregularized bias is tied to its center, in squared lengths of a row."""
MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Binaries:
    """`count` problems  min 1/2 |w|^2 + sum_i C_i factor phi(y_i (w.x_i + b))  over the rows of one matrix.

    `rows` are indptr (int64), indices (int32) and data (float32 or float64) of n rows with `width` columns; `costs`
    holds C_i (n,). `sides` gives the positive and the negative rows of some of the problems, so that no n x k matrix is
    ever made; rows on neither side take no part. `factors` (count, 2) multiply the costs of negatives and positives.
    """

    rows: tuple[Longs, Ints, Any]
    width: int
    costs: Doubles
    count: int
    sides: Callable[[range], list[tuple[Ints, Ints]]]
    factors: Doubles

    @property
    def size(self) -> int:
        """How many rows."""
        return len(self.rows[0]) - 1

    def squares(self) -> Doubles:
        """The squared length of each row."""
        return kernels.row_squares(self.rows, kernels.thread_count())


class Wave(NamedTuple):
    """What changes while a wave of problems is solved, as the kernels take it: native/dual_problems.hpp."""

    alpha: Doubles
    weights: Doubles
    order: Ints
    starts: Longs
    counts: Longs
    facts: Doubles
    seeds: Words64

    @property
    def table(self) -> Doubles:
        """Facts by problem (p, 8), a view."""
        return self.facts.reshape(-1, VIOLATION + 1)

    @property
    def finished(self) -> Longs:
        """Whether each problem is solved (p,), a view."""
        return self.counts.reshape(-1, 2)[:, FINISHED]

    @property
    def bias(self) -> Doubles:
        """The biases (p,)."""
        facts = self.table
        return facts[:, CENTER] + facts[:, BETA] * facts[:, TOTAL]


def lay_out(problems: Binaries, which: range, weights: Doubles, seed: int) -> Wave:
    """The arrays of these problems before the first epoch; `weights` (p, d), all zero, become theirs."""
    p = len(which)
    sides = problems.sides(which)
    sizes = np.array([len(yes) + len(no) for yes, no in sides], np.int64)
    members = [_by_row(yes, no, problems.size) for yes, no in sides]
    facts = np.zeros((p, VIOLATION + 1))
    facts[:, LOW], facts[:, HIGH] = -np.inf, np.inf
    counts = np.stack([sizes, np.zeros(p, np.int64)], axis=1)
    seeds = (np.arange(which.start, which.stop).astype(np.uint64) + np.uint64(seed + 1)) * MIX
    return Wave(
        alpha=np.zeros(p * problems.size),
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
