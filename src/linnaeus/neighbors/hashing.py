"""Search by hashing: near rows likely fall into the same bucket of some table, and only these are compared."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import CSR, Dense
from linnaeus.arrays.present import present
from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.neighbors.exact import ExactIndex, asked
from linnaeus.neighbors.signatures import drawn_bits, drawn_planes, least_columns, refuse_sizes, sides

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from linnaeus.types import Doubles, Ints, Longs, Words64

BATCH = 512
"""Queries of one call of a kernel."""
KEPT = 1 << 24
"""Numbers of planes that are kept, 64 MB; of more, those for the columns of some rows are drawn when needed."""


@dataclass(frozen=True, kw_only=True)
class Hyperplanes:
    """Buckets by the side of random hyperplanes on which a row lies, `bits` of them in each of `tables`.

    Two rows at an angle t lie on the same side of one with chance 1 - t / pi, so in the same bucket of some table with

        1 - (1 - (1 - t / pi)^bits)^tables

    (Charikar 2002). More bits make buckets smaller and the search quicker, more tables find more. A query with fewer
    rows in its buckets than are wanted is searched exactly. For the cosine; drawn from the seed.

    >>> rng = np.random.default_rng(0)
    >>> X = Dense(rng.normal(size=(500, 8)))
    >>> Hyperplanes(bits=4).index(X, "cosine", 0).near(X.rows_slice(7, 8), 1)[0].tolist()
    [[7]]
    """

    bits: int = 12
    tables: int = 16

    def __post_init__(self) -> None:
        refuse_sizes(self.bits, self.tables, 62)

    def index(self, rows: CSR | Dense, metric: str, seed: int) -> HashIndex:
        """The buckets of all rows."""
        return _hashed(rows, metric, self, seed)

    def restore(self, tensors: Mapping[str, NDArray[Any]], rows: CSR | Dense, metric: str) -> HashIndex:
        """The buckets of a file, each of their rows checked."""
        return _restored(tensors, rows, metric, self)

    def keys(self, X: CSR | Dense, seed: int, cache: dict[str, Any]) -> Words64:
        """The bucket of each row in each table (n, tables)."""
        count = self.bits * self.tables
        if isinstance(X, CSR) and X.width * count > KEPT:
            columns, own = present(X)
            return sides(own.dot(drawn_planes(columns, count, seed)), self.bits)
        if "planes" not in cache:
            cache["planes"] = drawn_planes(np.arange(X.shape[1]), count, seed)
        return sides(X.dot(cache["planes"]), self.bits)


@dataclass(frozen=True, kw_only=True)
class MinHash:
    """Buckets by the features that come first in random orders, `bits` orders in each of `tables`.

    Two rows have the same first feature with chance J, the features of both over those of either (Jaccard's
    similarity), so the same bucket in some table with 1 - (1 - J^bits)^tables (Broder 1997). It looks at which features
    a row has, not at their values; those that share a bucket are compared by the metric. For sparse rows.

    >>> X = Dense((np.random.default_rng(0).random((500, 30)) < 0.3).astype(float))
    >>> MinHash(bits=1).index(X, "cosine", 0).near(X.rows_slice(7, 8), 1)[0].tolist()
    [[7]]
    """

    bits: int = 2
    tables: int = 32

    def __post_init__(self) -> None:
        refuse_sizes(self.bits, self.tables, 16)

    def index(self, rows: CSR | Dense, metric: str, seed: int) -> HashIndex:
        """The buckets of all rows."""
        return _hashed(rows, metric, self, seed)

    def restore(self, tensors: Mapping[str, NDArray[Any]], rows: CSR | Dense, metric: str) -> HashIndex:
        """The buckets of a file, each of their rows checked."""
        return _restored(tensors, rows, metric, self)

    def keys(self, X: CSR | Dense, seed: int, cache: dict[str, Any]) -> Words64:
        """The bucket of each row in each table (n, tables)."""
        orders = drawn_bits(seed, 2 * self.bits * self.tables).reshape(2, self.tables, self.bits)
        return least_columns(X.to_csr() if isinstance(X, Dense) else X, orders)


def _hashed(rows: CSR | Dense, metric: str, how: Hyperplanes | MinHash, seed: int) -> HashIndex:
    keys = how.keys(rows, seed, {})
    order = np.argsort(keys, axis=0, kind="stable").astype(np.int32)
    keys = np.take_along_axis(keys, order, axis=0)
    return HashIndex(rows, metric, how, seed, (np.ascontiguousarray(keys.T), np.ascontiguousarray(order.T)))


def _restored(
    tensors: Mapping[str, NDArray[Any]], rows: CSR | Dense, metric: str, how: Hyperplanes | MinHash
) -> HashIndex:
    keys, order, seed = tensors["keys"], tensors["order"], tensors["seed"]
    fits = keys.shape == order.shape == (how.tables, len(rows)) and seed.shape == (1,)
    fits = fits and keys.dtype == np.uint64 and order.dtype == np.int32 and seed.dtype == np.uint64
    if not fits or not 0 <= order.min() <= order.max() < len(rows) or (keys[:, 1:] < keys[:, :-1]).any():
        raise damaged("its buckets lead out of its rows")
    return HashIndex(rows, metric, how, int(seed[0]), (keys, order))


@dataclass(frozen=True, eq=False)
class HashIndex:
    """Rows, and for each table the sorted keys of their buckets (tables, n) and the rows in that order."""

    rows: CSR | Dense
    metric: str
    how: Hyperplanes | MinHash
    seed: int
    buckets: tuple[Words64, Ints]

    @cached_property
    def _cache(self) -> dict[str, Any]:
        return {}

    @cached_property
    def _exact(self) -> ExactIndex:
        return ExactIndex(self.rows, self.metric)

    def near(self, X: CSR | Dense, count: int) -> tuple[Ints, Doubles]:
        """Near rows to each row of X (n, count), nearest first, and how near they are."""
        found = [self._batch(X.rows_slice(at, at + BATCH), count) for at in range(0, len(X), BATCH)]
        if not found:
            return np.zeros((0, count), np.int32), np.zeros((0, count))
        rows, scores = zip(*found, strict=True)
        return np.concatenate(rows), np.concatenate(scores)

    def _batch(self, X: CSR | Dense, count: int) -> tuple[Ints, Doubles]:
        search = getattr(self._exact._kernel, f"{self.metric}_among")
        among = *self.stretches(X), self.buckets[1].reshape(-1)
        rows, scores = search(asked(X, self.rows), among, count, kernels.thread_count())
        rows, scores = rows.reshape(-1, count), scores.reshape(-1, count)
        scores = -np.sqrt(-scores) if self.metric == "euclidean" else scores
        few = np.flatnonzero(rows[:, -1] < 0)
        if len(few):
            rows[few], scores[few] = self._exact.near(X.take(few), count)
        return rows, scores

    def stretches(self, X: CSR | Dense) -> tuple[Longs, Longs]:
        """Where the buckets of each row of X begin and end (n, tables), in the rows of all tables."""
        keys = self.buckets[0]
        found = list(zip(keys, self.how.keys(X, self.seed, self._cache).T, strict=True))
        firsts = np.arange(len(keys)) * keys.shape[1]
        starts, ends = (
            np.stack([np.searchsorted(table, key, side) for table, key in found], axis=1) + firsts
            for side in ("left", "right")
        )
        return starts, ends

    def state(self) -> dict[str, NDArray[Any]]:
        """The buckets, and what they were drawn from."""
        return {"keys": self.buckets[0], "order": self.buckets[1], "seed": np.array([self.seed], np.uint64)}

    def __getstate__(self) -> tuple[Any, ...]:
        return self.rows, self.metric, self.how, self.seed, self.buckets

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__dict__.update(zip(("rows", "metric", "how", "seed", "buckets"), state, strict=True))
