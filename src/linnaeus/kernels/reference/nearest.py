"""Twin of nearest.cpp: the nearest rows to each query, by float64 sums over the columns in order."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnaeus.kernels.reference.matrix import Matrix, stored

Doubles: TypeAlias = NDArray[np.float64]
Among: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]
"""Candidates of query i: rows[starts[i, t] : ends[i, t]] for each t; what is no row is left out."""
Answer: TypeAlias = tuple[NDArray[np.int32], Doubles]

FEW = 1 << 16
"""Columns up to which a query is laid out with all of them, however few are in use."""


class Nearest:
    """Searches rows (n, d), sparse with their columns in order or dense, for those with the best scores.

    Each method takes queries of the same kind in float64 and gives rows and scores (m * count), best first, of equals
    the lowest row.
    """

    def __init__(self, rows: Matrix | NDArray[Any], width: int) -> None:
        """Rows and their width d."""
        self._width, self._sparse = width, isinstance(rows, tuple)
        self._row, self._column, self._value, self._count = _entries(rows, width)
        self._lengths = np.sqrt(np.bincount(self._row, self._value * self._value, self._count))

    def inner(self, queries: Matrix | Doubles, count: int, threads: int) -> Answer:
        """sum_j q_j x_j, over the columns in order."""
        return self._best(queries, count, lambda q, _stored, own: self._dot(q, own))

    def cosine(self, queries: Matrix | Doubles, count: int, threads: int) -> Answer:
        """The same over |q| |x|, within -1 and 1; 0 where a length is 0."""

        def score(q: Doubles, stored: NDArray[np.intp], own: NDArray[Any]) -> Doubles:
            squares = q[stored] * q[stored]
            length = float(np.sqrt(np.cumsum(squares)[-1])) if len(stored) else 0.0
            lengths = length * self._lengths
            whole = np.where(lengths > 0, lengths, 1.0)
            return np.where(lengths > 0, np.clip(self._dot(q, own) / whole, -1.0, 1.0), 0.0)

        return self._best(queries, count, score)

    def euclidean(self, queries: Matrix | Doubles, count: int, threads: int) -> Answer:
        """-sum_j (q_j - x_j)^2, over the columns in order."""

        def score(q: Doubles, stored: NDArray[np.intp], own: NDArray[Any]) -> Doubles:
            n = self._count
            row = np.concatenate([self._row, np.repeat(np.arange(n), len(stored))])
            column = np.concatenate([own, np.tile(stored, n)])
            gap = np.concatenate([q[own] - self._value, np.tile(q[stored], n)])
            order = np.lexsort([column, row])  # stable: what the row has comes before what only the query has
            row, column, gap = row[order], column[order], gap[order]
            first = np.ones(len(row), bool)
            first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
            return -np.bincount(row[first], gap[first] * gap[first], n).astype(np.float64)

        return self._best(queries, count, score)

    def inner_among(self, queries: Matrix | Doubles, among: Among, count: int, threads: int) -> Answer:
        """The same among the candidates of each query; -1 and 0 where there are fewer."""
        return self._among(self.inner, queries, among, count)

    def cosine_among(self, queries: Matrix | Doubles, among: Among, count: int, threads: int) -> Answer:
        """The same by cosine."""
        return self._among(self.cosine, queries, among, count)

    def euclidean_among(self, queries: Matrix | Doubles, among: Among, count: int, threads: int) -> Answer:
        """The same by distance."""
        return self._among(self.euclidean, queries, among, count)

    def _among(self, search: Any, queries: Matrix | Doubles, among: Among, count: int) -> Answer:
        """All rows in their order, and of these the candidates."""
        if not 1 <= count <= self._count:
            raise ValueError("Nearest: not so many rows")
        rows, scores = (part.reshape(-1, self._count) for part in search(queries, self._count, 1))
        starts, ends, named = among
        fits = starts.shape == ends.shape and len(starts) == len(rows)
        if not fits or (starts < 0).any() or (starts > ends).any() or (ends > len(named)).any():
            raise ValueError("Nearest: the candidates do not fit the queries")
        found, best = np.full((len(rows), count), -1, np.int32), np.zeros((len(rows), count))
        for i in range(len(rows)):
            candidates = [named[start:end] for start, end in zip(starts[i], ends[i], strict=True)]
            chosen = np.flatnonzero(np.isin(rows[i], np.concatenate([named[:0], *candidates])))[:count]
            found[i, : len(chosen)], best[i, : len(chosen)] = rows[i, chosen], scores[i, chosen]
        return found.reshape(-1), best.reshape(-1)

    def _dot(self, q: Doubles, own: NDArray[Any]) -> Doubles:
        """Sums over what is stored in these columns, row after row; bincount adds in order."""
        return np.bincount(self._row, self._value * q[own], self._count).astype(np.float64)

    def _best(self, queries: Matrix | Doubles, count: int, score: Any) -> Answer:
        if isinstance(queries, tuple) != self._sparse:
            raise ValueError("Nearest: queries are sparse where the rows are, and dense where they are")
        if not 1 <= count <= self._count:
            raise ValueError("Nearest: not so many rows")
        row, column, value, m = _entries(queries, self._width)
        cuts = np.searchsorted(row, np.arange(m + 1))
        rows, scores = np.zeros((m, count), np.int32), np.zeros((m, count))
        for i in range(m):
            inside = slice(cuts[i], cuts[i + 1])
            own, stored, width = self._laid_out(column[inside])
            q = np.zeros(width)
            q[stored] = value[inside]
            found = score(q, stored, own)
            rows[i] = np.lexsort([np.arange(self._count), -found])[:count]
            scores[i] = found[rows[i]]
        return rows.reshape(-1), scores.reshape(-1)

    def _laid_out(self, asked: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp], int]:
        """The columns of the rows and of a query; numbered anew where there are far more than are in use."""
        if self._width <= FEW + 4 * len(self._column):
            return self._column, asked.astype(np.intp), self._width
        used = np.unique(np.concatenate([self._column, asked]))
        return np.searchsorted(used, self._column), np.searchsorted(used, asked), len(used)


def _entries(rows: Matrix | NDArray[Any], width: int) -> tuple[NDArray[np.intp], NDArray[Any], Doubles, int]:
    """Row, column and value of each number, and how many rows there are."""
    if isinstance(rows, tuple):
        row, column, value = stored(rows, "Nearest")
        n = max(len(rows[0]) - 1, 0)
    else:
        if rows.shape[1] != width:
            raise ValueError("Nearest: the rows do not have this width")
        n = len(rows)
        row, column = np.divmod(np.arange(rows.size), max(width, 1))
        value = rows.reshape(-1).astype(np.float64)
    if len(column) and not 0 <= column.min() <= column.max() < width:
        raise ValueError("Nearest: a column is not below the width")
    if not np.isfinite(value).all():
        raise ValueError("Nearest: a value is not finite")
    return row, column, value, n
