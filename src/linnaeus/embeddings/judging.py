"""How good word vectors are: similarities of pairs of words beside those of people, and analogies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import DataError
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.arrays.word_table import WordTable
    from linnaeus.types import Doubles

PIECE = 512
"""Questions that are answered at a time."""
MOST_WORDS = 30_000
"""Answers are looked for among so many words, the first of the table, as in word2vec's own test."""


@dataclass(frozen=True, slots=True)
class VectorScore:
    """A figure, and of how many of the given rows: the others have words without a vector.

    >>> VectorScore("accuracy", 0.5, used=2, given=3).value
    0.5
    """

    measure: str
    value: float
    used: int
    given: int


def similarity_score(table: WordTable, pairs: Sequence[tuple[str, str, float]]) -> VectorScore:
    """Spearman's rank correlation of the cosines of pairs of words and the given scores.

    Pairs with a word that has no vector are left out. Words are folded to lower case if the table's are.

    >>> from linnaeus.arrays.word_table import WordTable
    >>> table = WordTable(["a", "b", "c"], np.array([[1, 0], [1, 0.1], [0, 1]], np.float32))
    >>> similarity_score(table, [("a", "b", 9.0), ("b", "c", 2.0), ("a", "c", 1.0), ("a", "x", 5.0)])
    VectorScore(measure='spearman', value=1.0, used=3, given=4)
    """
    words = sorted({_said(table, word) for one, other, _ in pairs for word in (one, other)})
    known, vectors = table.vectors_of(words)
    at = {word: i for i, word in enumerate(words) if known[i]}
    found = [(at.get(_said(table, a)), at.get(_said(table, b)), score) for a, b, score in pairs]
    used = [(a, b, score) for a, b, score in found if a is not None and b is not None]
    if len(used) < 2:
        raise DataError("Fewer than two pairs have words with vectors; give pairs of words that the table has.")
    left, right, scores = (np.array(column) for column in zip(*used, strict=True))
    units = vectors.astype(np.float64)
    units /= np.maximum(np.sqrt(np.square(units).sum(axis=1, keepdims=True)), 1e-300)
    cosines = (units[left] * units[right]).sum(axis=1)
    return VectorScore("spearman", _correlation(ranks(cosines), ranks(scores)), len(used), len(pairs))


def analogy_score(
    table: WordTable, questions: Sequence[tuple[str, str, str, str]], most: int = MOST_WORDS
) -> VectorScore:
    """The share of questions a : b = c : d for which d is the word nearest to b - a + c, without these three.

    Questions with a word that is not among the first `most` of the table are left out.

    >>> from linnaeus.arrays.word_table import WordTable
    >>> rows = np.array([[1, 0], [1, 1], [2, 0], [2, 1]], np.float32)
    >>> table = WordTable(["man", "king", "woman", "queen"], rows)
    >>> analogy_score(table, [("Man", "King", "Woman", "Queen")]).value
    1.0
    """
    at = {word: i for word, i in table.numbers.items() if i < most}
    rows = [[at.get(_said(table, word), -1) for word in question] for question in questions]
    used = np.array([row for row in rows if min(row) >= 0]).reshape(-1, 4)
    if not len(used):
        raise DataError("No question has four words that are in the table; give questions with words that it has.")
    units = table.vectors[:most].astype(np.float64)
    units /= np.maximum(np.sqrt(np.square(units).sum(axis=1, keepdims=True)), 1e-300)
    right = sum(_right(units, used[i : i + PIECE]) for i in range(0, len(used), PIECE))
    return VectorScore("accuracy", right / len(used), len(used), len(questions))


def _right(units: Doubles, questions: np.ndarray) -> int:
    a, b, c, d = questions.T
    scores = (units[b] - units[a] + units[c]) @ units.T
    for words in (a, b, c):
        scores[np.arange(len(questions)), words] = -np.inf
    return int((scores.argmax(axis=1) == d).sum())


def _said(table: WordTable, word: str) -> str:
    return word.lower() if table.lowercase else word


def ranks(values: Doubles) -> Doubles:
    """Ranks from 1 up; equal values share the mean of theirs.

    >>> ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    found: Doubles = (last - (counts - 1) / 2)[place]
    return found


def _correlation(a: Doubles, b: Doubles) -> float:
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale else 0.0
