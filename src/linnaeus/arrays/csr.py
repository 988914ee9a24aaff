"""Compressed sparse rows: int64 offsets, int32 columns sorted and unique within a row, float32 values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linnaeus.errors import UsageError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True, slots=True)
class CSR:
    """A sparse matrix (n, d): row i has `indices[indptr[i]:indptr[i+1]]` with `data` beside it.

    >>> X = CSR(np.array([0, 1, 3]), np.array([2, 0, 1], np.int32), np.array([1, 2, 3], np.float32), 4)
    >>> X.dot(np.eye(4)[:, :2]).tolist()
    [[0.0, 0.0], [2.0, 3.0]]
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]
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

    def dot(self, W: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """X @ W  (n, k)."""
        product: NDArray[np.floating[Any]] = self.to_scipy() @ W
        return product

    def tdot(self, D: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """X.T @ D  (d, k)."""
        product: NDArray[np.floating[Any]] = self.to_scipy().T @ D
        return product

    def take(self, rows: NDArray[np.integer[Any]]) -> CSR:
        """These rows, in this order."""
        counts = np.diff(self.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(counts, out=indptr[1:])
        source = np.repeat(self.indptr[rows] - indptr[:-1], counts) + np.arange(indptr[-1])
        return CSR(indptr, self.indices[source], self.data[source], self.width)

    def to_scipy(self) -> csr_matrix:
        """The same matrix for SciPy and scikit-learn; the arrays are shared, not copied."""
        from scipy.sparse import csr_matrix

        # SciPy wants one integer type for both: the narrow one where it reaches, or every product copies the columns.
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
    counts = np.stack([np.diff(b.indptr) for b in blocks], axis=1)  # (n, blocks)
    ends = np.cumsum(counts.ravel()).reshape(counts.shape)
    total = int(ends[-1, -1]) if len(ends) else 0
    indices, data = np.empty(total, np.int32), np.empty(total, np.float32)
    shift = 0
    for b, block in enumerate(blocks):
        at = np.repeat(ends[:, b] - counts[:, b] - block.indptr[:-1], counts[:, b]) + np.arange(block.nnz)
        indices[at] = block.indices + shift
        data[at] = block.data
        shift += block.width
    indptr = np.zeros(len(counts) + 1, np.int64)
    indptr[1:] = ends[:, -1] if len(ends) else 0
    return CSR(indptr, indices, data, shift)
