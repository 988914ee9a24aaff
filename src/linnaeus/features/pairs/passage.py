"""Reading comprehension: features of a story, a question and its choices."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError, damaged
from linnaeus.features.pairs.clues import CLUES, Clue
from linnaeus.features.pairs.measures import FittedMeasure, Measure
from linnaeus.features.pairs.story import Story
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, listed, tensor
from linnaeus.text.light import light_stems
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.features.pairs.view import View
    from linnaeus.types import Doubles, Words64


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
        df = Counter(word for story in stories(view, self.story) for word in story.ids)
        keys = np.array([kernels.hash_bytes(word.encode()) for word in df], np.uint64)
        order = np.argsort(keys)
        counts = np.array(list(df.values()), np.float64)[order]
        return FittedPassage(self.story, self.question, self.clues, keys[order], counts, len(stories(view, self.story)))


@dataclass(frozen=True, eq=False)
class FittedPassage(FittedMeasure):
    """Clues, with the stories of training in which each word stood, by hash."""

    story: str
    question: str
    clues: tuple[str, ...]
    keys: Words64
    counts: Doubles
    n: int

    def names(self) -> list[str]:
        """Those of the clues."""
        return [name for clue in self.clues for name in CLUES[clue][1]]

    def values(self, view: View) -> Doubles:
        """The numbers of each choice."""
        idf = _Worth(self)
        told, codes = stories(view, self.story), view.distinct(self.story).codes
        questions = [light_stems(text or "") for text in view.groups.column(self.question).to_pylist()]
        choices = view.shared("stems", lambda: [light_stems(one or "") for one in view.groups.candidates.to_pylist()])
        rows = []
        for i, group in enumerate(view.group.tolist()):
            clue = Clue(told[codes[group]], questions[group], choices[i], idf)
            rows.append([number for name in self.clues for number in CLUES[name][0](clue)])
        return np.array(rows, np.float64).reshape(len(view), len(self.names()))

    def state(self) -> State:
        """The clues and the table."""
        manifest = {"kind": "passage", "story": self.story, "question": self.question, "clues": list(self.clues)}
        return State({**manifest, "n": self.n}, {"keys": self.keys.view(np.int64), "counts": self.counts})

    @classmethod
    def from_state(cls, state: State, *blocks: Any) -> FittedPassage:
        """Built again."""
        del blocks
        clues, n = listed(state.manifest, "clues", str), field(state.manifest, "n", int)
        keys = tensor(state.tensors, "keys", np.int64).view(np.uint64)
        counts = tensor(state.tensors, "counts", np.float64)
        if not clues or any(clue not in CLUES for clue in clues):
            raise damaged("it has clues that are none")
        if len(keys) != len(counts) or (keys[1:] <= keys[:-1]).any() or not (counts > 0).all() or n < 0:
            raise damaged("its table of words does not fit")
        if not np.isfinite(counts).all():
            raise damaged("a count is not finite")
        story, question = field(state.manifest, "story", str), field(state.manifest, "question", str)
        return cls(story, question, clues, keys, counts, n)


class _Worth:
    """What a word is worth, looked up once."""

    def __init__(self, passage: FittedPassage) -> None:
        self.passage = passage
        self.known: dict[str, float] = {}

    def __call__(self, word: str) -> float:
        if word not in self.known:
            self.known[word] = math.log((self.passage.n + 1) / (self._count(word) + 0.5))
        return self.known[word]

    def _count(self, word: str) -> float:
        table, key = self.passage.keys, np.uint64(kernels.hash_bytes(word.encode()))
        at = int(np.searchsorted(table, key))
        return float(self.passage.counts[at]) if at < len(table) and table[at] == key else 0.0


def stories(view: View, column: str) -> list[Story]:
    """The distinct stories of a column."""
    return view.shared(("stories", column), lambda: [Story(text) for text in view.distinct(column).values.to_pylist()])
