"""Dense weighted Gram matrices of rows, for solvers of small problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays.csr import CSR

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles

BLOCK = 1 << 22
"""Entries in one block of unpacked rows."""


def gram(X: Rows, weights: Doubles) -> Doubles:
    """X' diag(weights) X  (d, d).

    >>> from linnaeus.arrays import CSR
    >>> X = CSR(np.array([0, 1, 3]), np.array([0, 0, 1], np.int32), np.array([1.0, 2.0, 3.0]), 2)
    >>> gram(X, np.array([1.0, 2.0])).tolist()
    [[9.0, 12.0], [12.0, 18.0]]
    """
    if isinstance(X, CSR):
        S: Any = X.to_scipy().astype(np.float64)
        return np.asarray((S.T @ S.multiply(weights[:, None]).tocsr()).toarray())
    n, d = X.shape
    total, unit, size = np.zeros((d, d)), np.eye(d), max(1, BLOCK // max(1, d))
    for start in range(0, n, size):
        rows = np.arange(start, min(n, start + size))
        D = np.asarray(X.take(rows).dot(unit), dtype=np.float64)
        total += D.T @ (D * weights[rows][:, None])
    return total


def outer(X: Rows) -> Doubles:
    """X X'  (n, n)."""
    if isinstance(X, CSR):
        S: Any = X.to_scipy().astype(np.float64)
        return np.asarray((S @ S.T).toarray())
    D = X.dot(np.eye(X.shape[1]))
    product: Doubles = D @ D.T
    return product
