"""String kernels: spectrum and subsequence, over the rows of the features `Letters`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linnaeus import kernels
from linnaeus.errors import DataError, UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.protocols import Rows
from linnaeus.similarities.vectors import PositiveKernel, inner_sparse
from linnaeus.types import Doubles, Ints, Longs, Sparse, offsets_of, stretches

Strings = tuple[Longs, Ints]


BLOCK = 256
MOST = 1 << 24
"""Larger than every code point; float32 is exact for whole numbers up to here."""


def strings(X: Rows) -> Strings:
    """Offsets (n+1) and letters of all rows, in the order of their columns; zeros are left out.

    >>> from linnaeus.arrays import Dense
    >>> [part.tolist() for part in strings(Dense(np.array([[98.0, 99.0, 0.0], [98.0, 0.0, 0.0]])))]
    [[0, 2, 3], [98, 99, 98]]
    """
    offsets, _, values = X.to_csr().arrays
    values = values[offsets[0] : offsets[-1]]
    letters = values.astype(np.int32)
    if (letters != values).any() or (len(letters) and not 0 < letters.min() <= letters.max() < MOST):
        raise DataError("String kernels compare texts letter by letter; use them with the features Letters(...).")
    return offsets - offsets[0], letters


def normalized(K: Doubles, left: Doubles, right: Doubles) -> Doubles:
    """Divide K by the square roots of the self-similarities, in place; 0 where a self-similarity is 0."""
    for start in range(0, len(K), BLOCK):
        rows = slice(start, start + BLOCK)
        sizes = np.sqrt(left[rows, None] * right[None, :])  # for a string and itself, exactly its self-similarity
        np.divide(K[rows], sizes, out=K[rows], where=sizes > 0)
    return K


@dataclass(frozen=True)
class Spectrum(PositiveKernel):
    """Spectrum kernel: the cosine of the counts of character n-grams of `low` to `high` letters.

        k(s, t) = sum_u count_u(s) count_u(t) / sqrt(sum_u count_u(s)^2 sum_u count_u(t)^2)

    It is the linear kernel of normalized character n-gram counts, so `Chars(low, high, within="text")` with a linear
    learner is equivalent, and faster on large data. The kernel is 0 for a string shorter than `low`.

    Leslie, Eskin and Noble, "The spectrum kernel: a string kernel for SVM protein classification", 2002.

    >>> from linnaeus.features import Letters
    >>> X = Letters().fit([]).rows(["abab", "baba", "xyz"])
    >>> Spectrum(2, 2).matrix(X, X).round(3).tolist()[0]
    [1.0, 0.8, 0.0]
    """

    low: int = 2
    high: int = 4

    def __post_init__(self) -> None:
        expect("Spectrum(low=...)", self.low, int)
        expect("Spectrum(high=...)", self.high, int)
        if not 1 <= self.low <= self.high:
            raise UsageError(f"Spectrum(low, high) needs 1 <= low <= high, not low={self.low} and high={self.high}.")

    def matrix(self, A: Rows, B: Rows) -> Doubles:
        """Cosines (n, m)."""
        if A.shape[0] < B.shape[0]:
            return np.ascontiguousarray(self.matrix(B, A).T)
        left = strings(A)
        right = left if A is B else strings(B)
        counts, width = self._counts(left if A is B else _joined(left, right))
        n = A.shape[0]
        a = _rows(counts, 0, n)
        b = a if A is B else _rows(counts, n, n + B.shape[0])
        sizes: Doubles = np.bincount(_owners(counts[0]), counts[2] ** 2, len(counts[0]) - 1).astype(np.float64)
        return normalized(inner_sparse(a, b, width), sizes[:n], sizes[:n] if A is B else sizes[n:])

    def diagonal(self, A: Rows) -> Doubles:
        """Ones; 0 for a string shorter than `low` (n,)."""
        return (np.diff(strings(A)[0]) >= self.low).astype(np.float64)

    def _counts(self, found: Strings) -> tuple[Sparse, int]:
        """Sparse rows of n-gram counts, and the number of different n-grams.

        An n-gram of g + 1 letters is one of g letters and one more letter: the pairs of their numbers are renumbered.
        """
        offsets, letters = found
        owners, ends = _owners(offsets), np.repeat(offsets[1:], np.diff(offsets))
        alphabet, first = np.unique(letters, return_inverse=True)
        at, runs = np.arange(len(letters)), first.astype(np.int64)
        keys, width = [(owners[:0], runs[:0])], 0
        for size in range(1, self.high + 1):
            if not len(at):
                break  # no string is this long
            if size > 1:
                longer = at + size <= ends[at]
                at = at[longer]
                pairs = runs[longer] * max(1, len(alphabet)) + first[at + size - 1]
                runs = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
            if size >= self.low:
                keys.append((owners[at], runs + width))
                width += int(runs.max(initial=-1)) + 1
        return _tally(keys, len(offsets) - 1, width), width


def _tally(keys: list[tuple[Longs, Longs]], n: int, width: int) -> Sparse:
    """Counts of the pairs (row, n-gram), as sparse rows."""
    rows, runs = (np.concatenate(part) for part in zip(*keys, strict=True))
    pairs, counts = np.unique(rows * max(1, width) + runs, return_counts=True)
    offsets = offsets_of(np.bincount(pairs // max(1, width), minlength=n))
    return offsets, (pairs % max(1, width)).astype(np.int32), counts.astype(np.float64)


def _rows(counts: Sparse, start: int, stop: int) -> Sparse:
    offsets, columns, values = counts
    first, last = int(offsets[start]), int(offsets[stop])
    return offsets[start : stop + 1] - first, columns[first:last], values[first:last]


def _owners(offsets: Longs) -> Longs:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _joined(left: Strings, right: Strings) -> Strings:
    offsets = np.concatenate([left[0], right[0][1:] + left[0][-1]])
    return offsets, np.concatenate([left[1], right[1]])


CELLS = 1 << 24
"""Pairs of letters in one kernel call: about a tenth of a second."""
PAIR = 16
"""The fixed cost of a pair of strings."""
LONGEST = 9
"""The longest subsequence the kernel counts."""


@dataclass(frozen=True)
class Subsequence(PositiveKernel):
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
        expect("Subsequence(length=...)", self.length, int, 1, LONGEST)
        expect("Subsequence(decay=...)", self.decay, float)
        if not 0 < self.decay <= 1:
            raise UsageError(f"Subsequence(decay=...) must be above 0 and at most 1, not {self.decay!r}.")

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

    def _selves(self, found: Strings) -> Doubles:
        own = np.arange(len(found[0]) - 1, dtype=np.int32)
        values = np.empty(len(own))
        for start, stop in stretches(np.diff(found[0]) ** 2 + PAIR, CELLS):
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
    for start, stop in stretches(work, CELLS):
        rows = np.arange(start, stop, dtype=np.int32)
        counts = m - rows if half else np.full(len(rows), m)
        i = np.repeat(rows, counts)
        j = np.concatenate([np.arange(row if half else 0, m, dtype=np.int32) for row in rows.tolist()])
        for first, last in stretches(sizes[i] * others[j] + PAIR, CELLS):
            yield i[first:last], j[first:last]
