"""The subsequence kernel: strings are similar if they share letters in the same order, with gaps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.similarities.letters import normalized, strings

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.similarities.letters import Strings
    from linnaeus.types import Doubles, Ints

CELLS = 1 << 24
"""Pairs of letters in one kernel call: about a tenth of a second."""
PAIR = 16
"""The fixed cost of a pair of strings."""
LONGEST = 9
"""The longest subsequence the kernel counts."""


@dataclass(frozen=True)
class Subsequence:
    """Subsequence kernel: shared subsequences u of `length` letters, weighted by decay^(letters spanned in both).

        K(s, t) = sum_u  sum of decay^(span of i) over i with s[i] = u  *  the same over t
        k(s, t) = K(s, t) / sqrt(K(s, s) K(t, t))

    "cat" and "cart" share c-a-t, which spans 3 letters of one and 4 of the other: decay^7. With a small decay almost
    only contiguous subsequences count; with a decay of 1 gaps cost nothing. Time is length |s| |t| for each pair. The
    kernel is 0 for a string shorter than `length`.

    Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins, "Text classification using string kernels", 2002.

    >>> from linnaeus.features import Letters
    >>> X = Letters().fit([]).rows(["cat", "car", "bat"])
    >>> Subsequence(2, 0.5).matrix(X, X)[0].round(4).tolist()  # 1 / (2 + decay^2) for cat and car
    [1.0, 0.4444, 0.4444]
    """

    length: int = 3
    decay: float = 0.5

    def __post_init__(self) -> None:
        expect("Subsequence(length=...)", self.length, int)
        expect("Subsequence(decay=...)", self.decay, float)
        if not 1 <= self.length <= LONGEST:
            raise UsageError(f"Subsequence(length=...) must be between 1 and {LONGEST}, not {self.length}.")
        if not 0 < self.decay <= 1:
            raise UsageError(f"Subsequence(decay=...) must be above 0 and at most 1, not {self.decay!r}.")

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semidefinite."""
        return True

    def matrix(self, A: Rows, B: Rows) -> Doubles:
        """Similarities (n, m); if A is B, each pair is computed once."""
        left = strings(A)
        right = left if A is B else strings(B)
        K = np.zeros((A.shape[0], B.shape[0]))
        for rows, columns in _pairs(left, right, half=A is B):
            K[rows, columns] = self._values(left, right, (rows, columns))
        if A is B:
            K += np.triu(K, 1).T
            sizes = np.ascontiguousarray(np.diagonal(K))
            return normalized(K, sizes, sizes)
        return normalized(K, self._selves(left), self._selves(right))

    def diagonal(self, A: Rows) -> Doubles:
        """Ones; 0 for a string shorter than `length` (n,)."""
        return (np.diff(strings(A)[0]) >= self.length).astype(np.float64)

    def weights(self, rows: Rows, duals: Doubles) -> None:
        """None: there are no linear weights."""
        del rows, duals

    def _selves(self, found: Strings) -> Doubles:
        own = np.arange(len(found[0]) - 1, dtype=np.int32)
        values = np.empty(len(own))
        for start, stop in _stretches(np.diff(found[0]) ** 2 + PAIR):
            values[start:stop] = self._values(found, found, (own[start:stop], own[start:stop]))
        return values

    def _values(self, left: Strings, right: Strings, pairs: tuple[Ints, Ints]) -> Doubles:
        return kernels.subsequences(left, right, pairs, (int(self.length), float(self.decay)), kernels.thread_count())


def _pairs(left: Strings, right: Strings, *, half: bool) -> Iterator[tuple[Ints, Ints]]:
    """All pairs of rows (if both sides are the same, only j >= i), in batches for one kernel call."""
    sizes, others = np.diff(left[0]), np.diff(right[0])
    m = len(others)
    ahead = np.append(np.cumsum(others[::-1])[::-1], 0)
    work = sizes * (ahead[: len(sizes)] if half else ahead[0]) + PAIR * m
    for start, stop in _stretches(work):
        rows = np.arange(start, stop, dtype=np.int32)
        counts = m - rows if half else np.full(len(rows), m)
        i = np.repeat(rows, counts)
        j = np.concatenate([np.arange(row if half else 0, m, dtype=np.int32) for row in rows.tolist()])
        for first, last in _stretches(sizes[i] * others[j] + PAIR):
            yield i[first:last], j[first:last]


def _stretches(work: Ints) -> Iterator[tuple[int, int]]:
    """Split into batches of about equal work, each with at least one item."""
    ends, start = np.cumsum(work), 0
    while start < len(work):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + CELLS, side="right")))
        yield start, stop
        start = stop
