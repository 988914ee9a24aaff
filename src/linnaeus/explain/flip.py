"""The smallest set of words whose removal changes the prediction.

Words share n-grams and rows may be normalized, so what a word adds is not what its removal takes away: every
candidate is scored as the text without it. Greedy search gives a first set, pruning makes it smaller, and if there
are few words, or small sets are few, all smaller sets are tried: then the set is proven to be minimal.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.explain.answers import answer_of
from linnaeus.explain.records import Flip
from linnaeus.explain.trial import Trial, Words, without

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles

    Found = tuple[Words, NDArray[Any]]
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
