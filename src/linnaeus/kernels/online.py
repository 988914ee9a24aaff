"""The state of per-example learners: one row for each feature, with everything side by side that a nonzero touches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from linnaeus.types import Array, Doubles, Ints, Longs

SPACES = {"product": 0, "joint": 1}
"""A yes or no for each class, or one class of k."""

_NAMES = "perceptron hinge log softmargin logistic squared_hinge exponential modified_huber squared absolute"
LOSSES = {name: code for code, name in enumerate(_NAMES.split())}
"""Those the kernels know: four that are an oracle minus gold, four of the margin, two of the residual."""

_LINE = 64


class LabelLists(NamedTuple):
    """The truth as kernels take it: a space, `labels[offsets[i]:offsets[i+1]]` of each example, and stakes or none."""

    space: int
    offsets: Longs
    labels: Ints
    stakes: Doubles


def one_each(y: Array) -> tuple[Longs, Ints]:
    """Offsets and labels of lists with one label each.

    >>> [part.tolist() for part in one_each(np.array([2, 0]))]
    [[0, 1, 2], [2, 0]]
    """
    return np.arange(len(y) + 1), y.astype(np.int32)


@dataclass(frozen=True)
class Layout:
    """A row is [ w | the rule's accumulators | sums for a mean | clock of a penalty ], each of `lanes` numbers.

    `parts` counts the weights and the accumulators: 1 for SGD and passive-aggressive, 2 for AdaGrad, 3 for FTRL.

    >>> Layout(20, 2).stride, Layout(20, 2, dtype=np.float32).stride, Layout(1, 1, averaged=True, lazy=True).stride
    (40, 48, 4)
    """

    k: int
    parts: int
    averaged: bool = False
    lazy: bool = False
    dtype: DTypeLike = np.float64

    @property
    def lanes(self) -> int:
        """Classes, filled up to whole vectors of 32 bytes; one and two stay as they are."""
        whole = 32 // np.dtype(self.dtype).itemsize
        return self.k if self.k <= 2 else -(-self.k // whole) * whole

    @property
    def stride(self) -> int:
        """Numbers in a row."""
        clock = (2 if self.lanes <= 2 else 4) if self.lazy else 0
        return (self.parts + self.averaged) * self.lanes + clock

    @property
    def flags(self) -> tuple[int, bool, bool]:
        """What a kernel is told."""
        return self.k, self.averaged, self.lazy

    def zeros(self, rows: int) -> Array:
        """A table (rows, stride) that begins where a cache line does."""
        size = np.dtype(self.dtype).itemsize
        room = np.zeros(rows * self.stride + _LINE // size, self.dtype)
        skip = -room.ctypes.data % _LINE // size
        return room[skip : skip + rows * self.stride].reshape(rows, self.stride)

    def part(self, table: Array, index: int) -> Array:
        """A view of the weights (0), of an accumulator (1, 2) or, after these, of the sums (rows, k)."""
        start = index * self.lanes
        return table[..., start : start + self.k]

    def mean(self, table: Array, steps: float) -> Array:
        """The mean of the iterates of all steps: w - drift / t, or sums / t where there are clocks, once settled."""
        mean: Array = self.part(table, self.parts) / max(float(steps), 1.0)
        return mean if self.lazy else np.subtract(self.part(table, 0), mean, out=mean)
