"""Sparse rows with an additional column-wise copy, for solvers with many products."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linnaeus import kernels
from linnaeus.arrays.csr import CSR
from linnaeus.arrays.products import into, refuse_sizes
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.types import Doubles

FEW = 4
"""Fewest classes for which a column-wise product is faster."""

SMALL = 1 << 20
"""Fewest multiplications for which work is split into pieces."""

PIECES, SCORES = 8, 32 << 20
"""A column-wise product is a sum of this many pieces, if their scores take at most this many bytes together."""


def transpose(X: CSR) -> CSR:
    """X.T (d, n) as sparse rows, one for each column of X.

    >>> X = CSR(np.array([0, 1, 3]), np.array([1, 0, 1], np.int32), np.array([5.0, 6.0, 7.0]), 2)
    >>> transpose(X).indices.tolist(), transpose(X).data.tolist()
    ([1, 0, 1], [6.0, 5.0, 7.0])
    """
    return CSR(*kernels.transpose(X.arrays, X.width, kernels.thread_count()), len(X))


@dataclass(frozen=True)
class Transposed:
    """The rows of `X`, and a column-wise copy that is made on first use: twice the memory.

    If there are many more columns than rows, a column-wise product is at least three times faster: it reads the large
    block of weights once, in order, and has random access only to the small block of scores. A large `dot` is summed in
    pieces, whose number does not depend on the threads; its rounding differs slightly from that of `X`.

    >>> X = CSR(np.array([0, 1, 3]), np.array([1, 0, 1], np.int32), np.array([5.0, 6.0, 7.0]), 2)
    >>> Transposed(X).tdot(np.array([1.0, 10.0])).tolist(), X.tdot(np.array([1.0, 10.0])).tolist()
    ([60.0, 75.0], [60.0, 75.0])
    """

    X: CSR

    @cached_property
    def columns(self) -> CSR:
        """X.T (d, n)."""
        return transpose(self.X)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.X.shape

    def __len__(self) -> int:
        return len(self.X)

    def dot(self, W: NDArray[Any]) -> Doubles:
        """X @ W  (n, k), or (n,) for one column."""
        refuse_sizes("W", W, self.shape[1], "columns")
        if W.ndim == 1 or W.shape[1] < FEW or self.shape[1] < self.shape[0] or self.X.nnz * W.shape[1] < SMALL:
            return self.X.dot(W)
        pieces = min(PIECES, SCORES // max(1, 8 * len(self) * W.shape[1]))
        if pieces >= 2:
            return into(partial(_columns_dot, pieces), self.columns.arrays, W, len(self))
        # Many scores: rows are split without a search, which is better for threads; the results are identical.
        return self.X.dot(W) if kernels.thread_count() > 1 else self.columns.tdot(W)

    def tdot(self, D: NDArray[Any], out: Doubles | None = None) -> Doubles:
        """X.T @ D  (d, k), or (d,) for one column; written to `out` (d, k) if given."""
        refuse_sizes("D", D, len(self), "rows")
        return self.columns.dot(D, out)

    def take(self, rows: NDArray[np.integer[Any]]) -> CSR:
        """These rows, in this order."""
        return self.X.take(rows)

    def rows_slice(self, start: int, stop: int) -> CSR:
        """The rows from start to stop, stop excluded: a view."""
        return self.X.rows_slice(start, stop)

    def to_csr(self) -> CSR:
        """The rows as they are."""
        return self.X

    def by_columns(self) -> Transposed:
        """These rows: they have a copy by columns."""
        return self

    def squares(self) -> Doubles:
        """The squared length of each row (n,)."""
        return self.X.squares()


def _columns_dot(pieces: int, columns: Any, W: NDArray[Any], out: Doubles, threads: int) -> None:
    kernels.columns_dot(columns, W, out, pieces, threads)
