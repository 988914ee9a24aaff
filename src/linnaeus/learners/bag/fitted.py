"""The fitted embedding bag: vectors of terms, how they are pooled, and the linear classifier of the pooled vector."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import ClassVar

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.arrays.csr import only
from linnaeus.errors import UsageError, damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.bag.quantization import Packed, unpacked
from linnaeus.learners.base import FittedModel
from linnaeus.protocols import Rows, RowWeights, SpaceScores
from linnaeus.store.states import field
from linnaeus.types import Array, Arrays, Doubles, Floats, Ints, State, offsets_of

MOST_WEIGHTS = 1 << 22
"""Weights that a bag may be turned into: d features times w scores."""
MOST_LOOKED_UP = 1 << 24
"""Features up to which the row of each is looked up in an array."""
AT_ONCE = 1 << 22
"""Numbers of vectors that are pooled in one step."""


@dataclass(frozen=True, eq=False)
class FittedBag(FittedModel):
    """Scores S = pool(rows of E of the terms) O + b (n, w), in the columns of the output space.

    `columns` (m,) ascend: the features that have a row in E (m, h); None if all have one. A feature without a row adds
    nothing, and does not count in the mean. `width` is the number of features. With the pool "mean" a text is
    sum_j x_j e_j / sum_j |x_j|, with "sum" the sum itself, with "max" the largest number of each position over
    the terms that occur. Of a text without known terms S = b. `packed` are the tables as a small file has them.

    >>> from linnaeus.arrays import CSR
    >>> E, O = np.array([[2.0, 0.0], [0.0, 4.0]], np.float32), np.eye(2, dtype=np.float32)
    >>> bag = FittedBag(E, O, np.zeros(2, np.float32), width=2)
    >>> bag.scores(CSR(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1.0, 3.0]), 2)).tolist()
    [[0.5, 3.0]]
    """

    provides: ClassVar[tuple[type, ...]] = (SpaceScores, RowWeights)

    E: Floats
    O: Floats  # noqa: E741 - as in the formula
    b: Floats
    width: int
    columns: Ints | None = None
    pool: str = "mean"
    packed: Packed | None = None

    @property
    def exact(self) -> bool:
        """Whether a score is a sum over the terms of a row."""
        return self.pool != "max"

    def scores(self, X: Rows) -> Doubles:
        """Scores (n, w) in float64: the same for any batches and threads."""
        return Dense(self.pooled(self.known(X))).dot(self.O) + self.b.astype(np.float64)

    def known(self, X: Rows) -> CSR:
        """The rows restricted to the features that have a vector."""
        rows = X.to_csr()
        if rows.width != self.width:
            raise UsageError(f"The bag has vectors for {self.width:,} features, but the rows have {rows.width:,}.")
        if self.columns is None:
            return rows
        if self._places is None:
            return only(rows, self.columns)
        places = self._places[rows.indices[: rows.nnz]]
        there = places >= 0
        return CSR(offsets_of(there)[rows.indptr], places[there], rows.data[: rows.nnz][there], len(self.columns))

    def pooled(self, rows: CSR) -> Doubles:
        """The vector of each row (n, h), of rows of known features."""
        return POOLS[self.pool](rows, self.E)

    def row_weights(self, X: CSR) -> tuple[Doubles, Doubles]:
        """The weight (f, w) of each value of a matrix of one row, and the bias (w,): scores are values @ weights + b.

        Of pools that are no sums there are none.
        """
        places = np.searchsorted(self._all, X.indices[: X.nnz])
        inside = places < len(self._all)
        inside[inside] = self._all[places[inside]] == X.indices[: X.nnz][inside]
        weights = np.zeros((X.nnz, self.O.shape[1]))
        weights[inside] = Dense(self.E[places[inside]]).dot(self.O)
        total = np.abs(X.data[: X.nnz].astype(np.float64))[inside].sum()
        return weights / (total if self.pool == "mean" and total > 0 else 1.0), self.b.astype(np.float64)

    def linear(self) -> tuple[Doubles, Doubles] | None:
        """W = E O and b if the pool is a sum and the features are not too many; else None."""
        if self.pool != "sum" or self.width * self.O.shape[1] > MOST_WEIGHTS:
            return None
        W = np.zeros((self.width, self.O.shape[1]))
        W[slice(None) if self.columns is None else self.columns] = Dense(self.E).dot(self.O)
        return W, self.b.astype(np.float64)

    def state(self) -> State:
        """Vectors, or their codes; output weights, bias, and which features have a vector."""
        manifest = {"kind": "bag", "pool": self.pool, "width": self.width, "packed": self.packed is not None}
        tensors: Arrays = {"O": self.O, "b": self.b}
        tensors |= {"E": self.E} if self.packed is None else {f"packed.{k}": a for k, a in self.packed.items()}
        if self.columns is not None:
            tensors |= gaps_of(self.columns)
        return State(manifest, tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedBag:
        """Restore the model from its stored state; arrays that do not fit each other are refused."""
        width, pool, tensors = field(state.manifest, "width", int), state.manifest.get("pool"), state.tensors
        if pool not in POOLS or type(width) is not int or not 0 < width <= np.iinfo(np.int32).max:
            raise damaged("its pooling is unknown, or its width is no number of features")
        packed = None
        if field(state.manifest, "packed", bool):
            packed = {k.removeprefix("packed."): a for k, a in tensors.items() if k.startswith("packed.")}
        E = _matrix(tensors.get("E") if packed is None else unpacked(packed), "vectors")
        O, b = _matrix(tensors.get("O"), "output weights"), tensors.get("b")  # noqa: E741
        columns = columns_of(tensors)
        if b is None or b.dtype != np.float32 or b.shape != O.shape[1:] or not np.isfinite(b).all():
            raise damaged("the bias of its bag does not fit its output weights")
        rows = width if columns is None else len(columns)
        if len(E) != rows or E.shape[1] != len(O) or (columns is not None and len(columns) and columns[-1] >= width):
            raise damaged("the vectors of its bag do not fit its features")
        return cls(E, O, b, width, columns, pool, packed)

    @cached_property
    def _all(self) -> Ints:
        return np.arange(self.width, dtype=np.int32) if self.columns is None else self.columns

    @cached_property
    def _places(self) -> Ints | None:
        """The row of each feature, -1 where it has none; None if there are too many features."""
        if self.columns is None or self.width > MOST_LOOKED_UP:
            return None
        places = np.full(self.width, -1, np.int32)
        places[self.columns] = np.arange(len(self.columns), dtype=np.int32)
        return places


def _sums(rows: CSR, E: Floats) -> Doubles:
    return rows.dot(E)


def _means(rows: CSR, E: Floats) -> Doubles:
    """Sums divided by the sum of the absolute values of a row; zeros of an empty row."""
    sizes = CSR(rows.indptr, rows.indices, np.abs(rows.data), rows.width).dot(np.ones(rows.width))
    return rows.dot(E) / np.where(sizes > 0, sizes, 1.0)[:, None]


def _largest(rows: CSR, E: Floats) -> Doubles:
    """The largest number of each position over the terms of a row, some rows at a time; zeros of an empty row."""
    found = np.zeros((len(rows), E.shape[1]))
    start, most = 0, max(1, AT_ONCE // max(1, E.shape[1]))
    while start < len(rows):
        stop = int(np.searchsorted(rows.indptr, rows.indptr[start] + most, side="right")) - 1
        stop = min(max(stop, start + 1), len(rows))
        some = start + np.flatnonzero(np.diff(rows.indptr[start : stop + 1]))
        if len(some):
            first, last = rows.indptr[start], rows.indptr[stop]
            found[some] = np.maximum.reduceat(E[rows.indices[first:last]], rows.indptr[some] - first, axis=0)
        start = stop
    return found


POOLS: dict[str, Callable[[CSR, Floats], Doubles]] = {"mean": _means, "sum": _sums, "max": _largest}
"""How the vectors of the terms of a row become one."""


def gaps_of(columns: Ints) -> Arrays:
    """Ascending columns as the gaps between them, in as few bytes as they need.

    >>> gaps = gaps_of(np.array([3, 4, 9], np.int32))
    >>> gaps["gaps"].tolist(), columns_of(gaps).tolist()
    ([3, 0, 4], [3, 4, 9])
    """
    gaps = np.diff(columns.astype(np.int64), prepend=-1) - 1
    high = int(gaps.max(initial=0))
    return {"gaps": gaps.astype(np.uint8 if high < 1 << 8 else np.uint16 if high < 1 << 16 else np.uint32)}


def columns_of(tensors: Arrays) -> Ints | None:
    """The columns that `gaps_of` stored; None where there are none."""
    gaps = tensors.get("gaps")
    if gaps is None:
        return None
    if gaps.ndim != 1 or gaps.dtype not in (np.uint8, np.uint16, np.uint32):
        raise damaged("the features of its bag are not a list of gaps")
    columns = np.cumsum(gaps.astype(np.int64) + 1) - 1
    if len(columns) and not 0 <= columns[-1] <= np.iinfo(np.int32).max:
        raise damaged("the features of its bag are out of range")
    found: Ints = columns.astype(np.int32)
    return found


def _matrix(found: Array | None, what: str) -> Floats:
    if found is None or found.dtype != np.float32 or found.ndim != 2 or 0 in found.shape[1:]:
        raise damaged(f"the {what} of its bag are missing, or no matrix")
    if not np.isfinite(found).all():
        raise damaged(f"the {what} of its bag are not finite")
    return np.ascontiguousarray(found)
