"""Twins of scan.cpp: squared lengths of rows, the first value that is no finite number, whether columns ascend."""

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


def column_order(indptr: NDArray[np.int64], indices: NDArray[np.int32], width: int, threads: int) -> int:
    """How columns stand: 2 ascending in every row, 1 out of order or named twice, 0 where offsets or columns misfit."""
    del threads
    fits = len(indptr) > 0 and indptr[0] == 0 and 0 <= width < 2**31 and not (np.diff(indptr) < 0).any()
    if not fits or indptr[-1] > len(indices):
        return 0
    used = indices[: indptr[-1]]
    if len(used) and (used.min() < 0 or used.max() >= width):
        return 0
    back = np.diff(used) <= 0
    firsts = indptr[1:-1]
    back[firsts[(firsts > 0) & (firsts < len(used))] - 1] = False
    return 1 if back.any() else 2
