"""Word lists: how often, and with what weight, a text uses the words of a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linnaeus.errors import InputTypeError, ModelFileError, UsageError
from linnaeus.features.base import LARGEST, Block, Fitted, rows_from
from linnaeus.features.pieces import texts
from linnaeus.features.states import pack_strings, tensor, unpack_strings
from linnaeus.features.tokens import words
from linnaeus.types import Place, State

if TYPE_CHECKING:
    from linnaeus.arrays.csr import CSR
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream

Entry: TypeAlias = tuple[str, str, float]
"""List, word, weight."""

_KIND = "Lexicon takes {word: weight}, a list of words, or either of these by list name"


@dataclass(frozen=True)
class Lexicon(Block):
    """The summed weights of a list's words in a text, one column for each list.

    `lists` is `{word: weight}` or a list of words (each of weight 1), or several of these by name:
    `{"positive": ["good", "great"], "negative": {"bad": 1.0, "not good": 2.0}}`. Case does not matter. An entry of
    several words is found where they follow each other; every entry counts, also inside a longer one.

    >>> Lexicon({"good": 1.0, "excellent": 2.0}).fit(["x"]).rows(["Good, good. Excellent!"]).data.tolist()
    [4.0]
    """

    lists: Any
    name: str = "lexicon"

    def __post_init__(self) -> None:
        entries = tuple(_entries(self.lists, self.name))
        if not entries:
            raise UsageError("Lexicon has no words.")
        for _, word, weight in entries:
            if not words(word):
                raise UsageError(f"Lexicon has the entry {word!r}, in which there is no word.")
            if not abs(weight) <= LARGEST:
                raise UsageError(f"Lexicon gives {word!r} the weight {weight}, which no float32 can hold.")
        object.__setattr__(self, "lists", entries)

    def learn(self, stream: Stream) -> FittedLexicon:
        """There is nothing to learn."""
        del stream
        return FittedLexicon(self.lists)


def _entries(lists: Any, name: str) -> Iterator[Entry]:
    """(list, word, weight) from all the forms a lexicon may have."""
    if isinstance(lists, tuple) and lists and all(isinstance(entry, tuple) and len(entry) == 3 for entry in lists):
        yield from lists
    elif isinstance(lists, Mapping) and lists and not any(_is_number(value) for value in lists.values()):
        for inner, content in lists.items():
            yield from _entries_of_one(content, str(inner))
    else:
        yield from _entries_of_one(lists, name)


def _entries_of_one(content: Any, name: str) -> Iterator[Entry]:
    if isinstance(content, str | bytes) or not isinstance(content, Iterable):
        raise InputTypeError(f"{_KIND}, not {type(content).__name__}.")
    pairs = content.items() if isinstance(content, Mapping) else ((word, 1.0) for word in content)
    for word, weight in pairs:
        if not isinstance(word, str) or not _is_number(weight):
            raise InputTypeError(f"{_KIND}; {word!r}: {weight!r} is none of these.")
        yield name, word, float(weight)


def _is_number(value: Any) -> bool:
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
    def _table(self) -> dict[tuple[str, ...], list[tuple[int, float]]]:
        columns = {name: column for column, name in enumerate(self.lists)}
        table: dict[tuple[str, ...], list[tuple[int, float]]] = {}
        for name, word, weight in self.entries:
            key = tuple(word[start:end].casefold() for start, end in words(word))
            table.setdefault(key, []).append((columns[name], weight))
        return table

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._table))

    @property
    def width(self) -> int:
        """One column for each list."""
        return len(self.lists)

    def extract(self, batch: Batch) -> CSR:
        """Sums of weights, in the order of the text."""
        return rows_from([self._sums(text) for text in texts(batch, "Lexicon")], self.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """Where the words of each list stand."""
        return [
            [Place(column, start, end) for column, _, start, end in self._matches(text)]
            for text in texts(batch, "Lexicon")
        ]

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
        """Built again."""
        lists, entries = unpack_strings("lists", state.tensors), unpack_strings("words", state.tensors)
        weights = tensor(state.tensors, "weights", np.float64).tolist()
        if not len(lists) == len(entries) == len(weights) > 0:
            raise ModelFileError("The model is damaged: its lexicon has words without lists or weights.")
        return cls(tuple(zip(lists, entries, weights, strict=True)))

    def _sums(self, text: str) -> dict[int, float]:
        sums: dict[int, float] = {}
        for column, weight, _, _ in self._matches(text):
            sums[column] = sums.get(column, 0.0) + weight
        return sums

    def _matches(self, text: str) -> Iterator[tuple[int, float, int, int]]:
        """Column, weight, start and end of every entry in the text."""
        spans = words(text)
        folded = [text[start:end].casefold() for start, end in spans]
        for first in range(len(spans)):
            for last in range(first, min(first + self._longest, len(spans))):
                for column, weight in self._table.get(tuple(folded[first : last + 1]), ()):
                    yield column, weight, spans[first][0], spans[last][1]
