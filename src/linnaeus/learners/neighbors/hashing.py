"""Search by hashing: rows that share a signature, of random hyperplanes or of the least columns (MinHash)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import CSR, Dense
from linnaeus.arrays.csr import present
from linnaeus.errors import damaged, expect_within
from linnaeus.frozen import dataclass
from linnaeus.kernels.hashes import GOLDEN, scramble
from linnaeus.learners.neighbors.exact import BatchedIndex, ExactIndex, asked, shaped
from linnaeus.types import AnyInts, Array, Arrays, Doubles, Floats, Ints, Longs, Words64

Planes = dict[str, Floats]


COLUMNS = 1 << 12
"""Columns in one block of drawn hyperplanes."""


def drawn_bits(seed: int, count: int, start: int = 0) -> Words64:
    """64 random bits for each counter from `start` on."""
    with np.errstate(over="ignore"):
        counters = np.arange(start + 1, start + count + 1, dtype=np.uint64) * GOLDEN
        found: Words64 = scramble(scramble(np.uint64(seed) + GOLDEN) + counters)
    return found


def drawn_rows(seed: int, rows: AnyInts, count: int) -> Words64:
    """The bits of `count` counters for each of these rows; row r starts at counter r count.

    >>> bool((drawn_rows(5, np.array([2]), 3) == drawn_bits(5, 9)[6:]).all())
    True
    """
    with np.errstate(over="ignore"):
        counters = rows.astype(np.uint64)[:, None] * np.uint64(count) + np.arange(1, count + 1, dtype=np.uint64)
        found: Words64 = scramble(scramble(np.uint64(seed) + GOLDEN) + counters * GOLDEN)
    return found


def drawn_planes(columns: AnyInts, count: int, seed: int) -> Floats:
    """Coefficients of random hyperplanes in these columns (m, count): sums of four uniform numbers, nearly normal."""
    planes = np.zeros((len(columns), count), np.float32)
    for at in range(0, len(columns), COLUMNS):
        words = drawn_rows(seed, columns[at : at + COLUMNS], count)
        parts = [(words >> np.uint64(16 * part) & np.uint64(0xFFFF)).astype(np.int32) for part in range(4)]
        planes[at : at + COLUMNS] = np.sum(parts, axis=0) - 2 * 0xFFFF
    return planes


def sides(S: Doubles, bits: int) -> Words64:
    """The signs of products (n, tables * bits), `bits` at a time as one number (n, tables).

    >>> sides(np.array([[1.0, -1.0, 2.0, 3.0]]), 2).tolist()
    [[1, 3]]
    """
    yes = (S > 0).reshape(len(S), -1, bits).astype(np.uint64)
    return (yes << np.arange(bits, dtype=np.uint64)).sum(axis=2, dtype=np.uint64)


def least_columns(X: CSR, orders: Words64) -> Words64:
    """The first feature of each row in each order; those of one table are combined into one number (n, tables).

    An order is by a c + b modulo 2^64 for column c, with a odd (Dietzfelbinger 1996). A row without features has zero.
    """
    filled = np.diff(X.indptr) > 0
    starts, columns = X.indptr[:-1][filled], X.indices[: X.nnz].astype(np.uint64)
    factors, shifts = orders[0] | np.uint64(1), orders[1]
    keys = np.zeros((len(X), orders.shape[1]), np.uint64)
    with np.errstate(over="ignore"):
        for table in range(orders.shape[1] if len(starts) else 0):
            for a, b in zip(factors[table], shifts[table], strict=True):
                first = np.minimum.reduceat(columns * a + b, starts)
                keys[filled, table] = scramble(keys[filled, table] * GOLDEN + first)
    return keys


KEPT = 1 << 24
"""Largest number of plane coefficients kept in memory, 64 MB; beyond it they are drawn again when needed."""


class Hashing:
    """A search by hashing: rows that share one of `tables` buckets, each the size of `bits`, are compared."""

    most_bits: ClassVar[int]

    bits: int
    tables: int

    def __post_init__(self) -> None:
        expect_within("bits", self.bits, int, f"[1, {self.most_bits}]")
        expect_within("tables", self.tables, int, "[1, 1024]")

    @abstractmethod
    def keys(self, X: CSR | Dense, seed: int, planes: Planes) -> Words64:
        """The bucket of each row in each table (n, tables)."""

    def index(self, rows: CSR | Dense, metric: str, seed: int) -> HashIndex:
        """The buckets of all rows."""
        keys = self.keys(rows, seed, {})
        order = np.argsort(keys, axis=0, kind="stable").astype(np.int32)
        keys = np.take_along_axis(keys, order, axis=0)
        return HashIndex(rows, metric, self, seed, (np.ascontiguousarray(keys.T), np.ascontiguousarray(order.T)))

    def restore(self, tensors: Mapping[str, Array], rows: CSR | Dense, metric: str) -> HashIndex:
        """Restore the buckets from a file; every row number is checked."""
        keys, order, seed = tensors["keys"], tensors["order"], tensors["seed"]
        fits = keys.shape == order.shape == (self.tables, len(rows)) and seed.shape == (1,)
        fits = fits and keys.dtype == np.uint64 and order.dtype == np.int32 and seed.dtype == np.uint64
        if not fits or not 0 <= order.min() <= order.max() < len(rows) or (keys[:, 1:] < keys[:, :-1]).any():
            raise damaged("its buckets contain rows that do not exist")
        return HashIndex(rows, metric, self, int(seed[0]), (keys, order))


@dataclass(frozen=True, kw_only=True)
class Hyperplanes(Hashing):
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

    most_bits: ClassVar[int] = 62

    bits: int = 12
    tables: int = 16

    def keys(self, X: CSR | Dense, seed: int, planes: Planes) -> Words64:
        """The bucket of each row in each table (n, tables)."""
        count = self.bits * self.tables
        if isinstance(X, CSR) and X.width * count > KEPT:
            columns, own = present(X)
            return sides(own.dot(drawn_planes(columns, count, seed)), self.bits)
        if not planes:
            planes["drawn"] = drawn_planes(np.arange(X.shape[1]), count, seed)
        return sides(X.dot(planes["drawn"]), self.bits)


@dataclass(frozen=True, kw_only=True)
class MinHash(Hashing):
    """MinHash: a bucket is the first feature of a row in each of `bits` random orders, in each of `tables` tables.

    Two rows have the same first feature with probability J, their Jaccard similarity: the number of features in both,
    divided by the number in either. They share a bucket in some table with probability 1 - (1 - J^bits)^tables (Broder
    1997). The buckets depend on which features a row has, not on their values; rows that share a bucket are compared by
    the metric. For sparse rows.

    >>> X = Dense((np.random.default_rng(0).random((500, 30)) < 0.3).astype(float))
    >>> MinHash(bits=1).index(X, "cosine", 0).near(X.rows_slice(7, 8), 1)[0].tolist()
    [[7]]
    """

    most_bits: ClassVar[int] = 16

    bits: int = 2
    tables: int = 32

    def keys(self, X: CSR | Dense, seed: int, planes: Planes) -> Words64:
        """The bucket of each row in each table (n, tables)."""
        orders = drawn_bits(seed, 2 * self.bits * self.tables).reshape(2, self.tables, self.bits)
        return least_columns(X.to_csr(), orders)


@dataclass(frozen=True, eq=False)
class HashIndex(BatchedIndex):
    """Rows, and for each table the sorted bucket keys (tables, n) and the rows in that order."""

    batch: ClassVar[int] = 512

    rows: CSR | Dense
    metric: str
    how: Hashing
    seed: int
    buckets: tuple[Words64, Ints]

    @cached_property
    def _planes(self) -> Planes:
        return {}

    @cached_property
    def _exact(self) -> ExactIndex:
        return ExactIndex(self.rows, self.metric)

    def _batch(self, X: CSR | Dense, count: int) -> tuple[Ints, Doubles]:
        search = getattr(self._exact.kernel, f"{self.metric}_among")
        among = *self.stretches(X), self.buckets[1].reshape(-1)
        found = search(asked(X, self.rows), among, count, kernels.thread_count())
        rows, scores = shaped(found, count, self.metric)
        few = np.flatnonzero(rows[:, -1] < 0)
        if len(few):
            rows[few], scores[few] = self._exact.near(X.take(few), count)
        return rows, scores

    def stretches(self, X: CSR | Dense) -> tuple[Longs, Longs]:
        """The start and end of the buckets of each row of X (n, tables), as positions in the rows of all tables."""
        keys = self.buckets[0]
        found = list(zip(keys, self.how.keys(X, self.seed, self._planes).T, strict=True))
        firsts = np.arange(len(keys)) * keys.shape[1]
        starts, ends = (
            np.stack([np.searchsorted(table, key, side) for table, key in found], axis=1) + firsts
            for side in ("left", "right")
        )
        return starts, ends

    def state(self) -> Arrays:
        """The buckets and the random seed."""
        return {"keys": self.buckets[0], "order": self.buckets[1], "seed": np.array([self.seed], np.uint64)}
