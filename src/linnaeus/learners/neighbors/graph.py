"""Approximate search in a graph of near rows (HNSW): a greedy walk from row to nearer row."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import CSR, Dense
from linnaeus.errors import damaged, expect_within
from linnaeus.frozen import dataclass
from linnaeus.learners.base import to_dense
from linnaeus.learners.neighbors.exact import BatchedIndex, as_dense, by_rows
from linnaeus.learners.neighbors.hashing import drawn_bits
from linnaeus.types import Array, Arrays, Doubles, Floats, Ints, Longs

Layers = tuple[Ints, Longs, Ints, Ints]


HIGHEST = 32
"""Layers above the first; the kernel supports up to 64."""
SHARE, BATCH = 32, 512
"""Batch size when rows are added: one row for this many rows in the graph, and a maximum."""


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Approximate search in a layered graph whose links connect near rows (HNSW, Malkov and Yashunin 2018).

    A row has up to 2 `links` neighbors in the lowest layer and `links` in the layers above, found by a walk that keeps
    the `build` nearest rows. A query keeps the `walk` nearest rows: a larger value is slower and finds more of the true
    neighbors. Query time grows with the logarithm of the number of rows. Most of the nearest rows are found, but not
    always all. Rows are added in order, in batches that see the graph before the batch, and the layers are drawn from
    the random seed: the graph is the same on every run and for any number of threads. Rows must be dense and are kept
    in float32; the graph is stored with them. The inner product is not a distance, so the search finds fewer of the
    true neighbors with it.

    >>> rng = np.random.default_rng(0)
    >>> X = Dense(rng.normal(size=(500, 8)))
    >>> index = Graph(links=8).index(X, "euclidean", seed=0)
    >>> index.near(X.rows_slice(7, 8), 1)[0].tolist()
    [[7]]
    """

    links: int = 16
    build: int = 200
    walk: int = 100

    def __post_init__(self) -> None:
        expect_within("links", self.links, int, "[2, 512]")
        expect_within("build", self.build, int, "[1, 1000000]")
        expect_within("walk", self.walk, int, "[1, 1000000]")

    def index(self, rows: CSR | Dense, metric: str, seed: int) -> GraphIndex:
        """Draw the layers and link the rows."""
        values = as_dense(rows, "Graph").values.astype(np.float32)
        scales, layers = _scales(values, metric), _empty(len(values), self.links, seed)
        grow = kernels.graph_grow_squared if metric == "euclidean" else kernels.graph_grow_dot
        at = 1
        while at < len(values):
            to = min(len(values), at + max(1, min(at // SHARE, BATCH)))
            grow(values, scales, layers, (at, to), self.build, kernels.thread_count())
            at = to
        return GraphIndex(Dense(values), metric, scales, layers, self.walk)

    def restore(self, tensors: Mapping[str, Array], rows: CSR | Dense, metric: str) -> GraphIndex:
        """Restore the graph from a file; every number is checked."""
        if not isinstance(rows, Dense) or rows.values.dtype != np.float32:
            raise damaged("the rows of its graph have another type")
        layers = tensors["levels"], tensors["offsets"], tensors["links"], tensors["uppers"]
        _check(layers, len(rows), self.links)
        scales = tensors.get("scales", np.ones(len(rows), np.float32))
        if scales.shape != (len(rows),) or scales.dtype != np.float32 or not np.isfinite(scales).all():
            raise damaged("the lengths of the rows of its graph are missing")
        return GraphIndex(rows, metric, scales, layers, self.walk)


@dataclass(frozen=True, eq=False)
class GraphIndex(BatchedIndex):
    """Rows, the factors of their inner products, and the graph: levels, offsets, links, and links of upper layers."""

    rows: Dense
    metric: str
    scales: Floats
    layers: Layers
    walk: int

    def _batch(self, X: CSR | Dense, count: int) -> tuple[Ints, Doubles]:
        queries = to_dense(X)
        singles = queries.astype(np.float32)
        search = kernels.graph_near_squared if self.metric == "euclidean" else kernels.graph_near_dot
        asked = singles, np.ones(len(singles), np.float32)
        wanted = count, max(count, self.walk)
        vectors: Floats = self.rows.values.astype(np.float32, copy=False)
        found, _ = search(vectors, self.scales, self.layers, asked, wanted, kernels.thread_count())
        return by_rows(self.rows, self.metric, queries, found.reshape(-1, count))

    def state(self) -> Arrays:
        """The graph, and the factors of inner products if the metric is the cosine."""
        levels, offsets, links, uppers = self.layers
        found: Arrays = {"levels": levels, "offsets": offsets, "links": links, "uppers": uppers}
        return found | {"scales": self.scales} if self.metric == "cosine" else found


def _scales(values: Floats, metric: str) -> Floats:
    """The inverse length of each row for the cosine; ones for other metrics."""
    if metric != "cosine":
        return np.ones(len(values), np.float32)
    lengths = np.sqrt(Dense(values).squares())
    return np.where(lengths > 0, 1.0 / np.where(lengths > 0, lengths, 1.0), 0.0).astype(np.float32)


def _empty(n: int, links: int, seed: int) -> Layers:
    """Arrays of a graph without links. A row is in layer l with probability links^-l."""
    uniform = (drawn_bits(seed, n) >> np.uint64(11)) * 2.0**-53
    levels = np.zeros(n, np.int32)
    for layer in range(1, HIGHEST + 1):
        levels += uniform < float(links) ** -layer
    offsets = (np.cumsum(levels, dtype=np.int64) - levels) * (1 + links)
    uppers = np.zeros(int(levels.sum()) * (1 + links), np.int32)
    return levels, offsets, np.zeros((n, 1 + 2 * links), np.int32), uppers


def _check(layers: Layers, n: int, links: int) -> None:
    """Refuse a graph with links outside its arrays."""
    levels, offsets, lowest, uppers = layers
    fits = levels.shape == offsets.shape == (n,) and lowest.shape == (n, 1 + 2 * links) and uppers.ndim == 1
    fits = fits and all(part.dtype == np.int32 for part in (levels, lowest, uppers)) and offsets.dtype == np.int64
    fits = fits and bool(0 <= levels.min() <= levels.max() <= HIGHEST)
    fits = fits and np.array_equal(offsets, (np.cumsum(levels, dtype=np.int64) - levels) * (1 + links))
    fits = fits and len(uppers) == int(levels.sum()) * (1 + links)
    for lists in (lowest, uppers.reshape(-1, 1 + links)) if fits else ():
        most = lists.shape[1] - 1
        fits = fits and (not lists.size or bool(0 <= lists[:, 0].min() <= lists[:, 0].max() <= most))
        fits = fits and (not lists.size or bool(0 <= lists[:, 1:].min() <= lists[:, 1:].max() < n))
    if not fits:
        raise damaged("its graph links to rows that do not exist")
