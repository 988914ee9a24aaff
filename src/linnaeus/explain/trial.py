"""Scores a text again without some of its words, many sets of words at a time, within limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from linnaeus.errors import UsageError
from linnaeus.explain.segments import Span, words
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.data.batch import Batch
    from linnaeus.explain.answers import Answer
    from linnaeus.explain.local import Local
    from linnaeus.explain.model import Linear
    from linnaeus.types import Doubles

Decide: TypeAlias = "Callable[[Doubles, Batch], NDArray[Any]]"
"""From scores (n, w) of rows to class numbers (n,), where -1 abstains, or to the labels of each row (n, k)."""

Words: TypeAlias = tuple[int, ...]
"""Numbers of words, sorted."""

AT_ONCE = 1 << 22
"""Characters of the texts that are scored in one call."""


@dataclass(frozen=True)
class Search:
    """The limits of a search: texts scored, and characters in them.

    `beam` words, those whose removal alone changes most, are tried at each step of the greedy search; for
    up to `together` words all sets are tried if there are too many sets of all words.

    >>> Search(most=100).most
    100
    """

    most: int = 4096
    characters: int = 1 << 24
    beam: int = 32
    together: int = 16

    def __post_init__(self) -> None:
        if min(self.most, self.characters, self.beam, self.together) < 1:
            raise UsageError("Search takes numbers of at least 1; search=None does not look for a flip.")


def without(text: str, spans: Sequence[Span]) -> str:
    """The text without these spans (sorted, apart); a space is left where its neighbors would grow together.

    >>> without("not good, not bad", [(4, 8), (10, 13)]), without("abc天def", [(3, 4)])
    ('not , bad', 'abc def')
    """
    kept: list[str] = []
    at = 0
    for start, end in (*spans, (len(text), len(text))):
        part = text[at:start]
        if kept and part:
            left, right = kept[-1][-1].isspace(), part[0].isspace()
            part = part[1:] if left and right else part if left or right else " " + part
        if part:
            kept.append(part)
        at = end
    return "".join(kept)


class Trial:
    """A row, its prediction, its words, and the remaining limits."""

    def __init__(self, row: Batch, model: Linear | Local, decide: Decide, answer: Answer, search: Search) -> None:
        self.row, self.model, self.decide, self.answer, self.search = row, model, decide, answer, search
        self.text: str = "" if row.text is None else row.text[0].as_py()
        self.words = words(self.text)
        self.scored = 0
        self.limit = max(1, min(search.most, search.characters // max(len(self.text), 1)))

    @property
    def left(self) -> int:
        """The number of texts that may still be scored."""
        return self.limit - self.scored

    def score(self, sets: Sequence[Words]) -> tuple[Doubles, NDArray[np.bool_], NDArray[Any]]:
        """Margins, whether the prediction changed, and the predictions, for the text without each set of words."""
        found = [self._score(part) for part in self._cuts(sets)]
        self.scored += len(sets)
        margins, decided = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return margins, self.answer.flipped(decided), decided

    def best(self, sets: Sequence[Words]) -> tuple[Words, bool, NDArray[Any]]:
        """The set that changes most (one that flips the prediction, if any), whether it flips, and the prediction."""
        margins, flips, decided = self.score(sets)
        at = int(np.lexsort((margins, ~flips))[0])
        return sets[at], bool(flips[at]), decided[at : at + 1]

    def _score(self, sets: Sequence[Words]) -> tuple[Doubles, NDArray[Any]]:
        texts = [without(self.text, [self.words[i] for i in chosen]) for chosen in sets]
        rows = replace(self.row.take([0] * len(sets)), text=pa.array(texts, pa.large_string()))
        S = self.model.scores(rows)
        return self.answer.margin(self.model.class_scores(S)), np.asarray(self.decide(S, rows))

    def _cuts(self, sets: Sequence[Words]) -> Iterator[Sequence[Words]]:
        step = max(1, AT_ONCE // max(len(self.text), 1))
        return (sets[at : at + step] for at in range(0, len(sets), step))
