"""Word lists: the summed weights of the list words in a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.arrays.dense import Dense
from linnaeus.data.batch import Batch
from linnaeus.errors import InputTypeError, UsageError, damaged
from linnaeus.features.base import LARGEST, Block, Fitted
from linnaeus.features.batches import text
from linnaeus.features.terms.exact import FittedTerms, from_paths
from linnaeus.features.terms.grams import Grams
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.store.states import pack_strings, tensor, unpack_strings
from linnaeus.text import Analysis
from linnaeus.types import Doubles, Place, State

Entry: TypeAlias = tuple[str, str, float]
"""List, word, weight."""

Words: TypeAlias = Mapping[str, float] | Iterable[str]
Lists: TypeAlias = Words | Mapping[str, Words] | tuple[Entry, ...]
"""A list of words, perhaps with weights; several of these by name; or all entries."""

WORDS = Analysis()
LONGEST = 64
"""The words of the longest entry."""

_KIND = "Lexicon takes {word: weight}, a list of words, or either of these by list name"


@dataclass(frozen=True)
class Lexicon(Block):
    """Word lists: the summed weights of the list words in a text, one column for each list.

    `lists` is `{word: weight}` or a list of words (each of weight 1), or several of these by name: `{"positive":
    ["good", "great"], "negative": {"bad": 1.0, "not good": 2.0}}`. Texts are tokenized as in `Words()`, so case does
    not matter. An entry of several words matches consecutive words; every entry counts, also within a longer one.

    >>> Lexicon({"good": 1.0, "excellent": 2.0}).fit(["x"]).rows(["Good, good. Excellent!"]).data.tolist()
    [4.0]
    """

    lists: Lists
    name: str = "lexicon"

    def __post_init__(self) -> None:
        entries = tuple(_entries(self.lists, self.name))
        if not entries:
            raise UsageError("Lexicon has no words.")
        for _, word, weight in entries:
            if not _has_words(word):
                raise UsageError(f"Lexicon has the entry {word!r}, which is not 1 to {LONGEST} words.")
            if not abs(weight) <= LARGEST:
                raise UsageError(f"Lexicon gives {word!r} the weight {weight}, which no float32 can hold.")
        object.__setattr__(self, "lists", entries)

    def learn(self, stream: Stream) -> FittedLexicon:
        """Nothing is learned."""
        del stream
        return FittedLexicon(tuple(_entries(self.lists, self.name)))


def _entries(lists: Lists, name: str) -> Iterator[Entry]:
    """(list, word, weight) from all the forms a lexicon may have."""
    if isinstance(lists, tuple) and lists and all(isinstance(entry, tuple) and len(entry) == 3 for entry in lists):
        yield from lists
    elif isinstance(lists, Mapping) and lists and not any(_is_number(value) for value in lists.values()):
        for inner, content in lists.items():
            yield from _entries_of_one(content, str(inner))
    else:
        yield from _entries_of_one(lists, name)


def _entries_of_one(content: object, name: str) -> Iterator[Entry]:
    if isinstance(content, str | bytes) or not isinstance(content, Iterable):
        raise InputTypeError(f"{_KIND}, not {type(content).__name__}.")
    pairs = content.items() if isinstance(content, Mapping) else ((word, 1.0) for word in content)
    for word, weight in pairs:
        if not isinstance(word, str) or not _is_number(weight):
            raise InputTypeError(f"{_KIND}; {word!r}: {weight!r} is none of these.")
        yield name, word, float(weight)


def _has_words(entry: str) -> bool:
    return 1 <= len(WORDS.spans(entry)) <= LONGEST


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number)


@dataclass(frozen=True)
class FittedLexicon(Fitted):
    """A lexicon, ready to look words up."""

    entries: tuple[Entry, ...]

    @cached_property
    def lists(self) -> list[str]:
        """The names of the lists, in the order given."""
        return list(dict.fromkeys(name for name, _, _ in self.entries))

    @cached_property
    def _terms(self) -> tuple[FittedTerms, Doubles]:
        """Counts of the entries, each once, and their weights in each list (entries, lists)."""
        spelled = [tuple(token.text.encode() for token in WORDS.spans(word)) for _, word, _ in self.entries]
        paths = list(dict.fromkeys(spelled))
        number, columns = {path: i for i, path in enumerate(paths)}, {name: i for i, name in enumerate(self.lists)}
        weights = np.zeros((len(paths), len(columns)))
        for path, (name, _, weight) in zip(spelled, self.entries, strict=True):
            weights[number[path], columns[name]] += weight
        return FittedTerms(Grams(WORDS, "words", 1, max(map(len, paths))), from_paths(paths)), weights

    @property
    def width(self) -> int:
        """One column for each list."""
        return len(self.lists)

    def extract(self, batch: Batch) -> CSR:
        """Sums of weights."""
        text(batch, "Lexicon")
        terms, weights = self._terms
        sums = np.clip(terms.extract(batch).dot(weights), -LARGEST, LARGEST)
        return Dense(sums.astype(np.float32)).to_csr()

    def locate(self, batch: Batch) -> list[list[Place]]:
        """Where the words of each list stand, and their weights, unless these cancel."""
        X = self.extract(batch)
        terms, weights = self._terms
        found = []
        for row, places in enumerate(terms.locate(batch)):
            there = X.indices[X.indptr[row] : X.indptr[row + 1]].tolist()
            in_order = sorted(places, key=lambda place: (place.start, place.end))
            said = [Place(c, p.start, p.end, float(weights[p.column, c])) for p in in_order for c in there]
            found.append([place for place in said if place.amount])
        return found

    def names(self) -> list[str]:
        """The names of the lists."""
        return self.lists

    def state(self) -> State:
        """Lists, words and weights."""
        names, entries, weights = zip(*self.entries, strict=True)
        tensors = {**pack_strings("lists", names), **pack_strings("words", entries)}
        return State({"kind": "lexicon"}, {**tensors, "weights": np.array(weights, np.float64)})

    @classmethod
    def from_state(cls, state: State) -> FittedLexicon:
        """Restore from the stored state."""
        lists, entries = unpack_strings("lists", state.tensors), unpack_strings("words", state.tensors)
        weights = tensor(state.tensors, "weights", np.float64).tolist()
        if not len(lists) == len(entries) == len(weights) > 0:
            raise damaged("its lexicon has words without lists or weights")
        if not all(map(_has_words, entries)):
            raise damaged(f"its lexicon has entries that are not 1 to {LONGEST} words")
        return cls(tuple(zip(lists, entries, weights, strict=True)))
