"""Hash signatures of rows: sides of random hyperplanes, and first features in random orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import UsageError, expect
from linnaeus.kernels.hashes import GOLDEN, scramble

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.arrays import CSR
    from linnaeus.types import Doubles, Floats, Words64

COLUMNS = 1 << 12
"""Columns in one block of drawn hyperplanes."""


def refuse_sizes(bits: int, tables: int, most: int) -> None:
    """Refuse numbers of bits and tables that are out of range."""
    for name, value, limit in (("bits", bits, most), ("tables", tables, 1024)):
        expect(name, value, int)
        if not 1 <= value <= limit:
            raise UsageError(f"{name} must be a whole number from 1 to {limit:,}, not {value}.")


def drawn_bits(seed: int, count: int, start: int = 0) -> Words64:
    """64 random bits for each counter from `start` on."""
    with np.errstate(over="ignore"):
        counters = np.arange(start + 1, start + count + 1, dtype=np.uint64) * GOLDEN
        found: Words64 = scramble(scramble(np.uint64(seed) + GOLDEN) + counters)
    return found


def drawn_rows(seed: int, rows: NDArray[np.integer[Any]], count: int) -> Words64:
    """The bits of `count` counters for each of these rows; row r starts at counter r count.

    >>> bool((drawn_rows(5, np.array([2]), 3) == drawn_bits(5, 9)[6:]).all())
    True
    """
    with np.errstate(over="ignore"):
        counters = rows.astype(np.uint64)[:, None] * np.uint64(count) + np.arange(1, count + 1, dtype=np.uint64)
        found: Words64 = scramble(scramble(np.uint64(seed) + GOLDEN) + counters * GOLDEN)
    return found


def drawn_planes(columns: NDArray[np.integer[Any]], count: int, seed: int) -> Floats:
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
    found: Words64 = (yes << np.arange(bits, dtype=np.uint64)).sum(axis=2, dtype=np.uint64)
    return found


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
