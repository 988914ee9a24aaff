"""Twins of scan.cpp: squared lengths of rows, and the first value that is no finite number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnaeus.kernels.reference.matrix import Matrix, stored


def row_squares(rows: Matrix, threads: int) -> NDArray[np.float64]:
    """||x_i||^2 of each row (n,), summed in float64 in the order of the columns."""
    del threads
    row, _, values = stored(rows, "row_squares")
    return np.bincount(row, weights=values * values, minlength=max(len(rows[0]) - 1, 0)).astype(np.float64)


def first_unfinite(values: NDArray[np.floating[Any]], threads: int) -> int:
    """Where the first NaN or infinity stands; -1 where there is none."""
    del threads
    bad = ~np.isfinite(values)
    return int(bad.argmax()) if bad.any() else -1
