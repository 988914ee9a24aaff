"""The spectrum kernel: strings are similar if they share character n-grams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.similarities.letters import normalized, strings
from linnaeus.similarities.products import inner_sparse

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.similarities.letters import Strings
    from linnaeus.types import Doubles, Longs


@dataclass(frozen=True)
class Spectrum:
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

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semidefinite."""
        return True

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

    def weights(self, rows: Rows, duals: Doubles) -> None:
        """None: there are no linear weights."""
        del rows, duals

    def _counts(self, found: Strings) -> tuple[Any, int]:
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


def _tally(keys: list[tuple[Longs, Longs]], n: int, width: int) -> tuple[Any, Any, Any]:
    """Counts of the pairs (row, n-gram), as sparse rows."""
    rows, runs = (np.concatenate(part) for part in zip(*keys, strict=True))
    pairs, counts = np.unique(rows * max(1, width) + runs, return_counts=True)
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(pairs // max(1, width), minlength=n), out=offsets[1:])
    return offsets, (pairs % max(1, width)).astype(np.int32), counts.astype(np.float64)


def _rows(counts: Any, start: int, stop: int) -> Any:
    offsets, columns, values = counts
    first, last = int(offsets[start]), int(offsets[stop])
    return offsets[start : stop + 1] - first, columns[first:last], values[first:last]


def _owners(offsets: Longs) -> Longs:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _joined(left: Strings, right: Strings) -> Strings:
    offsets = np.concatenate([left[0], right[0][1:] + left[0][-1]])
    return offsets, np.concatenate([left[1], right[1]])
