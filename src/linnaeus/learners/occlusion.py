"""Rows that lack a feature: the score minus that without a feature is its approximate effect in any model."""

from __future__ import annotations

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.types import offsets_of


def without_each(X: CSR, row: int) -> CSR:
    """One row for each feature of a row: the row without it.

    >>> X = CSR(np.array([0, 2]), np.array([0, 3], np.int32), np.array([5.0, 7.0]), 4)
    >>> without_each(X, 0).to_scipy().toarray().tolist()
    [[0.0, 0.0, 0.0, 7.0], [5.0, 0.0, 0.0, 0.0]]
    """
    own = slice(int(X.indptr[row]), int(X.indptr[row + 1]))
    f = own.stop - own.start
    at = own.start + np.broadcast_to(np.arange(f), (f, f))[~np.eye(f, dtype=bool)]
    return CSR(offsets_of([f - 1] * f), X.indices[at], X.data[at], X.width)
