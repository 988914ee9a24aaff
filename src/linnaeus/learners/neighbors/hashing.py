"""Approximate search by locality-sensitive hashing: only rows in the same bucket of some table are compared."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import CSR, Dense
from linnaeus.arrays.present import present
from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.neighbors.exact import ExactIndex, asked
from linnaeus.learners.neighbors.signatures import drawn_bits, drawn_planes, least_columns, refuse_sizes, sides

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from linnaeus.types import Doubles, Ints, Longs, Words64

BATCH = 512
"""Queries in one kernel call."""
KEPT = 1 << 24
"""Largest number of plane coefficients kept in memory, 64 MB; beyond it they are drawn again when needed."""


@dataclass(frozen=True, kw_only=True)
class Hyperplanes:
    """Hashing by random hyperplanes: a bucket is the sides of `bits` hyperplanes, in each of `tables` tables.

    Two rows at an angle t lie on the same side of a hyperplane with probability 1 - t / pi. They share a bucket in some
    table with probability

        1 - (1 - (1 - t / pi)^bits)^tables

    (Charikar 2002). More bits make buckets smaller and the search faster; more tables find more neighbors. If the
    buckets of a query hold too few rows, the search for it is exact. For the metric cosine. The hyperplanes are drawn
    from the random seed.

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
        """Restore the buckets from a file; every row number is checked."""
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
    """MinHash: a bucket is the first feature of a row in each of `bits` random orders, in each of `tables` tables.

    Two rows have the same first feature with probability J, their Jaccard similarity: the number of features in both,
    divided by the number in either. They share a bucket in some table with probability 1 - (1 - J^bits)^tables (Broder
    1997). The buckets depend on which features a row has, not on their values; rows that share a bucket are compared by
    the metric. For sparse rows.

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
        """Restore the buckets from a file; every row number is checked."""
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
        raise damaged("its buckets contain rows that do not exist")
    return HashIndex(rows, metric, how, int(seed[0]), (keys, order))


@dataclass(frozen=True, eq=False)
class HashIndex:
    """Rows, and for each table the sorted bucket keys (tables, n) and the rows in that order."""

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
        """Rows near each row of X (n, count), nearest first, and their scores."""
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
        """The start and end of the buckets of each row of X (n, tables), as positions in the rows of all tables."""
        keys = self.buckets[0]
        found = list(zip(keys, self.how.keys(X, self.seed, self._cache).T, strict=True))
        firsts = np.arange(len(keys)) * keys.shape[1]
        starts, ends = (
            np.stack([np.searchsorted(table, key, side) for table, key in found], axis=1) + firsts
            for side in ("left", "right")
        )
        return starts, ends

    def state(self) -> dict[str, NDArray[Any]]:
        """The buckets and the random seed."""
        return {"keys": self.buckets[0], "order": self.buckets[1], "seed": np.array([self.seed], np.uint64)}

    def __getstate__(self) -> tuple[Any, ...]:
        return self.rows, self.metric, self.how, self.seed, self.buckets

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__dict__.update(zip(("rows", "metric", "how", "seed", "buckets"), state, strict=True))
