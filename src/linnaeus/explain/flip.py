"""The smallest set of words whose removal changes the prediction.

Words share n-grams and rows may be normalized, so what a word adds is not what its removal takes away: every
candidate is scored as the text without it. Greedy search gives a first set, pruning makes it smaller, and if there
are few words, or small sets are few, all smaller sets are tried: then the set is proven to be minimal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linnaeus.errors import UsageError
from linnaeus.explain.explanation import Flip
from linnaeus.explain.models import AT_ONCE, Answer, Linear, Local, RowSum, answer_of, lacking
from linnaeus.explain.words import without, words
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Bools, Doubles

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch

Decide: TypeAlias = "Callable[[Doubles, Batch], Array]"
"""From scores (n, w) of rows to class numbers (n,), where -1 abstains, or to the labels of each row (n, k)."""

Words: TypeAlias = tuple[int, ...]
"""Numbers of words, sorted."""


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


class Trial:
    """A row, its prediction, its words, and the remaining limits."""

    def __init__(
        self, row: Batch, model: Linear | Local | RowSum, decide: Decide, answer: Answer, search: Search
    ) -> None:
        self.row, self.model, self.decide, self.answer, self.search = row, model, decide, answer, search
        self.text: str = "" if row.text is None else row.text[0].as_py()
        self.words = words(self.text)
        self.scored = 0
        self.limit = max(1, min(search.most, search.characters // max(len(self.text), 1)))

    @property
    def left(self) -> int:
        """The number of texts that may still be scored."""
        return self.limit - self.scored

    def score(self, sets: Sequence[Words]) -> tuple[Doubles, Bools, Array]:
        """Margins, whether the prediction changed, and the predictions, for the text without each set of words."""
        found = [self._score(part) for part in self._cuts(sets)]
        self.scored += len(sets)
        margins, decided = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return margins, self.answer.flipped(decided), decided

    def best(self, sets: Sequence[Words]) -> tuple[Words, bool, Array]:
        """The set that changes most (one that flips the prediction, if any), whether it flips, and the prediction."""
        margins, flips, decided = self.score(sets)
        at = int(np.lexsort((margins, ~flips))[0])
        return sets[at], bool(flips[at]), decided[at : at + 1]

    def _score(self, sets: Sequence[Words]) -> tuple[Doubles, Array]:
        rows = lacking(self.row, self.text, [[self.words[i] for i in chosen] for chosen in sets])
        S = self.model.scores(rows)
        return self.answer.margin(self.model.class_scores(S)), np.asarray(self.decide(S, rows))

    def _cuts(self, sets: Sequence[Words]) -> Iterator[Sequence[Words]]:
        step = max(1, AT_ONCE // max(len(self.text), 1))
        return (sets[at : at + step] for at in range(0, len(sets), step))


if TYPE_CHECKING:
    Found = tuple[Words, Array]
    """Words, and the prediction without them."""


def find_flip(trial: Trial, characters: Doubles) -> Flip | None:
    """The smallest set found, or None; `characters` has the contribution of each to the predicted class."""
    if not trial.words or not trial.answer.predicted or trial.answer.standings.size < 2:
        return None
    sums = np.array([characters[start:end].sum() for start, end in trial.words])
    order = np.argsort(-sums, kind="stable")[: max(1, trial.left // 4)].tolist()
    margins, flips, decided = trial.score([(i,) for i in order])
    ranked = np.lexsort((margins, ~flips)).tolist()
    order, first = [order[i] for i in ranked], ranked[0]
    if flips[first]:
        return _told(trial, ((order[0],), decided[first : first + 1]), proven=True)
    found = _greedy(trial, order) or _prefix(trial, order)
    proven, found = _exhaust(trial, order, found)
    return _told(trial, found, proven) if found else None


def _told(trial: Trial, found: Found, proven: bool) -> Flip:
    chosen, decided = found
    predicted = answer_of(decided, trial.answer.standings[None]).predicted
    spans = tuple(trial.words[i] for i in chosen)
    names = tuple(trial.model.classes[i] for i in predicted)
    return Flip(spans, names, proven, trial.scored, without(trial.text, spans))


def _greedy(trial: Trial, order: list[int]) -> Found | None:
    """Remove the word that changes the margin most, step by step, until the prediction flips; then prune."""
    chosen: Words = (order[0],)
    while trial.left > trial.limit // 4:
        gone = set(chosen)
        more = [i for i in order if i not in gone][: trial.search.beam]
        if not more:
            return None
        chosen, flipped, answer = trial.best([tuple(sorted((*chosen, i))) for i in more])
        if flipped:
            return _prune(trial, (chosen, answer))
    return None


def _prefix(trial: Trial, order: list[int]) -> Found | None:
    """If single steps are too much work: remove the words that change most, twice as many at each try."""
    size = 2
    while size < 2 * len(order) and trial.left > 0:
        chosen: Words = tuple(sorted(order[:size]))
        _, flipped, answer = trial.best([chosen])
        if flipped:
            return _prune(trial, (chosen, answer))
        size *= 2
    return None


def _prune(trial: Trial, found: Found) -> Found:
    """Put words back as long as the prediction stays flipped."""
    while len(found[0]) > 1 and trial.left >= len(found[0]):
        fewer, flipped, answer = trial.best(list(combinations(found[0], len(found[0]) - 1)))
        if not flipped:
            return found
        found = fewer, answer
    return found


def _exhaust(trial: Trial, order: list[int], found: Found | None) -> tuple[bool, Found | None]:
    """Try all smaller sets, size by size, within the limits; and whether the result is proven to be minimal."""
    n, most = len(trial.words), len(found[0]) if found else len(trial.words) + 1
    few, proven = sorted(order[: trial.search.together]), len(order) == n
    for size in range(2, most):
        proven = proven and comb(n, size) <= trial.left
        pool = list(range(n)) if proven else few
        if comb(len(pool), size) > trial.left or size > len(pool):
            return False, found
        smaller, flipped, answer = trial.best(list(combinations(pool, size)))
        if flipped:
            return proven, (smaller, answer)
    return proven, found
