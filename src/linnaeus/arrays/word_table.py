"""A table of word vectors: words, a row of numbers for each, and rows of character n-grams for words it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from linnaeus import kernels
from linnaeus.arrays.numerics import single_blas
from linnaeus.errors import DataError, UsageError, did_you_mean, expect
from linnaeus.frozen import dataclass
from linnaeus.types import offsets_of

if TYPE_CHECKING:
    from linnaeus.types import Array, Bytes, Doubles, Floats, Ints, Longs

PIECE = 1 << 16
"""Rows that are compared at a time."""


class Neighbor(NamedTuple):
    """A word, and the cosine of its vector and the one that was asked for."""

    word: str
    similarity: float


def packed(words: Sequence[str]) -> tuple[Bytes, Longs]:
    """Words as the kernels take them: bytes and offsets."""
    raw = [word.encode("utf-8", "replace") for word in words]
    return np.frombuffer(b"".join(raw), np.uint8), offsets_of([len(piece) for piece in raw])


class UnknownWords(Protocol):
    """Vectors of words that have no row of their own."""

    def mean(self, words: Sequence[str]) -> tuple[Array, Floats]:
        """Which words have a vector (n,), and the vectors (n, width)."""
        ...


@dataclass(frozen=True, eq=False)
class SubwordRows:
    """Vectors of character n-grams: those of `low` to `high` characters of <word>, by the bucket of their hash.

    Of `count` buckets only those in `buckets` (ascending) have a row in `vectors`. A word that is in no table has the
    mean of the rows of its n-grams (Bojanowski, Grave, Joulin and Mikolov, "Enriching word vectors with subword
    information", 2017).
    """

    low: int
    high: int
    count: int
    buckets: Ints
    vectors: Floats

    def rows_of(self, words: Sequence[str]) -> tuple[Longs, Longs]:
        """Offsets, and the rows of the n-grams of each word that have one."""
        offsets, found = kernels.subword_buckets(*packed(words), (self.low, self.high, self.count))
        at = np.searchsorted(self.buckets, found)
        known = at < len(self.buckets)
        known[known] = self.buckets[at[known]] == found[known]
        return offsets_of(known)[offsets], at[known]

    def mean(self, words: Sequence[str]) -> tuple[Array, Floats]:
        """Which words have an n-gram with a row (n,), and the mean of these rows (n, width)."""
        offsets, rows = self.rows_of(words)
        sizes = np.diff(offsets)
        sums = np.zeros((len(words), self.vectors.shape[1]))
        np.add.at(sums, np.repeat(np.arange(len(words)), sizes), self.vectors[rows].astype(np.float64))
        return sizes > 0, (sums / np.maximum(sizes, 1)[:, None]).astype(np.float32)


@dataclass(frozen=True, eq=False)
class WordTable:
    """Words and their vectors (n, width), float32; `subwords` give vectors to words that are not among them.

    `lowercase` says whether texts are folded to lower case before their words are looked up.

    >>> table = WordTable(["cat", "dog", "car"], np.array([[1, 0.1], [1, 0.2], [0, 1]], np.float32))
    >>> table.neighbors("cat", 1)[0].word, table.vector("bird") is None
    ('dog', True)
    """

    words: Sequence[str]
    vectors: Floats
    subwords: UnknownWords | None = None
    lowercase: bool = True

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.vectors) != len(self.words) or not self.vectors.shape[1]:
            raise UsageError("WordTable takes one row of numbers for each word, all of one length of at least 1.")

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        more = "" if self.subwords is None else ", and subwords"
        return f"WordTable({len(self):,} words, {self.width} numbers each{more})"

    def __contains__(self, word: object) -> bool:
        return word in self.numbers

    @property
    def width(self) -> int:
        """The numbers of a vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def lengths(self) -> Doubles:
        """The Euclidean length of each vector (n,)."""
        pieces = [self.vectors[i : i + PIECE].astype(np.float64) for i in range(0, len(self), PIECE)]
        return np.concatenate([np.zeros(0), *(np.sqrt(np.square(piece).sum(axis=1)) for piece in pieces)])

    def find(self, words: Sequence[str]) -> Longs:
        """The row of each word, or -1."""
        return np.array([self.numbers.get(word, -1) for word in words], np.int64)

    def vectors_of(self, words: Sequence[str]) -> tuple[Array, Floats]:
        """Which words have a vector (n,), from their own row or from subwords, and the vectors (n, width).

        >>> table = WordTable(["cat"], np.ones((1, 2), np.float32))
        >>> [part.tolist() for part in table.vectors_of(["cat", "dog"])]
        [[True, False], [[1.0, 1.0], [0.0, 0.0]]]
        """
        rows = self.find(words)
        known = rows >= 0
        found = np.zeros((len(words), self.width), np.float32)
        found[known] = self.vectors[rows[known]]
        if self.subwords is not None and not known.all():
            others = np.flatnonzero(~known)
            has, vectors = self.subwords.mean([words[i] for i in others.tolist()])
            found[others[has]] = vectors[has]
            known[others[has]] = True
        return known, found

    def vector(self, word: str) -> Floats | None:
        """The vector of a word, or None if it has none."""
        known, found = self.vectors_of([word])
        return found[0] if known[0] else None

    def similarity(self, one: str, other: str) -> float | None:
        """The cosine of two words; None if one of them has no vector."""
        known, found = self.vectors_of([one, other])
        if not known.all():
            return None
        a, b = found.astype(np.float64)
        return float(a @ b / max(float(np.sqrt(a @ a) * np.sqrt(b @ b)), 1e-300))

    def neighbors(self, word: str, count: int = 10) -> list[Neighbor]:
        """The words whose vectors are nearest by the cosine, without the word itself.

        >>> WordTable(["a", "b"], np.eye(2, dtype=np.float32)).neighbors("a")
        [Neighbor(word='b', similarity=0.0)]
        """
        return self.nearest(self._known(word).astype(np.float64), count, {word})

    def analogy(self, a: str, b: str, c: str, count: int = 10) -> list[Neighbor]:
        """Words that are to `c` as `b` is to `a`: nearest to b - a + c, all three of length one (Mikolov et al. 2013).

        >>> table = WordTable(["man", "king", "woman", "queen"], np.array([[1, 0], [1, 1], [2, 0], [2, 1]], np.float32))
        >>> table.analogy("man", "king", "woman", 1)[0].word
        'queen'
        """
        units = [_unit(self._known(word).astype(np.float64)) for word in (a, b, c)]
        return self.nearest(units[1] - units[0] + units[2], count, {a, b, c})

    def nearest(self, vector: Doubles, count: int, without: set[str]) -> list[Neighbor]:
        """The words nearest to a vector by the cosine; equal ones in the order of the table."""
        expect("count", count, int, least=1)
        scores = self.cosines(vector[None])[0]
        scores[[self.numbers[word] for word in without if word in self.numbers]] = -np.inf
        best = np.argsort(-scores, kind="stable")[: min(count, len(self))]
        return [Neighbor(self.words[i], float(scores[i])) for i in best.tolist() if np.isfinite(scores[i])]

    def cosines(self, vectors: Doubles) -> Doubles:
        """The cosine of each of some vectors and each word (m, n)."""
        units = np.array([_unit(vector) for vector in vectors])
        scores = np.zeros((len(units), len(self)))
        with single_blas():
            for start in range(0, len(self), PIECE):
                piece = slice(start, start + PIECE)
                scores[:, piece] = units @ self.vectors[piece].astype(np.float64).T
        lengths = self.lengths
        return np.divide(scores, lengths, out=np.zeros_like(scores), where=lengths > 0)

    def kept(self, words: Sequence[str]) -> WordTable:
        """The table of some words, in this order; those without a vector are left out."""
        known, found = self.vectors_of(words)
        chosen = [word for word, has in zip(words, known.tolist(), strict=True) if has]
        return WordTable(chosen, found[known], None, self.lowercase)

    def _known(self, word: str) -> Floats:
        found = self.vector(word)
        if found is None:
            raise DataError(f"The table has no vector for {word!r}; {did_you_mean(word, self.words[:20_000])}")
        return found


def _unit(vector: Doubles) -> Doubles:
    length = float(np.sqrt(vector @ vector))
    return vector / length if length > 0 else vector
