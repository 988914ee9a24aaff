"""Clues of reading: numbers about a story, a question and one of its choices. Each is a function of a `Clue`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.features.pairs.story import SPANS, STOPS, Story

if TYPE_CHECKING:
    from linnaeus.types import Doubles

EPSILON = 1e-6


class Clue:
    """A story, a question and a choice, as stems; `idf` says what a word is worth."""

    def __init__(self, story: Story, question: list[str], choice: list[str], idf: Callable[[str], float]) -> None:
        self.story, self.question, self.choice, self.idf = story, question, choice, idf
        self.asked, self.said = set(question) - STOPS, set(choice) - STOPS
        self.new = self.said - self.asked

    def worth(self, words: set[str]) -> float:
        """What these words are worth together."""
        return sum(self.idf(word) for word in sorted(words))

    def there(self, words: set[str]) -> set[str]:
        """Those of the words that the story has."""
        return {word for word in words if word in self.story.ids}

    @cached_property
    def matches(self) -> list[tuple[Doubles, Doubles]]:
        """For 1, 2 and 3 sentences in a row: the shares of the question's and of the choice's new words in them."""
        q = self.story.vector(self.asked, self.idf) / (self.worth(self.asked) + EPSILON)
        a = self.story.vector(self.new, self.idf) / (self.worth(self.new) + EPSILON)
        return [(window @ q, window @ a) for window in self.story.windows]


def window(clue: Clue) -> list[float]:
    """The sliding window of Richardson et al. 2013: rare words of question and choice close together; wider ones."""
    both = set(clue.question) | set(clue.choice)
    own = set(clue.choice)
    rarity = sum(clue.story.rarity[clue.story.known(sorted(own))].tolist()) + 1e-3
    return [
        _slide(clue.story, both, len(both)),
        _slide(clue.story, both, 2 * len(both) + 4),
        _slide(clue.story, both - STOPS, 30),
        _slide(clue.story, own, max(1, len(clue.choice))) / rarity,
    ]


def _slide(story: Story, words: set[str], size: int) -> float:
    worth = np.zeros(len(story.ids))
    at = story.known(words)
    worth[at] = story.rarity[at]
    sums = np.concatenate([[0.0], np.cumsum(worth[story.flat])])
    return float(sums[-1]) if len(story.flat) <= size else float((sums[size:] - sums[:-size]).max())


def distance(clue: Clue) -> list[float]:
    """How near a word of the choice stands to one of the question: the nearest, the mean, the logarithm."""
    story = clue.story
    answer = np.flatnonzero(np.isin(story.flat, story.known(clue.new)))
    asked = clue.there(clue.asked - clue.said)
    if not asked or not len(answer):
        return [-1.0, -1.0, -5.0]
    n, nearest = len(story.flat), []
    for word in sorted(asked):
        at = np.flatnonzero(story.flat == story.ids[word])
        nearest.append(int(np.abs(at[:, None] - answer[None, :]).min()))
    least = min(nearest)
    return [-(least + 1) / max(1, n - 1), -float(np.mean(nearest)) / n, -math.log(least + 1)]


def sentences(clue: Clue) -> list[float]:
    """Sentences that match the question and the choice, alone and in runs of two and three, and those that follow."""
    found = []
    for q, a in clue.matches:
        heat = [np.exp(4.0 * (q - q.max())), np.exp(8.0 * (q - q.max()))]
        found += [float((q + a).max()), float((q * a).max()), float(a[q >= q.max() - 1e-9].max())]
        found += [float(weights @ a / weights.sum()) for weights in heat]
    q, a = clue.matches[0]
    after = clue.story.windows[0][int(np.argmax(q)) + 1 :][:2]
    follow = clue.story.vector(clue.new, clue.idf) / (clue.worth(clue.new) + EPSILON)
    return [*found, float(after.max(axis=0) @ follow) if len(after) else 0.0]


def similarity(clue: Clue) -> list[float]:
    """The best tf-idf cosine of a sentence with question and choice, and with the choice alone."""
    story = clue.story
    content = np.array([0.0 if word in STOPS else clue.idf(word) for word in story.words])
    lengths = story.windows[0] @ content + EPSILON
    found = []
    for words in (clue.asked | clue.said, clue.said):
        inner = story.windows[0] @ story.vector(words, clue.idf)
        found.append(float((inner / np.sqrt((clue.worth(words) + EPSILON) * lengths)).max()))
    return found


def phrases(clue: Clue) -> list[float]:
    """Pairs and triples of words of the choice that the story has: shares, and the number of pairs."""
    a = clue.choice
    pairs, triples = list(pairwise(a)), list(zip(a, a[1:], a[2:], strict=False))
    met = sum(pair in clue.story.pairs for pair in pairs)
    two = met / len(pairs) if pairs else _covered(clue)
    three = sum(triple in clue.story.triples for triple in triples) / len(triples) if triples else two
    return [two, three, math.log1p(met)]


def _covered(clue: Clue) -> float:
    return clue.worth(clue.there(clue.said)) / (clue.worth(clue.said) + EPSILON) if clue.said else 0.5


def overlap(clue: Clue) -> list[float]:
    """The share of the choice's words that the story has, whether all, how often."""
    counts = [clue.story.counts[clue.story.ids[word]] for word in sorted(clue.there(clue.said))]
    often = math.log1p(sum(counts) / len(clue.said)) if clue.said else 0.0
    return [_covered(clue), float(not clue.said), float(bool(clue.said) and len(counts) == len(clue.said)), often]


def choice(clue: Clue) -> list[float]:
    """The choice itself: words it takes from the question, its length, "all of the above", yes and no."""
    first = clue.choice[0] if clue.choice else ""
    shared = len(clue.said & clue.asked) / max(1, len(clue.said))
    return [shared, math.log1p(len(clue.choice)), float("above" in clue.choice or "abov" in clue.choice),
            float(first in ("yes", "ye")), float(first == "no")]  # fmt: skip


_MATCHES = ("question and choice", "product", "at the best sentence", "near it", "nearer")
_RUNS = [f"{name}, {k} in a row" for k in SPANS for name in _MATCHES]

CLUES: dict[str, tuple[Callable[[Clue], list[float]], list[str]]] = {
    "window": (window, ["sliding window", "wider window", "window of 30", "window of the choice"]),
    "distance": (distance, ["nearest word of the question", "mean distance", "log distance"]),
    "sentences": (sentences, [*_RUNS, "in the sentences after"]),
    "similarity": (similarity, ["cosine of question and choice", "cosine of the choice"]),
    "phrases": (phrases, ["pairs in the story", "triples in the story", "log pairs"]),
    "overlap": (overlap, ["words in the story", "no word", "all words in the story", "how often"]),
    "choice": (choice, ["words of the question", "length", "all of the above", "yes", "no"]),
}
"""Clues by name: the function, and what its numbers are."""
