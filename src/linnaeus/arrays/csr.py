"""Compressed sparse rows: int64 offsets, int32 columns sorted and unique within a row, float32 or float64 values.

`Transposed` has an additional column-wise copy, for solvers with many products. `present` and `only` restrict rows to
some columns, so that memory depends on the stored values: hashed rows may have 2^30 columns but use only a few hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.protocols import SparseRows
from linnaeus.types import AnyFloats, AnyInts, Array, Doubles, Floats, Ints, Longs, Sparse, offsets_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


Stored = TypeVar("Stored")


def refuse_sizes(name: str, given: Array, wanted: int, what: str) -> None:
    """Refuse a block with the wrong number of rows for the product."""
    if given.ndim not in (1, 2) or len(given) != wanted:
        raise UsageError(f"{name} has the shape {given.shape}, but X has {wanted} {what}; the numbers must be equal.")


def into(
    kernel: Callable[[Stored, AnyFloats, Doubles, int], None],
    matrix: Stored,
    given: Array,
    rows: int,
    out: Doubles | None = None,
) -> Doubles:
    """The product of a matrix and a block (., k) or a vector, float64 of as many rows: (rows, k) or (rows,).

    It is written to `out` (rows, k) if given: allocating large memory costs as much as the sums.
    """
    block = given if given.ndim == 2 else given[:, None]
    if block.dtype not in (np.float32, np.float64):
        block = block.astype(np.float64)
    out = np.empty((rows, block.shape[1])) if out is None else out
    kernel(matrix, np.ascontiguousarray(block), out, kernels.thread_count())
    return out if given.ndim == 2 else out[:, 0]


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
    provides: ClassVar[tuple[type, ...]] = (SparseRows,)

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
    def arrays(self) -> Sparse:
        """Offsets, columns and values, in the form of the kernels."""
        return self.indptr, self.indices, self.data

    def dot(self, W: Array, out: Doubles | None = None) -> Doubles:
        """X @ W  (n, k), or (n,) for one column; written to `out` (n, k) if given."""
        refuse_sizes("W", W, self.width, "columns")
        return into(kernels.rows_dot, self.arrays, W, len(self), out)

    def tdot(self, D: Array, out: Doubles | None = None) -> Doubles:
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

    def take(self, rows: AnyInts) -> CSR:
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


def present(X: CSR) -> tuple[Ints, CSR]:
    """The columns in use, in order, and the rows restricted to them.

    >>> columns, X = present(CSR(np.array([0, 2]), np.array([3, 9], np.int32), np.ones(2), 10))
    >>> columns.tolist(), X.shape
    ([3, 9], (1, 2))
    """
    columns, places = np.unique(X.indices[: X.nnz], return_inverse=True)
    return columns, CSR(X.indptr, places.astype(np.int32), X.data[: X.nnz], len(columns))


def only(X: CSR, columns: Ints) -> CSR:
    """The rows restricted to these ascending columns, which are renumbered from 0.

    >>> X = CSR(np.array([0, 2, 3]), np.array([3, 9, 4], np.int32), np.array([1.0, 2.0, 3.0]), 10)
    >>> found = only(X, np.array([4, 9], np.int32))
    >>> found.indptr.tolist(), found.indices.tolist(), found.data.tolist()
    ([0, 1, 2], [1, 0], [2.0, 3.0])
    """
    indices = X.indices[: X.nnz]
    places = np.searchsorted(columns, indices)
    there = places < len(columns)
    there[there] = columns[places[there]] == indices[there]
    return CSR(offsets_of(there)[X.indptr], places[there].astype(np.int32), X.data[: X.nnz][there], len(columns))


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

    def dot(self, W: Array) -> Doubles:
        """X @ W  (n, k), or (n,) for one column."""
        refuse_sizes("W", W, self.shape[1], "columns")
        if W.ndim == 1 or W.shape[1] < FEW or self.shape[1] < self.shape[0] or self.X.nnz * W.shape[1] < SMALL:
            return self.X.dot(W)
        pieces = min(PIECES, SCORES // max(1, 8 * len(self) * W.shape[1]))
        if pieces >= 2:
            return into(partial(_columns_dot, pieces), self.columns.arrays, W, len(self))
        # Many scores: rows are split without a search, which is better for threads; the results are identical.
        return self.X.dot(W) if kernels.thread_count() > 1 else self.columns.tdot(W)

    def tdot(self, D: Array, out: Doubles | None = None) -> Doubles:
        """X.T @ D  (d, k), or (d,) for one column; written to `out` (d, k) if given."""
        refuse_sizes("D", D, len(self), "rows")
        return self.columns.dot(D, out)

    def take(self, rows: AnyInts) -> CSR:
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


def _columns_dot(pieces: int, columns: Sparse, W: Array, out: Doubles, threads: int) -> None:
    kernels.columns_dot(columns, W, out, pieces, threads)
