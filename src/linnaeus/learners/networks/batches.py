"""The inputs of networks, from sparse rows: made with NumPy, without work for each word."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.types import Arrays, Longs, groups

MAX_NUMBERS = 1 << 24
"""Numbers of an encoder that are computed at a time."""


def word_batch(X: CSR, rows: Longs) -> Arrays:
    """The words of some rows in their order: `ids` (n, places), and `sizes` (n,).

    >>> X = CSR(np.array([0, 2, 3]), np.array([4, 1, 7], np.int32), np.ones(3), 9)
    >>> word_batch(X, np.array([1, 0]))["ids"].tolist()
    [[7, 0], [4, 1]]
    """
    sizes = X.indptr[rows + 1] - X.indptr[rows]
    places = np.arange(max(1, int(sizes.max(initial=0))))
    there = places < sizes[:, None]
    ids = np.zeros(there.shape, np.int64)
    ids[there] = X.indices[(X.indptr[rows][:, None] + places)[there]]
    return {"ids": ids, "sizes": sizes}


def row_batch(X: CSR, rows: Longs) -> Arrays:
    """Some sparse rows: `offsets` (n+1,), `ids` and `values`."""
    offsets, at, _ = groups(X.indptr, rows)
    return {"offsets": offsets, "ids": X.indices[at].astype(np.int64), "values": X.data[at].astype(np.float32)}


def of_one_length(X: CSR, numbers: int) -> Iterator[Longs]:
    """Rows with equally many words, in pieces with at most so many words together; all rows appear once.

    Rows of one length need no padding, so what stands beside a row cannot matter.
    """
    sizes = np.diff(X.indptr)
    order = np.argsort(sizes, kind="stable")
    cuts = np.flatnonzero(np.diff(sizes[order])) + 1
    for same in np.split(order, cuts):
        if len(same):
            step = max(1, numbers // max(1, int(sizes[same[0]])))
            yield from (same[at : at + step] for at in range(0, len(same), step))
