"""Inner products of all pairs of rows: sparse, dense, or one of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linnaeus import kernels
from linnaeus.errors import DataError

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Longs

    Sparse = tuple[Longs, NDArray[np.int32], NDArray[Any]]

CELLS = 1 << 22
"""Numbers in one block of unpacked rows and products."""
SPARSE = 1 << 16
"""Rows with up to this many columns may be unpacked completely; wider rows only if they are dense enough."""
FEW = 32
"""Up to this many sparse rows are unpacked; for more, SciPy is loaded, which uses only shared columns."""


def inner(A: Rows, B: Rows) -> Doubles:
    """A B'  (n, m); sums run over the columns in order, so the result does not depend on the blocks.

    >>> from linnaeus.arrays import Dense
    >>> inner(Dense(np.array([[1.0, 2.0]])), Dense(np.eye(2))).tolist()
    [[1.0, 2.0]]
    """
    if A.shape[1] != B.shape[1]:
        raise DataError(f"Rows of {A.shape[1]} features do not match rows of {B.shape[1]}; use the same features.")
    if A.shape[0] < B.shape[0]:
        return np.ascontiguousarray(inner(B, A).T)
    a, b = _arrays(A), _arrays(B)
    if a is not None and b is not None:
        return inner_sparse(a, b, A.shape[1])
    out = np.empty((A.shape[0], B.shape[0]))
    for start, stop in _cuts(B.shape[0], A.shape[1]):
        out[:, start:stop] = A.dot(_unpacked(B.rows_slice(start, stop)))
    return out


def inner_sparse(a: Sparse, b: Sparse, width: int) -> Doubles:
    """Inner products of rows given as offsets, columns and values; `b` has at most as many rows as `a`."""
    n, m = len(a[0]) - 1, len(b[0]) - 1
    if width > SPARSE + 4 * int(a[0][-1] - a[0][0] + b[0][-1] - b[0][0]):
        a, b, width = _shared(a, b)
    if m > FEW:
        return _by_scipy(a, b, width)
    out = np.empty((n, m))
    for start, stop in _cuts(m, width):
        part = np.empty((n, stop - start))
        kernels.rows_dot(a, _columns(b, (start, stop), width), part, kernels.thread_count())
        out[:, start:stop] = part
    return out


def _shared(a: Sparse, b: Sparse) -> tuple[Sparse, Sparse, int]:
    """The rows restricted to the columns of `b`; the others do not change a product."""
    columns = np.unique(b[1][int(b[0][0]) : int(b[0][-1])])
    return _only(a, columns), _only(b, columns), len(columns)


def _only(rows: Sparse, columns: NDArray[np.int32]) -> Sparse:
    offsets, indices, values = rows
    first, last = int(offsets[0]), int(offsets[-1])
    places = np.searchsorted(columns, indices[first:last])
    there = places < len(columns)
    there[there] = columns[places[there]] == indices[first:last][there]
    counts = np.zeros(last - first + 1, np.int64)
    np.cumsum(there, out=counts[1:])
    return counts[offsets - first], places[there].astype(np.int32), values[first:last][there]


def _by_scipy(a: Sparse, b: Sparse, width: int) -> Doubles:
    from scipy.sparse import csr_matrix

    def matrix(rows: Sparse) -> Any:
        offsets, columns, values = rows
        first, last = int(offsets[0]), int(offsets[-1])
        parts = values[first:last].astype(np.float64), columns[first:last], offsets - first
        return csr_matrix(parts, shape=(len(offsets) - 1, width))

    left, right = matrix(a), matrix(b).T.tocsr()
    out = np.empty((left.shape[0], right.shape[1]))
    for start, stop in _cuts(left.shape[0], right.shape[1]):
        (left[start:stop] @ right).toarray(out=out[start:stop])
    return out


def _cuts(rows: int, width: int) -> list[tuple[int, int]]:
    step = max(1, CELLS // max(1, width))
    return [(start, min(rows, start + step)) for start in range(0, rows, step)]


def _arrays(X: Any) -> Sparse | None:
    return (X.indptr, X.indices, X.data) if hasattr(X, "indptr") else None


def _unpacked(X: Any) -> Doubles:
    """The rows as columns (d, m), with their zeros."""
    sparse = _arrays(X)
    if sparse is None:
        return np.ascontiguousarray(X.values.T, np.float64)
    return _columns(sparse, (0, X.shape[0]), X.shape[1])


def _columns(rows: Sparse, part: tuple[int, int], width: int) -> Doubles:
    offsets, columns, values = rows
    first, last = int(offsets[part[0]]), int(offsets[part[1]])
    out = np.zeros((width, part[1] - part[0]))
    row = np.repeat(np.arange(out.shape[1]), np.diff(offsets[part[0] : part[1] + 1]))
    out[columns[first:last], row] = values[first:last]
    return out
