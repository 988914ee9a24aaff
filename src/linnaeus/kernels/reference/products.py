"""Twins of rows_dot.cpp, rows_tdot.cpp, columns_dot.cpp: sparse rows or columns times a block, and their transposes."""

from __future__ import annotations

from itertools import pairwise
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


def columns_dot(
    columns: Matrix, weights: NDArray[np.floating[Any]], out: NDArray[np.float64], pieces: int, threads: int
) -> None:
    """X W into `out` (n, k), for X by columns: each sum over the columns of a piece in order, then over the pieces."""
    del threads
    column, rows, values = stored(columns, "columns_dot")
    offsets, d, n = columns[0], max(len(columns[0]) - 1, 0), len(out)
    if weights.shape != (d, out.shape[1]):
        raise ValueError("columns_dot: the result does not fit the columns and the weights")
    if not 1 <= pieces <= 1024:
        raise ValueError("columns_dot: not 1 to 1024 pieces")
    if len(rows) and out.shape[1] and not 0 <= rows.min() <= rows.max() < n:
        raise ValueError("columns_dot: a row is outside the result")
    wanted = len(rows) // pieces * np.arange(1, pieces) + (offsets[0] if d else 0)
    cuts = np.concatenate([[0], np.searchsorted(offsets[:d], wanted), [d]])
    out[:] = 0.0
    for first, last in pairwise(cuts):
        inside = (column >= first) & (column < last)
        for c in range(out.shape[1]):
            factors = weights[column[inside], c].astype(np.float64)
            out[:, c] += np.bincount(rows[inside], values[inside] * factors, n)
