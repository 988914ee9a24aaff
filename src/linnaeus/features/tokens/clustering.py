"""Word clusters learned from unlabeled text: words that stand beside the same words come together.

    counts     n(w, c): how often the word c stands 2 or 1 places before w, or 1 or 2 behind it; each place apart
    values     max(0, log n(w, c) N / (n(w) n(c))): positive pointwise mutual information (Church & Hanks 1990)
    vectors    the leading directions of these rows, each word's row of length one (Bullinaria & Levy 2007)
    clusters   k-means on the sphere (Dhillon & Modha 2001), then a tree over the centers: bits, as Brown's clusters

The path of a cluster in the tree is a string of 0 and 1, so that a prefix is a wider cluster.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.arrays import CSR
from linnaeus.arrays.numerics import single_blas
from linnaeus.arrays.word_table import WordTable
from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, UsageError, expect
from linnaeus.features.projections import directions
from linnaeus.frozen import dataclass
from linnaeus.kernels.plan import TOKENIZERS
from linnaeus.text.buffers import as_arrow, as_texts
from linnaeus.types import Doubles, Ints, Longs, Texts, offsets_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


PLACES = (-2, -1, 1, 2)
PIECE = 1 << 20
"""Tokens whose neighbors are counted at a time."""


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """Word clustering: `most` limits the words to the most frequent ones that occur at least `min_count` times.

    `contexts` is the number of frequent words used as contexts, `width` the length of the vectors, `rounds` the number
    of k-means iterations. The same random seed gives the same clusters.

    >>> text = [["a", "cat", "sat"], ["a", "dog", "sat"], ["the", "cat", "ran"], ["the", "dog", "ran"]] * 5
    >>> found = dict(Grouping(count=3, width=3, min_count=1).learn([Sentences.from_lists(text)]))
    >>> found["cat"] == found["dog"] != found["a"] == found["the"]
    True
    """

    count: int = 512
    min_count: int = 5
    most: int = 50_000
    contexts: int = 2_000
    width: int = 100
    rounds: int = 25
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("count", "min_count", "most", "contexts", "width", "rounds"):
            expect(f"{name}=", getattr(self, name), int)
            if getattr(self, name) < 1:
                raise UsageError(f"{name}={getattr(self, name)} is less than 1; give at least 1.")

    def learn(self, parts: Iterable[Sentences]) -> list[tuple[str, str]]:
        """Each word with its cluster, the most frequent words first."""
        words, codes, offsets = self._read(parts)
        X = associations(_beside(codes, offsets, len(words), min(self.contexts, len(words))))
        return self._grouped(words, leading_vectors(X, self.width, self.seed))

    def of_vectors(self, table: WordTable) -> list[tuple[str, str]]:
        """Each word of a table of vectors with its cluster, the first `most` words.

        >>> table = WordTable(["a", "b", "c"], np.array([[1, 0], [1, 0.1], [0, 1]], np.float32))
        >>> Grouping(count=2).of_vectors(table)
        [('a', '1'), ('b', '1'), ('c', '0')]
        """
        vectors = table.vectors[: self.most].astype(np.float64)
        if len(vectors) < 2:
            raise DataError("The table has fewer than two words; give a larger one.")
        return self._grouped(list(table.words[: self.most]), _units(vectors))

    def _grouped(self, words: list[str], vectors: Doubles) -> list[tuple[str, str]]:
        with single_blas():
            of_word, centers = _means(vectors, min(self.count, len(words)), self.rounds, self.seed)
            paths = _paths(centers)
        return [(word, paths[cluster]) for word, cluster in zip(words, of_word.tolist(), strict=True)]

    def _read(self, parts: Iterable[Sentences]) -> tuple[list[str], Ints, Longs]:
        """The words, most frequent first, the number of each token's (-1: none), and where sentences begin."""
        numbers: dict[str, int] = {}
        codes, sizes = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
        for part in parts:
            encoded = part.tokens.dictionary_encode()
            own = [numbers.setdefault(word, len(numbers)) for word in encoded.dictionary.to_pylist()]
            codes.append(np.array(own, np.int32)[encoded.indices.to_numpy()] if own else codes[0])
            sizes.append(np.diff(part.offsets))
        joined = np.concatenate(codes)
        counts = np.bincount(joined, minlength=len(numbers))
        order = np.argsort(-counts, kind="stable")[: self.most]
        order = order[counts[order] >= self.min_count]
        if len(order) < 2:
            raise DataError(f"fewer than two words occur {self.min_count} times in the texts; give more texts.")
        rank = np.full(len(numbers), -1, np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        words = list(numbers)
        return [words[i] for i in order.tolist()], rank[joined], np.cumsum(np.concatenate(sizes))


def cut(texts: pa.Array) -> Sentences:
    """Texts as sentences of their words, case kept.

    >>> cut(pa.array(["A dog, a cat", ""])).lists()
    [['A', 'dog', 'a', 'cat'], []]
    """
    held = as_texts(texts)
    data, at, rows = kernels.tokens(held.data, held.offsets, 0, TOKENIZERS["words"])
    return Sentences(rows, as_arrow(Texts(data, at)))


def _beside(codes: Ints, offsets: Longs, words: int, contexts: int) -> csr_matrix:
    """How often each context stands at each place beside each word: (words, places * (contexts + 1)).

    The last context of a place is the edge of a sentence.
    """
    from scipy.sparse import csr_matrix

    shape = (words, len(PLACES) * (contexts + 1))
    found = csr_matrix(shape, dtype=np.float64)
    sizes = np.diff(offsets)
    begins, ends = np.repeat(offsets[:-1], sizes), np.repeat(offsets[1:], sizes)
    for first in range(0, len(codes), PIECE):
        here = np.arange(first, min(first + PIECE, len(codes)))
        here = here[codes[here] >= 0]
        for place, at in enumerate(PLACES):
            there = here + at
            inside = (there >= begins[here]) & (there < ends[here])
            beside = np.where(inside, codes[np.where(inside, there, 0)], contexts)
            counted = (beside >= 0) & (~inside | (beside < contexts))
            columns = place * (contexts + 1) + beside[counted]
            found = found + csr_matrix((np.ones(len(columns)), (codes[here][counted], columns)), shape)
    return found


def associations(counts: csr_matrix, power: float = 1.0) -> CSR:
    """Positive pointwise mutual information of words and contexts; contexts count by a power of their frequency."""
    counts.sum_duplicates()
    rows, columns = np.asarray(counts.sum(1)).ravel(), np.asarray(counts.sum(0)).ravel() ** power
    total = float(columns.sum())
    number = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    values = np.log(counts.data * total / (rows[number] * columns[counts.indices]))
    kept = values > 0
    indptr = offsets_of(np.bincount(number[kept], minlength=counts.shape[0]))
    return CSR(indptr, counts.indices[kept].astype(np.int32), values[kept], counts.shape[1])


def leading_vectors(X: CSR, width: int, seed: int) -> Doubles:
    """A vector of length one for each word; directions count by the root of their size, so that many have a say."""
    found = X.dot(directions(X, width, seed))
    found /= np.sqrt(np.maximum(np.linalg.norm(found, axis=0), 1e-12))
    return _units(found)


def _units(vectors: Doubles) -> Doubles:
    lengths: Doubles = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def _means(vectors: Doubles, count: int, rounds: int, seed: int) -> tuple[Longs, Doubles]:
    """The cluster of each vector, and the centers: k-means by the cosine."""
    centers = vectors[_seeds(vectors, count, np.random.default_rng(seed))]
    of_word = np.zeros(len(vectors), np.int64)
    for _ in range(rounds):
        of_word = np.argmax(vectors @ centers.T, axis=1)
        sums = np.zeros_like(centers)
        np.add.at(sums, of_word, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centers = np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1.0), centers)
    return of_word, centers


def _seeds(vectors: Doubles, count: int, rng: np.random.Generator) -> list[int]:
    """Words to begin with: each drawn with a chance that grows with its distance from those before (k-means++)."""
    chosen = [int(rng.integers(len(vectors)))]
    far = np.full(len(vectors), np.inf)
    while len(chosen) < count:
        far = np.minimum(far, np.maximum(1.0 - vectors @ vectors[chosen[-1]], 0.0))
        far[chosen[-1]] = 0.0
        total = np.cumsum(far)
        fresh = int(np.searchsorted(total, rng.random() * total[-1], side="right")) if total[-1] > 0 else len(chosen)
        chosen.append(min(fresh, len(vectors) - 1))
    return chosen


def _paths(centers: Doubles) -> list[str]:
    """The way to each center in a tree that joins the nearest first (Ward 1963), as bits."""
    from scipy.cluster.hierarchy import linkage

    count = len(centers)
    if count == 1:
        return ["0"]
    paths = {2 * count - 2: ""}
    for step, (left, right) in reversed(list(enumerate(linkage(centers, "ward")[:, :2].astype(int).tolist()))):
        path = paths.pop(count + step)
        paths[left], paths[right] = path + "0", path + "1"
    return [paths[i] for i in range(count)]
