"""Twins of the kernels of matrices and vectors: products, transposes, sums in order, and soft maxima of rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from linnaeus.kernels.reference.rows import Rows, check_offsets, misfit, outside, refuse, row_of, stored
from linnaeus.types import AnyFloats, Array, Doubles, Floats, Ints, Longs, groups, offsets_of


def rows_dot(rows: Rows, weights: AnyFloats, out: Doubles, _threads: int) -> None:
    """X W into `out` (n, k); each sum in float64, over the columns of a row in order: bincount adds in order too."""
    row, columns, values = stored(rows, "rows_dot")
    n = max(len(rows[0]) - 1, 0)
    refuse(out.shape != (n, weights.shape[1]), "rows_dot: the result does not fit the rows and the weights")
    refuse(out.size and outside(columns, len(weights)), "rows_dot: a column is outside the weights")
    for c in range(out.shape[1]):
        out[:, c] = np.bincount(row, values * weights[columns, c].astype(np.float64), n)


def rows_tdot(rows: Rows, factors: AnyFloats, out: Doubles, _threads: int) -> None:
    """X.T D into `out` (d, k); each sum in float64, over the rows in order."""
    row, columns, values = stored(rows, "rows_tdot")
    d = len(out)
    if factors.shape != (max(len(rows[0]) - 1, 0), out.shape[1]) or d > 2**31:
        raise ValueError("rows_tdot: the result does not fit the rows and the factors")
    refuse(out.shape[1] and outside(columns, d), "rows_tdot: a column is outside the result")
    for c in range(out.shape[1]):
        out[:, c] = np.bincount(columns, values * factors[row, c].astype(np.float64), d)


def columns_dot(columns: Rows, weights: AnyFloats, out: Doubles, pieces: int, _threads: int) -> None:
    """X W into `out` (n, k), for X by columns: each sum over the columns of a piece in order, then over the pieces."""
    column, rows, values = stored(columns, "columns_dot")
    offsets, d, n = columns[0], max(len(columns[0]) - 1, 0), len(out)
    refuse(weights.shape != (d, out.shape[1]), "columns_dot: the result does not fit the columns and the weights")
    refuse(not 1 <= pieces <= 1024, "columns_dot: not 1 to 1024 pieces")
    refuse(out.shape[1] and outside(rows, n), "columns_dot: a row is outside the result")
    wanted = len(rows) // pieces * np.arange(1, pieces) + (offsets[0] if d else 0)
    cuts = np.concatenate([[0], np.searchsorted(offsets[:d], wanted), [d]])
    out[:] = 0.0
    for first, last in pairwise(cuts):
        inside = (column >= first) & (column < last)
        for c in range(out.shape[1]):
            factors = weights[column[inside], c].astype(np.float64)
            out[:, c] += np.bincount(rows[inside], values[inside] * factors, n)


def dense_dot(rows: AnyFloats, weights: AnyFloats, out: AnyFloats, _threads: int) -> None:
    """X W into `out` (n, k), one column of X after the other; in float32 if all three are, else in float64."""
    if len(weights) != rows.shape[1] or out.shape != (len(rows), weights.shape[1]):
        raise ValueError("dense_dot: the result does not fit the rows and the weights")
    _add_outer(rows.T, weights, out)


def dense_tdot(rows: AnyFloats, factors: AnyFloats, out: Doubles, _threads: int) -> None:
    """X.T D into `out` (d, k), one row of X after the other."""
    if len(factors) != len(rows) or out.shape != (rows.shape[1], factors.shape[1]):
        raise ValueError("dense_tdot: the result does not fit the rows and the factors")
    _add_outer(rows, factors, out)


def _add_outer(left: Array, right: Array, out: AnyFloats) -> None:
    out[:] = 0
    for a, b in zip(left, right, strict=True):
        out += a.astype(out.dtype)[:, None] * b.astype(out.dtype)


def transpose(rows: Rows, width: int, _threads: int) -> Rows:
    """The columns of a matrix given by rows, each with its rows in order."""
    row, columns, _ = stored(rows, "transpose")
    refuse(width < 0, "transpose: the width is negative")
    refuse(outside(columns, width), "transpose: an index is not below the width")
    order = np.argsort(columns, kind="stable")
    values = rows[2][rows[0][0] : rows[0][-1]] if len(rows[0]) else rows[2][:0]
    return offsets_of(np.bincount(columns, minlength=width)), row[order].astype(np.int32), values[order]


def gather_rows(blocks: list[Rows], chosen: Longs, shifts: Longs, _threads: int) -> Rows:
    """These rows of several matrices, side by side; so much is added to the columns of each."""
    refuse(len(shifts) != len(blocks), "gather_rows: give a shift for each block")
    for block in blocks:
        check_offsets(block, "gather_rows")
        refuse(outside(chosen, len(block[0]) - 1), "gather_rows: a row is not there")
    refuse(outside(shifts, 2**31), "gather_rows: a shift is out of range")
    counts = np.stack([np.diff(block[0])[chosen] for block in blocks], axis=1)  # (m, blocks)
    begins, offsets = offsets_of(counts.ravel())[:-1].reshape(counts.shape), offsets_of(counts.sum(axis=1))
    indices, data = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], blocks[0][2].dtype)
    for b, (indptr, columns, values) in enumerate(blocks):
        own, source, _ = groups(indptr, chosen)
        at = np.repeat(begins[:, b] - own[:-1], counts[:, b]) + np.arange(len(source))
        indices[at], data[at] = columns[source] + np.int32(shifts[b]), values[source]
    return offsets, indices, data


def correlate(columns: Rows, vector: Doubles, _threads: int) -> Doubles:
    """The inner product of each column with the vector."""
    column, rows, values = stored(columns, "correlate")
    refuse(outside(rows, len(vector)), "correlate: an index is not in the vector")
    return np.bincount(column, values * vector[rows], max(len(columns[0]) - 1, 0)).astype(np.float64)


def fold_columns(rows: Rows, width: int, _threads: int) -> tuple[Longs, Ints, Floats, Ints, Ints]:
    """The rows with equal columns as one of sqrt(m) times their values; for each column its number, and m."""
    row, columns, _ = stored(rows, "fold_columns")
    refuse(not 0 <= width < 2**31, "fold_columns: no such size")
    refuse(outside(columns, width), "fold_columns: a column is outside the rows")
    values = rows[2][rows[0][0] : rows[0][-1]] if len(rows[0]) else rows[2][:0]
    cells = np.stack([row.astype(np.uint64), values.view(np.uint32).astype(np.uint64)], axis=1)
    held: dict[bytes, int] = {}
    places, order = np.full(width, -1, np.int32), np.lexsort((cells[:, 1], row, columns))
    bounds = np.searchsorted(columns[order], np.arange(width + 1))
    kept = np.zeros(width, bool)
    for j, (a, b) in enumerate(pairwise(bounds.tolist())):
        if a < b:
            key = cells[order[a:b]].tobytes()
            kept[j] = key not in held
            places[j] = held.setdefault(key, len(held))
    sizes = np.bincount(places[places >= 0], minlength=len(held))
    some = kept[columns]
    factors = np.sqrt(sizes[places[columns[some]]]).astype(np.float32)
    offsets = offsets_of(np.bincount(row[some], minlength=max(len(rows[0]) - 1, 0)))
    counts = np.where(places >= 0, sizes[places] if len(sizes) else 0, 0).astype(np.int32)
    return offsets, places[columns[some]], values[some] * factors, places, counts


def correlate_block(columns: Rows, vectors: Doubles, m: int, _threads: int) -> Doubles:
    """The inner products of each column with m vectors, which lie row by row; vector by vector."""
    column, rows, values = stored(columns, "correlate_block")
    refuse(m < 1 or len(vectors) % m, "correlate_block: not m vectors of one length")
    block, d = vectors.reshape(-1, m), max(len(columns[0]) - 1, 0)
    refuse(outside(rows, len(block)), "correlate_block: an index is not in the vectors")
    return np.concatenate([np.bincount(column, values * block[rows, c], d) for c in range(m)])


def combine(columns: Rows, picked: Ints, times: Doubles, total: Doubles) -> None:
    """The picked columns, each times a number, summed."""
    refuse(len(times) != len(picked), "combine: not one number for each picked column")
    sides = pick(columns, picked, len(total), "combine")
    total[:] = 0.0
    for (rows, values), number in zip(sides, times, strict=True):
        np.add.at(total, rows, number * values)


def pick(columns: Rows, picked: Ints, n: int, kernel: str) -> list[tuple[Ints, Doubles]]:
    """Rows and values of each picked column."""
    check_offsets(columns, kernel)
    refuse(outside(picked, len(columns[0]) - 1), f"{kernel}: a picked column is not in the matrix")
    sides = [row_of(columns, j) for j in picked]
    refuse(any(outside(rows, n) for rows, _ in sides), f"{kernel}: an index has no row")
    return [(rows, values.astype(np.float64)) for rows, values in sides]


def row_squares(rows: Rows, _threads: int) -> Doubles:
    """||x_i||^2 of each row (n,), summed in float64 in the order of the columns."""
    row, _, values = stored(rows, "row_squares")
    return np.bincount(row, weights=values * values, minlength=max(len(rows[0]) - 1, 0)).astype(np.float64)


def first_unfinite(values: AnyFloats, _threads: int) -> int:
    """Where the first NaN or infinity stands; -1 where there is none."""
    bad = ~np.isfinite(values)
    return int(bad.argmax()) if bad.any() else -1


def column_order(indptr: Longs, indices: Ints, width: int, _threads: int) -> int:
    """How columns stand: 2 ascending in every row, 1 out of order or named twice, 0 where offsets or columns misfit."""
    if not len(indptr) or indptr[0] != 0 or misfit(indptr, len(indices)) or not 0 <= width < 2**31:
        return 0
    used = indices[: indptr[-1]]
    if outside(used, width):
        return 0
    back = np.diff(used) <= 0
    firsts = indptr[1:-1]
    back[firsts[(firsts > 0) & (firsts < len(used))] - 1] = False
    return 1 if back.any() else 2


PIECE, LANES = 8192, 16


def inner(lefts: Sequence[Doubles], rights: Sequence[Doubles], _threads: int) -> Doubles:
    """The inner product of each left vector with each right one, row by row (a b)."""
    _refuse_lengths("inner", len(lefts[0]) if lefts else 0, [*lefts, *rights])
    return np.array([_dot(left, right) for left in lefts for right in rights], np.float64)


def blend(vectors: Sequence[Doubles], times: Doubles, out: Doubles, _threads: int) -> None:
    """Out becomes sum_i times_i vector_i, added in this order; it may be one of the vectors."""
    _refuse_lengths("blend", len(out), vectors)
    refuse(len(times) != len(vectors), "blend: not one number for each vector")
    total = times[0] * vectors[0] if len(vectors) else np.zeros(len(out))
    for factor, vector in zip(times[1:], vectors[1:], strict=True):
        total += factor * vector
    out[:] = total


def add_multiple(vector: Doubles, times: float, total: Doubles, _threads: int) -> float:
    """Adds times vector to `total`; the squared length of the vector."""
    _refuse_lengths("add_multiple", len(vector), [total])
    total += times * vector
    return _dot(vector, vector)


def _dot(a: Doubles, b: Doubles) -> float:
    """Pieces one after the other, each summed in lanes."""
    total = 0.0
    for start in range(0, len(a), PIECE):
        products = a[start : start + PIECE] * b[start : start + PIECE]
        total += float(fold_lanes(products[np.newaxis])[0])
    return total


def fold_lanes(terms: AnyFloats) -> Array:
    """The sum of each row (m,): value i goes to lane i mod 16, and the lanes are added in halves."""
    m, d = terms.shape
    whole = np.zeros((m, -(-d // LANES) * LANES), terms.dtype)
    whole[:, :d] = terms
    sums = np.zeros((m, LANES), terms.dtype)
    for at in range(0, whole.shape[1], LANES):
        sums += whole[:, at : at + LANES]
    while sums.shape[1] > 1:
        half = sums.shape[1] // 2
        sums = sums[:, :half] + sums[:, half:]
    return sums[:, 0]


def _refuse_lengths(who: str, n: int, vectors: Sequence[Doubles]) -> None:
    refuse(any(len(vector) != n for vector in vectors), f"{who}: vectors of different lengths")


def soft_rows(scores: Doubles, parts: Doubles, values: Doubles, _threads: int) -> None:
    """Log sum e^s of each row into `values` (n,), the softmax into `parts` (n, k)."""
    if parts.shape != scores.shape or values.shape != scores.shape[:1]:
        raise ValueError("soft_rows: the results do not fit the scores")
    refuse(scores.shape[0] and not scores.shape[1], "soft_rows: no classes")
    if not len(scores):
        return
    high = scores.max(axis=1, keepdims=True)
    np.exp(scores - high, out=parts)
    total = parts.sum(axis=1, keepdims=True)
    parts /= total
    values[:] = (high + np.log(total))[:, 0]
