"""Twins of dense.cpp: dense rows times a block of classes, and the transpose of that, with every sum in order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def dense_dot(
    rows: NDArray[np.floating[Any]], weights: NDArray[np.floating[Any]], out: NDArray[np.float64], threads: int
) -> None:
    """X W into `out` (n, k), one column of X after the other."""
    del threads
    if len(weights) != rows.shape[1] or out.shape != (len(rows), weights.shape[1]):
        raise ValueError("dense_dot: the result does not fit the rows and the weights")
    _add_outer(rows.T, weights, out)


def dense_tdot(
    rows: NDArray[np.floating[Any]], factors: NDArray[np.floating[Any]], out: NDArray[np.float64], threads: int
) -> None:
    """X.T D into `out` (d, k), one row of X after the other."""
    del threads
    if len(factors) != len(rows) or out.shape != (rows.shape[1], factors.shape[1]):
        raise ValueError("dense_tdot: the result does not fit the rows and the factors")
    _add_outer(rows, factors, out)


def _add_outer(left: NDArray[Any], right: NDArray[Any], out: NDArray[np.float64]) -> None:
    out[:] = 0
    for a, b in zip(left, right, strict=True):
        out += a.astype(np.float64)[:, None] * b.astype(np.float64)
