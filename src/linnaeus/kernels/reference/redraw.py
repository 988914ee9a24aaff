"""Twin of `native/redraw.cpp`: how often each kind of row is drawn."""

from __future__ import annotations

import numpy as np

from linnaeus.kernels.hashes import GOLDEN, scramble
from linnaeus.kernels.reference.rows import outside, refuse
from linnaeus.types import Doubles, Ints

HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def draw_rows(key: int, rounds: tuple[int, int], kinds: Ints, out: Doubles, _threads: int) -> None:
    """Rounds first, first + 1, ... of drawing n rows from n: adds to `out` (count * cells,) how often each kind came.

    >>> counts = np.zeros(6)
    >>> draw_rows(7, (0, 2), np.array([0, 1, 2, 2], np.int32), counts, 1)
    >>> counts.reshape(2, 3).sum(axis=1).tolist()
    [4.0, 4.0]
    """
    first, count = rounds
    n, cells = len(kinds), len(out) // count if count else 0
    refuse(cells * count != len(out), "draw_rows: the counts do not fit the rounds")
    refuse(outside(kinds, cells), "draw_rows: a kind has no count")
    counters = np.arange(1, (n + 1) // 2 + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for r in range(count):
            state = scramble(np.uint64(key) + np.uint64(first + r + 1) * GOLDEN)
            mixed = scramble(state + counters * GOLDEN)
            halves = np.stack([mixed >> HALF, mixed & LOW], axis=1).reshape(-1)[:n]
            rows = (halves * np.uint64(n)) >> HALF
            out[r * cells : (r + 1) * cells] += np.bincount(kinds[rows.astype(np.int64)], minlength=cells)
