"""Compressed sparse rows: int64 offsets, int32 columns sorted and unique within a row, float32 or float64 values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linnaeus import kernels
from linnaeus.arrays.products import into, refuse_sizes
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from linnaeus.arrays.transposed import Transposed
    from linnaeus.types import Doubles, Floats, Ints, Longs

COUNTED = 1 << 20
"""Columns counted at a time: NumPy counts 64-bit copies of them."""


@dataclass(frozen=True, slots=True)
class CSR:
    """A sparse matrix (n, d): row i has `indices[indptr[i]:indptr[i+1]]` with `data` beside it.

    Features have float32 values; a float64 matrix is used unchanged. Products are float64, summed in a fixed order, so
    they are the same for any number of threads, to the last bit.

    >>> X = CSR(np.array([0, 1, 3]), np.array([2, 0, 1], np.int32), np.array([1, 2, 3], np.float32), 4)
    >>> X.dot(np.eye(4)[:, :2]).tolist()
    [[0.0, 0.0], [2.0, 3.0]]
    >>> X.tdot(np.array([1.0, 10.0])).tolist()
    [20.0, 30.0, 1.0, 0.0]
    """

    indptr: Longs
    indices: Ints
    data: Floats | Doubles
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.indptr) - 1, self.width

    @property
    def nnz(self) -> int:
        """Stored values."""
        return int(self.indptr[-1])

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def arrays(self) -> tuple[Longs, Ints, Floats | Doubles]:
        """Offsets, columns and values, in the form of the kernels."""
        return self.indptr, self.indices, self.data

    def dot(self, W: NDArray[Any], out: Doubles | None = None) -> Doubles:
        """X @ W  (n, k), or (n,) for one column; written to `out` (n, k) if given."""
        refuse_sizes("W", W, self.width, "columns")
        return into(kernels.rows_dot, self.arrays, W, len(self), out)

    def tdot(self, D: NDArray[Any], out: Doubles | None = None) -> Doubles:
        """X.T @ D  (d, k), or (d,) for one column; written to `out` (d, k) if given."""
        refuse_sizes("D", D, len(self), "rows")
        return into(kernels.rows_tdot, self.arrays, D, self.width, out)

    def squares(self) -> Doubles:
        """The squared length of each row (n,)."""
        return kernels.row_squares(self.arrays, kernels.thread_count())

    def counts(self) -> Longs:
        """The number of stored values in each column (d,).

        >>> CSR(np.array([0, 1, 3]), np.array([1, 0, 1], np.int32), np.ones(3), 3).counts().tolist()
        [1, 2, 0]
        """
        counts = np.zeros(self.width, np.int64)
        for at in range(0, self.nnz, COUNTED):
            counts += np.bincount(self.indices[at : min(at + COUNTED, self.nnz)], minlength=self.width)
        return counts

    def rows_slice(self, start: int, stop: int) -> CSR:
        """The rows from start to stop, stop excluded: a view, only the offsets are new.

        >>> X = CSR(np.array([0, 1, 3]), np.array([1, 0, 1], np.int32), np.array([5.0, 6.0, 7.0]), 2)
        >>> X.rows_slice(1, 2).data.tolist()
        [6.0, 7.0]
        """
        start, stop, _ = slice(start, stop).indices(len(self))
        begin, end = self.indptr[start], self.indptr[max(start, stop)]
        offsets = self.indptr[start : max(start, stop) + 1] - begin
        return CSR(offsets, self.indices[begin:end], self.data[begin:end], self.width)

    def take(self, rows: NDArray[np.integer[Any]]) -> CSR:
        """These rows, in this order.

        >>> X = CSR(np.array([0, 1, 3]), np.array([1, 0, 1], np.int32), np.array([5.0, 6.0, 7.0]), 2)
        >>> X.take(np.array([1, 0])).data.tolist()
        [6.0, 7.0, 5.0]
        """
        chosen = np.arange(len(self))[rows]  # NumPy indexing: also negative indexes and masks
        return CSR(
            *kernels.gather_rows([self.arrays], chosen, np.zeros(1, np.int64), kernels.thread_count()), self.width
        )

    def to_csr(self) -> CSR:
        """These rows."""
        return self

    def by_columns(self) -> Transposed:
        """The same rows with a column-wise copy: faster for many products, but more memory."""
        from linnaeus.arrays.transposed import Transposed

        return Transposed(self)

    def to_scipy(self) -> csr_matrix:
        """The same matrix for SciPy and scikit-learn; the arrays are shared, not copied."""
        from scipy.sparse import csr_matrix

        # SciPy needs one integer type for both: int32 if it is wide enough, or every product copies the columns.
        indptr = self.indptr if self.nnz > np.iinfo(np.int32).max else self.indptr.astype(np.int32)
        matrix = csr_matrix((self.data, self.indices, indptr), shape=self.shape, copy=False)
        matrix.has_sorted_indices = matrix.has_canonical_format = True
        return matrix


def vstack(blocks: Sequence[CSR]) -> CSR:
    """The rows of all blocks, one after the other."""
    if not blocks:
        raise UsageError("vstack has no block to take the number of columns from; give it at least one.")
    starts = np.cumsum([0] + [b.nnz for b in blocks])
    indptr = np.concatenate([b.indptr[:-1] + s for b, s in zip(blocks, starts[:-1], strict=True)] + [starts[-1:]])
    return CSR(
        indptr.astype(np.int64),
        np.concatenate([b.indices[: b.nnz] for b in blocks]),
        np.concatenate([b.data[: b.nnz] for b in blocks]),
        blocks[0].width,
    )


def hstack(blocks: Sequence[CSR]) -> CSR:
    """The columns of all blocks, side by side; every block has the same number of rows."""
    if not blocks:
        raise UsageError("hstack has no block to take the number of rows from; give it at least one.")
    if len(blocks) == 1:
        return blocks[0]
    kind = np.result_type(*(b.data.dtype for b in blocks))
    arrays = [(b.indptr, b.indices, np.ascontiguousarray(b.data, kind)) for b in blocks]
    ends = np.cumsum([b.width for b in blocks])
    shifts, everything = np.concatenate([[0], ends[:-1]]).astype(np.int64), np.arange(len(blocks[0]))
    return CSR(*kernels.gather_rows(arrays, everything, shifts, kernels.thread_count()), int(ends[-1]))
