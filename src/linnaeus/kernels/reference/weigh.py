"""Twin of weigh.cpp: counts to values, in place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def weigh(
    rows: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]],
    table: NDArray[np.float32],
    weights: NDArray[np.float32],
    length: int,
    threads: int,
) -> None:
    """Rows are offsets, columns and values: sign * table[count] * weights[column], then L1 (1) or L2 (2) length one."""
    del threads
    indptr, indices, data = rows
    if length not in (0, 1, 2):
        raise ValueError("weigh: length is 0, 1 or 2")
    begin, end = (int(indptr[0]), int(indptr[-1])) if len(indptr) else (0, 0)
    if begin < 0 or end > min(len(indices), len(data)) or (np.diff(indptr) < 0).any():
        raise ValueError("weigh: the offsets do not fit the values")
    values = data[begin:end].astype(np.float64)
    if len(table):
        values = _look_up(values, table)
    if len(weights):
        columns = indices[begin:end]
        if ((columns < 0) | (columns >= len(weights))).any():
            raise ValueError("weigh: a column has no weight")
        values = values * weights[columns].astype(np.float64)
    if length:
        values = values * _inverse_lengths(values, np.diff(indptr), length)
    data[begin:end] = values.astype(np.float32)


def _look_up(values: NDArray[np.float64], table: NDArray[np.float32]) -> NDArray[np.float64]:
    counts = np.abs(values)
    if not (counts < len(table)).all():
        raise ValueError("weigh: a count is not in the table")
    return np.copysign(table[counts.astype(np.int64)].astype(np.float64), values)


def _inverse_lengths(values: NDArray[np.float64], sizes: NDArray[np.int64], length: int) -> NDArray[np.float64]:
    """The inverse length of its row for each value, summed in four lanes: bincount adds in order too."""
    rows = np.repeat(np.arange(len(sizes)), sizes)
    lanes = (np.arange(len(values)) - np.repeat(np.cumsum(sizes) - sizes, sizes)) % 4
    terms = np.abs(values) if length == 1 else values * values
    sums = np.bincount(4 * rows + lanes, weights=terms, minlength=4 * len(sizes)).reshape(-1, 4)
    found = (sums[:, 0] + sums[:, 1]) + (sums[:, 2] + sums[:, 3])
    found = found if length == 1 else np.sqrt(found)
    with np.errstate(divide="ignore", over="ignore"):
        inverse: NDArray[np.float64] = np.where(found == 0, 1.0, 1.0 / found)[rows]
    return inverse
