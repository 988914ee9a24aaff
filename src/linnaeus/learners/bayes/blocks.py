"""Rows as dense blocks of bounded size, for models that need all pairs of features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.errors import UsageError

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles

CELLS = 1 << 20
"""Numbers in one block."""
MOST = 1 << 27
"""Largest total size of the covariances, in numbers: one gigabyte."""


def blocks(X: Rows) -> Iterator[tuple[int, Doubles]]:
    """Blocks of rows as float64 (m, d), each with the index of its first row.

    >>> [(start, B.shape) for start, B in blocks(Dense(np.zeros((3, 2))))]
    [(0, (3, 2))]
    """
    n, d = X.shape
    step = max(1, CELLS // max(1, d))
    for start in range(0, n, step):
        yield start, _filled(X.rows_slice(start, min(n, start + step)))


def _filled(X: Rows) -> Doubles:
    if isinstance(X, Dense):
        return X.values.astype(np.float64)
    if not isinstance(X, CSR):
        return X.dot(np.eye(X.shape[1]))
    B = np.zeros(X.shape)
    B[np.repeat(np.arange(len(X)), np.diff(X.indptr)), X.indices[: X.nnz]] = X.data[: X.nnz]
    return B


def refuse_wide(name: str, d: int, matrices: int) -> None:
    """Refuse this many matrices (d, d) if they would not fit in memory."""
    if matrices * d * d > MOST:
        raise UsageError(
            f"{name} needs the covariances of {d:,} features, which is too much memory; reduce the features: "
            "features=Reduced(Words(...), width=100)."
        )
