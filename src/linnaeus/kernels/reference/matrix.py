"""A sparse matrix by rows as the twins see it: every stored value with its row and column."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | NDArray[np.float64]]
"""Offsets (n+1), columns and values."""


def stored(rows: Matrix, who: str) -> tuple[NDArray[np.intp], NDArray[np.int32], NDArray[np.float64]]:
    """Row, column and value of everything stored, where the offsets fit."""
    indptr, columns, values = rows
    begin, end = (int(indptr[0]), int(indptr[-1])) if len(indptr) > 1 else (0, 0)
    if begin < 0 or end > min(len(columns), len(values)) or (np.diff(indptr) < 0).any():
        raise ValueError(f"{who}: the offsets do not fit the values")
    sizes: NDArray[Any] = np.diff(indptr)
    return np.repeat(np.arange(len(sizes)), sizes), columns[begin:end], values[begin:end].astype(np.float64)
