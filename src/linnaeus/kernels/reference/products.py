"""Twins of rows_dot.cpp and rows_tdot.cpp: sparse rows times a block of classes, and the transpose of that."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnaeus.kernels.reference.matrix import Matrix, stored


def rows_dot(rows: Matrix, weights: NDArray[np.floating[Any]], out: NDArray[np.float64], threads: int) -> None:
    """X W into `out` (n, k); each sum in float64, over the columns of a row in order: bincount adds in order too."""
    del threads
    row, columns, values = stored(rows, "rows_dot")
    n = max(len(rows[0]) - 1, 0)
    if out.shape != (n, weights.shape[1]):
        raise ValueError("rows_dot: the result does not fit the rows and the weights")
    if len(columns) and out.shape[1] and not 0 <= columns.min() <= columns.max() < len(weights):
        raise ValueError("rows_dot: a column is outside the weights")
    for c in range(out.shape[1]):
        out[:, c] = np.bincount(row, values * weights[columns, c].astype(np.float64), n)


def rows_tdot(rows: Matrix, factors: NDArray[np.floating[Any]], out: NDArray[np.float64], threads: int) -> None:
    """X.T D into `out` (d, k); each sum in float64, over the rows in order."""
    del threads
    row, columns, values = stored(rows, "rows_tdot")
    d = len(out)
    if factors.shape != (max(len(rows[0]) - 1, 0), out.shape[1]) or d > 2**31:
        raise ValueError("rows_tdot: the result does not fit the rows and the factors")
    if len(columns) and out.shape[1] and not 0 <= columns.min() <= columns.max() < d:
        raise ValueError("rows_tdot: a column is outside the result")
    for c in range(out.shape[1]):
        out[:, c] = np.bincount(columns, values * factors[row, c].astype(np.float64), d)
