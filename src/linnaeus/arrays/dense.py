"""Dense rows: one C-contiguous block of float32 or float64 numbers."""

from __future__ import annotations

import numpy as np

from linnaeus import kernels
from linnaeus.arrays.csr import CSR, into, refuse_sizes, vstack
from linnaeus.frozen import dataclass
from linnaeus.types import AnyInts, Array, Doubles, Floats, Longs, offsets_of

CELLS = 1 << 22
"""Cells in one block of the conversion to sparse rows."""


@dataclass(frozen=True, slots=True)
class Dense:
    """A dense matrix (n, d) with the array `values`: C-contiguous float32 or float64.

    Products are float64 and equal those of the same matrix as a `CSR` to the last bit, for any number of threads.

    >>> X = Dense(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> X.dot(np.array([1.0, 10.0])).tolist(), X.tdot(np.array([1.0, 10.0])).tolist()
    ([21.0, 30.0], [1.0, 32.0])
    """

    values: Floats | Doubles

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.values), self.values.shape[1]

    def __len__(self) -> int:
        return len(self.values)

    def dot(self, W: Array) -> Doubles:
        """X @ W  (n, k), or (n,) for one column."""
        refuse_sizes("W", W, self.shape[1], "columns")
        return into(kernels.dense_dot, self.values, W, len(self))

    def tdot(self, D: Array, out: Doubles | None = None) -> Doubles:
        """X.T @ D  (d, k), or (d,) for one column; written to `out` (d, k) if given."""
        refuse_sizes("D", D, len(self), "rows")
        return into(kernels.dense_tdot, self.values, D, self.shape[1], out)

    def take(self, rows: AnyInts) -> Dense:
        """These rows, in this order."""
        return Dense(self.values[rows])

    def rows_slice(self, start: int, stop: int) -> Dense:
        """The rows from start to stop, stop excluded: a view."""
        return Dense(self.values[start:stop])

    def squares(self) -> Doubles:
        """The squared length of each row (n,)."""
        return np.einsum("ij,ij->i", self.values, self.values, dtype=np.float64)

    def counts(self) -> Longs:
        """The number of nonzero values in each column (d,)."""
        return np.count_nonzero(self.values, axis=0).astype(np.int64)

    def by_columns(self) -> Dense:
        """These rows: a dense matrix needs no copy by columns."""
        return self

    def to_csr(self) -> CSR:
        """The same matrix without its zeros, for kernels that read sparse rows.

        >>> Dense(np.array([[0.0, 2.0], [0.0, 0.0]])).to_csr().indices.tolist()
        [1]
        """
        n, d = self.shape
        step = max(1, CELLS // max(1, d))
        return vstack([_sparse(self.values[at : at + step]) for at in range(0, max(n, 1), step)])


def _sparse(values: Floats | Doubles) -> CSR:
    rows, columns = np.nonzero(values)
    indptr = offsets_of(np.bincount(rows, minlength=len(values)))
    return CSR(indptr, columns.astype(np.int32), values[rows, columns], values.shape[1])
