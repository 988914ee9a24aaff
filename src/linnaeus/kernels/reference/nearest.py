"""Twins of nearest.cpp, graph_grow.cpp and graph_near.cpp: the nearest rows to each query, exactly and by a graph.

Exact sums go over the columns in order, in float64. The graph of near rows has layers, is grown by batches and walked.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from linnaeus.kernels.reference.matrices import fold_lanes
from linnaeus.kernels.reference.rows import Rows, outside, refuse, stored
from linnaeus.types import Array, Doubles, Floats, Ints, Longs

Answer: TypeAlias = tuple[Ints, Doubles]
Search: TypeAlias = Callable[[Rows | Doubles, int, int], Answer]
Among: TypeAlias = tuple[Longs, Longs, Ints]
"""Candidates of query i: rows[starts[i, t] : ends[i, t]] for each t; what is no row is left out."""
Score: TypeAlias = Callable[[Doubles, Longs, Array], Doubles]
"""The scores of all rows, for a query, the columns that it stores and those of the rows."""
Layers: TypeAlias = tuple[Ints, Longs, Ints, Ints]
"""Levels (n), offsets (n) of the lists above layer 0, links (n, 1 + w) of layer 0, and those above."""
Point: TypeAlias = tuple[float, int]
"""A gap and a row."""
Target: TypeAlias = tuple[Floats, np.float32]
"""A vector and its scale."""
Gaps: TypeAlias = Callable[[Target, Floats, Floats], Floats]


FEW = 1 << 16
"""Columns up to which a query is laid out with all of them, however few are in use."""


class Nearest:
    """Searches rows (n, d), sparse with their columns in order or dense, for those with the best scores.

    Each method takes queries of the same kind in float64 and gives rows and scores (m * count), best first, of equals
    the lowest row.
    """

    def __init__(self, rows: Rows | Array, width: int) -> None:
        """Rows and their width d."""
        self._width, self._sparse = width, isinstance(rows, tuple)
        self._row, self._column, self._value, self._count = _entries(rows, width)
        self._lengths = np.sqrt(np.bincount(self._row, self._value * self._value, self._count))

    def inner(self, queries: Rows | Doubles, count: int, _threads: int) -> Answer:
        """sum_j q_j x_j, over the columns in order."""
        return self._best(queries, count, lambda q, _stored, own: self._dot(q, own))

    def cosine(self, queries: Rows | Doubles, count: int, _threads: int) -> Answer:
        """The same over |q| |x|, within -1 and 1; 0 where a length is 0."""

        def score(q: Doubles, stored: Longs, own: Array) -> Doubles:
            squares = q[stored] * q[stored]
            length = float(np.sqrt(np.cumsum(squares)[-1])) if len(stored) else 0.0
            lengths = length * self._lengths
            whole = np.where(lengths > 0, lengths, 1.0)
            return np.where(lengths > 0, np.clip(self._dot(q, own) / whole, -1.0, 1.0), 0.0)

        return self._best(queries, count, score)

    def euclidean(self, queries: Rows | Doubles, count: int, _threads: int) -> Answer:
        """-sum_j (q_j - x_j)^2, over the columns in order."""

        def score(q: Doubles, stored: Longs, own: Array) -> Doubles:
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

    def inner_among(self, queries: Rows | Doubles, among: Among, count: int, _threads: int) -> Answer:
        """The same among the candidates of each query; -1 and 0 where there are fewer."""
        return self._among(self.inner, queries, among, count)

    def cosine_among(self, queries: Rows | Doubles, among: Among, count: int, _threads: int) -> Answer:
        """The same by cosine."""
        return self._among(self.cosine, queries, among, count)

    def euclidean_among(self, queries: Rows | Doubles, among: Among, count: int, _threads: int) -> Answer:
        """The same by distance."""
        return self._among(self.euclidean, queries, among, count)

    def _among(self, search: Search, queries: Rows | Doubles, among: Among, count: int) -> Answer:
        """All rows in their order, and of these the candidates."""
        refuse(not 1 <= count <= self._count, "Nearest: not so many rows")
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

    def _dot(self, q: Doubles, own: Array) -> Doubles:
        """Sums over what is stored in these columns, row after row; bincount adds in order."""
        return np.bincount(self._row, self._value * q[own], self._count).astype(np.float64)

    def _best(self, queries: Rows | Doubles, count: int, score: Score) -> Answer:
        if isinstance(queries, tuple) != self._sparse:
            raise ValueError("Nearest: queries are sparse where the rows are, and dense where they are")
        refuse(not 1 <= count <= self._count, "Nearest: not so many rows")
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

    def _laid_out(self, asked: Array) -> tuple[Array, Longs, int]:
        """The columns of the rows and of a query; numbered anew where there are far more than are in use."""
        if self._width <= FEW + 4 * len(self._column):
            return self._column, asked.astype(np.intp), self._width
        used = np.unique(np.concatenate([self._column, asked]))
        return np.searchsorted(used, self._column), np.searchsorted(used, asked), len(used)


def _entries(rows: Rows | Array, width: int) -> tuple[Longs, Array, Doubles, int]:
    """Row, column and value of each number, and how many rows there are."""
    if isinstance(rows, tuple):
        row, column, value = stored(rows, "Nearest")
        n = max(len(rows[0]) - 1, 0)
    else:
        refuse(rows.shape[1] != width, "Nearest: the rows do not have this width")
        n = len(rows)
        row, column = np.divmod(np.arange(rows.size), max(width, 1))
        value = rows.reshape(-1).astype(np.float64)
    refuse(outside(column, width), "Nearest: a column is not below the width")
    refuse(not np.isfinite(value).all(), "Nearest: a value is not finite")
    return row, column, value, n


HIGHEST = 64
"""Layers above layer 0."""


def _squared(target: Target, b: Floats, _t: Floats) -> Floats:
    return fold_lanes((target[0] - b) * (target[0] - b))


def _dot(target: Target, b: Floats, t: Floats) -> Floats:
    return -(fold_lanes(target[0] * b) * target[1] * t)


class _Graph:
    """The arrays, and the graph of the first `size` rows."""

    def __init__(self, vectors: Floats, scales: Floats, layers: Layers, gaps: Gaps) -> None:
        self.vectors, self.scales, self.gaps = vectors, scales, gaps
        self.levels, self.offsets, self.links, self.uppers = layers
        self.size = self.entry = 0
        n = len(vectors)
        if {len(scales), len(self.levels), len(self.offsets), len(self.links)} != {n} or self.links.shape[1] < 3:
            raise ValueError("graph: the arrays do not fit each other")
        refuse(outside(self.levels, HIGHEST + 1), "graph: a level is out of range")
        self.width = int(self.links.shape[1]) - 1

    def begin(self, size: int) -> None:
        self.size, self.entry = size, int(self.levels[:size].argmax())

    def most(self, layer: int) -> int:
        return self.width // 2 if layer else self.width

    def links_of(self, row: int, layer: int) -> Array | None:
        if not layer:
            return self.links[row]
        each, at = 1 + self.width // 2, int(self.offsets[row])
        at += (layer - 1) * each
        if layer > self.levels[row] or self.offsets[row] < 0 or at + each > len(self.uppers):
            return None
        return self.uppers[at : at + each]

    def near(self, row: int, layer: int) -> list[int]:
        """What the list of a row holds, as far as it lies inside."""
        found = self.links_of(row, layer)
        if found is None:
            return []
        return [int(other) for other in found[1 : 1 + min(max(int(found[0]), 0), self.most(layer))]]

    def points(self, target: Target, rows: list[int]) -> list[Point]:
        found = self.gaps(target, self.vectors[rows], self.scales[rows])
        return [(float(gap), row) for gap, row in zip(found, rows, strict=True)]

    def row(self, row: int) -> Target:
        return self.vectors[row], self.scales[row]

    def walk(self, target: Target, beam: list[Point], layer: int, ef: int) -> list[Point]:
        """The `ef` nearest points to the target that a greedy walk from the beam on finds."""
        seen, done = {row for _, row in beam}, set[int]()
        while any(row not in done for _, row in beam):
            here = next(row for _, row in beam if row not in done)
            done.add(here)
            fresh = [row for row in dict.fromkeys(self.near(here, layer)) if 0 <= row < self.size and row not in seen]
            seen.update(fresh)
            for point in self.points(target, fresh) if fresh else []:
                if len(beam) < ef or point < beam[-1]:
                    del beam[ef - 1 :]
                    insort(beam, point)
        return beam

    def descend(self, target: Target, layer: int) -> list[Point]:
        beam = self.points(target, [self.entry])
        for above in range(int(self.levels[self.entry]), layer, -1):
            beam = self.walk(target, beam, above, 1)
        return beam

    def apart(self, points: list[Point], most: int) -> list[Point]:
        """The points, in order, that are nearer to the target than to any point already kept."""
        kept: list[Point] = []
        for gap, row in points:
            others = self.points(self.row(row), [other for _, other in kept]) if kept else []
            if len(kept) < most and not any(other < gap for other, _ in others):
                kept.append((gap, row))
        return kept

    def write(self, row: int, layer: int, points: list[int]) -> None:
        found = self.links_of(row, layer)
        if found is not None:
            found[0] = len(points)
            found[1 : 1 + len(points)] = points

    def link(self, row: int, ef: int) -> None:
        layer = min(int(self.levels[self.entry]), int(self.levels[row]))
        beam = self.descend(self.row(row), layer)
        for below in range(layer, -1, -1):
            beam = self.walk(self.row(row), beam, below, ef)
            self.write(row, below, [other for _, other in self.apart(beam, self.width // 2)])

    def link_back(self, layer: int, row: int, sources: list[int]) -> None:
        there = [*self.near(row, layer), *sources]
        if len(there) > self.most(layer):
            points = sorted(self.points(self.row(row), [other for other in there if 0 <= other < len(self.vectors)]))
            there = [other for _, other in self.apart(points, self.most(layer))]
        self.write(row, layer, there)


def _grow(
    gaps: Gaps, vectors: Floats, scales: Floats, layers: Layers, batch: tuple[int, int], ef: int, _threads: int
) -> None:
    """Add a batch of rows to the graph: they link themselves, and are linked to."""
    graph, (first, last) = _Graph(vectors, scales, layers, gaps), batch
    refuse(not 1 <= first <= last <= len(graph.vectors) or ef < 1, "graph: the batch does not fit the rows")
    graph.begin(first)
    for row in range(first, last):
        graph.link(row, ef)
    backs: dict[tuple[int, int], list[int]] = {}
    for row in range(first, last):
        for layer in range(int(graph.levels[row]) + 1):
            for other in graph.near(row, layer):
                if 0 <= other < first:
                    backs.setdefault((layer, other), []).append(row)
    for (layer, row), sources in backs.items():
        graph.link_back(layer, row, sources)


def _near(
    gaps: Gaps,
    vectors: Floats,
    scales: Floats,
    layers: Layers,
    queries: tuple[Floats, Floats],
    wanted: tuple[int, int],
    _threads: int,
) -> tuple[Ints, Floats]:
    """Rows near to each query (m * count) and their gaps; -1 and 0 where fewer were found."""
    graph, (count, ef) = _Graph(vectors, scales, layers, gaps), wanted
    if queries[0].shape[1] != vectors.shape[1] or len(queries[0]) != len(queries[1]) or not len(vectors):
        raise ValueError("graph: the queries do not fit the rows")
    refuse(not 1 <= count <= ef < 2**31, "graph: not so many rows")
    graph.begin(len(vectors))
    rows, found = np.full((len(queries[0]), count), -1, np.int32), np.zeros((len(queries[0]), count), np.float32)
    for i, target in enumerate(zip(*queries, strict=True)):
        beam = graph.walk(target, graph.descend(target, 0), 0, ef)[:count]
        rows[i, : len(beam)] = [row for _, row in beam]
        found[i, : len(beam)] = [gap for gap, _ in beam]
    return rows.reshape(-1), found.reshape(-1)


graph_grow_squared, graph_near_squared = partial(_grow, _squared), partial(_near, _squared)
"""By squared distances."""

graph_grow_dot, graph_near_dot = partial(_grow, _dot), partial(_near, _dot)
"""By minus the scaled products."""
