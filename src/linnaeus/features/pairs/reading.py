"""Reading comprehension: features of a story, a question and its choices."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError, damaged
from linnaeus.features.pairs.base import Tally, View
from linnaeus.features.pairs.measured import FittedMeasure, Measure
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, listed
from linnaeus.text.stem import light_stem, light_stems
from linnaeus.types import Doubles, Longs, State, Words64

_PLAIN = """
    a an the and or of to in on at for with by from as is was were are be been being am it its this that these those he
    she they them his her their him i you we us my your our me do does did have has had will would can could should may
    might s t so if then than there here into out up down about over after before when who what where why how which
    because while just very too also but
"""
STOPS = frozenset(_PLAIN.split()) | frozenset(light_stem(word) for word in _PLAIN.split())
"""Words that say little, and their stems."""

PERSONS = frozenset(light_stem(word) for word in ("he", "she", "him", "her", "his"))
_END = re.compile(r"(?<=[.!?])[\"”')]*\s+|\n+")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
SPANS = (1, 2, 3)
"""Sentences in a row that are taken together."""


class Story:
    """The words of a story by number, its sentences as rows of which words they have.

    A sentence with "he" or "she" and no name gets the name that came last: most questions name whom they ask about.
    """

    def __init__(self, text: str) -> None:
        sentences = [light_stems(part) for part in _END.split(text) if part and part.strip()]
        flat = [word for sentence in sentences for word in sentence]
        self.ids = {word: i for i, word in enumerate(dict.fromkeys(flat))}
        self.words = list(self.ids)
        self.flat: Longs = np.array([self.ids[word] for word in flat], np.int64)
        self.counts = np.bincount(self.flat, minlength=len(self.ids)).astype(np.float64)
        self.rarity: Doubles = np.log1p(1.0 / np.maximum(self.counts, 1.0))
        self.pairs = set(pairwise(flat))
        self.triples = set(zip(flat, flat[1:], flat[2:], strict=False))
        single = self._single(_named(sentences, text))
        self.windows = [np.maximum.reduce([single[i : len(single) - k + i + 1] for i in range(k)]) if len(single) >= k
                        else single.max(axis=0, keepdims=True) for k in SPANS]  # fmt: skip

    def _single(self, sentences: list[list[str]]) -> Doubles:
        found = np.zeros((max(len(sentences), 1), len(self.ids)))
        for i, sentence in enumerate(sentences):
            found[i, [self.ids[word] for word in sentence]] = 1.0
        return found

    def known(self, words: Iterable[str]) -> Longs:
        """The numbers of those words that the story has."""
        return np.array([self.ids[word] for word in words if word in self.ids], np.int64)

    def vector(self, words: Iterable[str], weigh: Callable[[str], float]) -> Doubles:
        """A row over the story's words with the weight of each of these."""
        found = np.zeros(len(self.ids))
        for word in words:
            if word in self.ids:
                found[self.ids[word]] = weigh(word)
        return found


def _named(sentences: list[list[str]], text: str) -> list[list[str]]:
    names = Counter(light_stem(name.lower()) for name in _NAME.findall(text))
    last = names.most_common(1)[0][0] if names else None
    found = []
    for sentence in sentences:
        here = [word for word in sentence if word in names]
        last = here[-1] if here else last
        meant = last is not None and not here and any(word in PERSONS for word in sentence)
        found.append([*sentence, last] if meant and last is not None else sentence)
    known = {word for sentence in sentences for word in sentence}
    return [[word for word in sentence if word in known] for sentence in found]


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
        """The words that occur in the story."""
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


@dataclass(frozen=True)
class Passage(Measure):
    """Features of a story, a question and its choices (English); `clues.CLUES` describes them.

    `story` and `question` are columns. The weight of a word is log((N + 1) / (df + 1/2)), for N training stories.
    """

    story: str = "story"
    question: str = "text"
    clues: tuple[str, ...] = tuple(CLUES)

    def __post_init__(self) -> None:
        bad = next((name for name in self.clues if name not in CLUES), None)
        if bad is not None or not self.clues or isinstance(self.clues, str):
            raise UsageError(f"Passage has the clues {', '.join(CLUES)}, not {bad if bad else self.clues!r}.")

    def fit(self, view: View) -> FittedPassage:
        """Count the stories each word stands in."""
        told = stories(view, self.story)
        table = Tally.of(_hashes(word for story in told for word in story.ids))
        return FittedPassage(self.story, self.question, self.clues, table, len(told))


@dataclass(frozen=True, eq=False)
class FittedPassage(FittedMeasure):
    """Clues, with the stories of training in which each word stood, by hash."""

    story: str
    question: str
    clues: tuple[str, ...]
    table: Tally
    n: int

    def names(self) -> list[str]:
        """The names of the numbers of each clue."""
        return [name for clue in self.clues for name in CLUES[clue][1]]

    def values(self, view: View) -> Doubles:
        """The numbers of each choice."""
        idf = cache(self._worth)
        told, codes = stories(view, self.story), view.distinct(self.story).codes
        questions = [light_stems(text or "") for text in view.groups.column(self.question).to_pylist()]
        choices = view.shared("stems", lambda: [light_stems(one or "") for one in view.groups.candidates.to_pylist()])
        rows = []
        for i, group in enumerate(view.group.tolist()):
            clue = Clue(told[codes[group]], questions[group], choices[i], idf)
            rows.append([number for name in self.clues for number in CLUES[name][0](clue)])
        return np.array(rows, np.float64).reshape(len(view), len(self.names()))

    def _worth(self, word: str) -> float:
        count = float(self.table.look(_hashes([word]))[0])
        return math.log((self.n + 1) / (count + 0.5))

    def state(self) -> State:
        """The clues and the table."""
        manifest = {"kind": "passage", "story": self.story, "question": self.question, "clues": list(self.clues)}
        return State({**manifest, "n": self.n}, self.table.tensors("keys", "counts"))

    @classmethod
    def from_state(cls, state: State) -> FittedPassage:
        """Restore from the stored state."""
        clues, n = listed(state.manifest, "clues", str), field(state.manifest, "n", int)
        if not clues or any(clue not in CLUES for clue in clues):
            raise damaged("it has clues that are none")
        if n < 0:
            raise damaged("its number of stories is none")
        story, question = field(state.manifest, "story", str), field(state.manifest, "question", str)
        return cls(story, question, clues, Tally.from_state(state, "keys", "counts"), n)


def _hashes(words: Iterable[str]) -> Words64:
    return np.array([kernels.hash_bytes(word.encode()) for word in words], np.uint64)


def stories(view: View, column: str) -> list[Story]:
    """The distinct stories of a column."""
    return view.shared(("stories", column), lambda: [Story(text) for text in view.distinct(column).values.to_pylist()])
