"""Rows restricted to the columns in use, so that memory depends on the stored values, not on the width.

Hashed rows may have 2^30 columns but use only a few hundred.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.csr import CSR

if TYPE_CHECKING:
    from linnaeus.types import Ints


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
    counts = np.zeros(len(there) + 1, np.int64)
    np.cumsum(there, out=counts[1:])
    return CSR(counts[X.indptr], places[there].astype(np.int32), X.data[: X.nnz][there], len(columns))
