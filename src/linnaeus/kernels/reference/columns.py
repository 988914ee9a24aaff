"""Twins of transpose.cpp and correlate.cpp: sparse matrices by columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    Doubles: TypeAlias = NDArray[np.float64]
    Matrix: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.floating[Any]]]


def transpose(rows: Matrix, width: int, threads: int) -> Matrix:
    """The columns of a matrix given by rows, each with its rows in order."""
    del threads
    check_offsets(rows, "transpose")
    if width < 0:
        raise ValueError("transpose: the width is negative")
    indptr, indices, data = rows
    begin, end = (int(indptr[0]), int(indptr[-1])) if len(indptr) else (0, 0)
    inside = indices[begin:end]
    if ((inside < 0) | (inside >= width)).any():
        raise ValueError("transpose: an index is not below the width")
    order = np.argsort(inside, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(inside, minlength=width))]).astype(np.int64)
    numbers = np.repeat(np.arange(max(len(indptr) - 1, 0), dtype=np.int32), np.diff(indptr))
    return offsets, numbers[order], data[begin:end][order]


def gather_rows(blocks: list[Matrix], chosen: NDArray[np.int64], shifts: NDArray[np.int64], threads: int) -> Matrix:
    """These rows of several matrices, side by side; so much is added to the columns of each."""
    del threads
    if len(shifts) != len(blocks):
        raise ValueError("gather_rows: give a shift for each block")
    for block in blocks:
        check_offsets(block, "gather_rows")
        if ((chosen < 0) | (chosen >= max(len(block[0]) - 1, 0))).any():
            raise ValueError("gather_rows: a row is not there")
    if ((shifts < 0) | (shifts > np.iinfo(np.int32).max)).any():
        raise ValueError("gather_rows: a shift is out of range")
    counts = np.stack([np.diff(block[0])[chosen] for block in blocks], axis=1)  # (m, blocks)
    ends = np.cumsum(counts.ravel()).reshape(counts.shape)
    offsets = np.zeros(len(chosen) + 1, np.int64)
    offsets[1:] = ends[:, -1]
    indices, data = np.empty(int(offsets[-1]), np.int32), np.empty(int(offsets[-1]), blocks[0][2].dtype)
    for b, (indptr, columns, values) in enumerate(blocks):
        step = np.arange(int(counts[:, b].sum())) - np.repeat(np.cumsum(counts[:, b]) - counts[:, b], counts[:, b])
        source = np.repeat(indptr[:-1][chosen], counts[:, b]) + step
        at = np.repeat(ends[:, b] - counts[:, b], counts[:, b]) + step
        indices[at], data[at] = columns[source] + np.int32(shifts[b]), values[source]
    return offsets, indices, data


def correlate(columns: Matrix, vector: Doubles, threads: int) -> Doubles:
    """The inner product of each column with the vector."""
    del threads
    check_offsets(columns, "correlate")
    products = np.zeros(max(len(columns[0]) - 1, 0))
    for j in range(len(products)):
        rows, values = _column(columns, j, len(vector), "correlate: an index is not in the vector")
        products[j] = values @ vector[rows]
    return products


def correlate_block(columns: Matrix, vectors: Doubles, m: int, threads: int) -> Doubles:
    """The inner products of each column with m vectors, which lie row by row; vector by vector."""
    del threads
    check_offsets(columns, "correlate_block")
    if m < 1 or len(vectors) % m:
        raise ValueError("correlate_block: not m vectors of one length")
    block = vectors.reshape(-1, m)
    products = np.zeros((m, max(len(columns[0]) - 1, 0)))
    for j in range(products.shape[1]):
        rows, values = _column(columns, j, len(block), "correlate_block: an index is not in the vectors")
        products[:, j] = values @ block[rows]
    return products.ravel()


def combine(columns: Matrix, picked: NDArray[np.int32], times: Doubles, total: Doubles) -> None:
    """The picked columns, each times a number, summed."""
    check_offsets(columns, "combine")
    if len(times) != len(picked):
        raise ValueError("combine: not one number for each picked column")
    sides = pick(columns, picked, len(total), "combine")
    total[:] = 0.0
    for (rows, values), number in zip(sides, times, strict=True):
        np.add.at(total, rows, number * values)


def check_offsets(matrix: Matrix, kernel: str) -> None:
    """Offsets rise, and end within the values."""
    offsets, indices, values = matrix
    if len(offsets) and (
        offsets[0] < 0 or (np.diff(offsets) < 0).any() or offsets[-1] > min(len(indices), len(values))
    ):
        raise ValueError(f"{kernel}: the offsets do not fit the values")


def _column(columns: Matrix, j: int, n: int, sentence: str) -> tuple[NDArray[np.int32], Doubles]:
    begin, end = columns[0][j], columns[0][j + 1]
    rows = columns[1][begin:end]
    if ((rows < 0) | (rows >= n)).any():
        raise ValueError(sentence)
    return rows, columns[2][begin:end].astype(np.float64)


def pick(columns: Matrix, picked: NDArray[np.int32], n: int, kernel: str) -> list[tuple[NDArray[np.int32], Doubles]]:
    """Rows and values of each picked column."""
    if ((picked < 0) | (picked >= len(columns[0]) - 1)).any():
        raise ValueError(f"{kernel}: a picked column is not in the matrix")
    return [_column(columns, int(j), n, f"{kernel}: an index has no row") for j in picked]
