"""Twins of the kernels of matrices and vectors: products, transposes, sums in order, and soft maxima of rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from linnaeus.types import Array

    Doubles: TypeAlias = NDArray[np.float64]

Matrix: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | NDArray[np.float64]]
"""Offsets (n+1), columns and values."""


def stored(rows: Matrix, who: str) -> tuple[NDArray[np.intp], NDArray[np.int32], NDArray[np.float64]]:
    """Row, column and value of everything stored, where the offsets fit."""
    indptr, columns, values = rows
    begin, end = (int(indptr[0]), int(indptr[-1])) if len(indptr) > 1 else (0, 0)
    if begin < 0 or end > min(len(columns), len(values)) or (np.diff(indptr) < 0).any():
        raise ValueError(f"{who}: the offsets do not fit the values")
    sizes: Array = np.diff(indptr)
    return np.repeat(np.arange(len(sizes)), sizes), columns[begin:end], values[begin:end].astype(np.float64)


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


def _add_outer(left: Array, right: Array, out: NDArray[np.float64]) -> None:
    out[:] = 0
    for a, b in zip(left, right, strict=True):
        out += a.astype(np.float64)[:, None] * b.astype(np.float64)


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


Vector: TypeAlias = NDArray[np.float64]

PIECE = 8192
LANES = 16


def inner(lefts: Sequence[Vector], rights: Sequence[Vector], threads: int) -> Vector:
    """The inner product of each left vector with each right one, row by row (a b)."""
    del threads
    _refuse_lengths("inner", len(lefts[0]) if lefts else 0, [*lefts, *rights])
    return np.array([_dot(left, right) for left in lefts for right in rights], np.float64)


def blend(vectors: Sequence[Vector], times: Vector, out: Vector, threads: int) -> None:
    """Out becomes sum_i times_i vector_i, added in this order; it may be one of the vectors."""
    del threads
    _refuse_lengths("blend", len(out), vectors)
    if len(times) != len(vectors):
        raise ValueError("blend: not one number for each vector")
    total = times[0] * vectors[0] if len(vectors) else np.zeros(len(out))
    for factor, vector in zip(times[1:], vectors[1:], strict=True):
        total += factor * vector
    out[:] = total


def add_multiple(vector: Vector, times: float, total: Vector, threads: int) -> float:
    """Adds times vector to `total`; the squared length of the vector."""
    del threads
    _refuse_lengths("add_multiple", len(vector), [total])
    total += times * vector
    return _dot(vector, vector)


def _dot(a: Vector, b: Vector) -> float:
    """Pieces one after the other; in a piece value i goes to lane i mod 16, and the lanes are folded in halves."""
    total = 0.0
    for start in range(0, len(a), PIECE):
        products = a[start : start + PIECE] * b[start : start + PIECE]
        lanes = np.zeros(LANES)
        for at in range(0, len(products), LANES):
            lanes[: len(products) - at] += products[at : at + LANES]
        while len(lanes) > 1:
            lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
        total += float(lanes[0])
    return total


def _refuse_lengths(who: str, n: int, vectors: Sequence[Vector]) -> None:
    if any(len(vector) != n for vector in vectors):
        raise ValueError(f"{who}: vectors of different lengths")


def soft_rows(
    scores: NDArray[np.float64], parts: NDArray[np.float64], values: NDArray[np.float64], threads: int
) -> None:
    """Log sum e^s of each row into `values` (n,), the softmax into `parts` (n, k)."""
    del threads
    if parts.shape != scores.shape or values.shape != scores.shape[:1]:
        raise ValueError("soft_rows: the results do not fit the scores")
    if scores.shape[0] and not scores.shape[1]:
        raise ValueError("soft_rows: no classes")
    if not len(scores):
        return
    high = scores.max(axis=1, keepdims=True)
    np.exp(scores - high, out=parts)
    total = parts.sum(axis=1, keepdims=True)
    parts /= total
    values[:] = (high + np.log(total))[:, 0]
