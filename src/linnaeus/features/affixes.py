"""How words begin and end: prefixes and suffixes of a few characters, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from linnaeus.errors import UsageError
from linnaeus.features.base import Block, Fitted, rows_from
from linnaeus.features.pieces import texts
from linnaeus.features.states import field, pack_strings, unpack_strings
from linnaeus.features.tokens import words
from linnaeus.types import Place, State

if TYPE_CHECKING:
    from linnaeus.arrays.csr import CSR
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream
    from linnaeus.types import Ints


@dataclass(frozen=True)
class Affixes(Block):
    """Counts of the first and last characters of words, in lower case: `un-`, `-ing`.

    `prefixes` and `suffixes` are the lengths wanted; only words that are longer count. Affixes in at least `min_df`
    texts are kept, by code point; those not seen in training are ignored later.

    >>> Affixes(prefixes=(2,), suffixes=(3,)).fit(["singing", "Sings"]).names()
    ['-ing', '-ngs', 'si-']
    """

    prefixes: tuple[int, ...] = (1, 2, 3)
    suffixes: tuple[int, ...] = (1, 2, 3)
    min_df: int = 1

    def __post_init__(self) -> None:
        for name in ("prefixes", "suffixes"):
            object.__setattr__(self, name, tuple(sorted(set(getattr(self, name)))))
        if min((*self.prefixes, *self.suffixes, self.min_df), default=0) < 1:
            raise UsageError("Affixes takes lengths and a min_df of at least 1.")
        if not self.prefixes and not self.suffixes:
            raise UsageError("Affixes needs at least one length of prefixes or suffixes.")

    def learn(self, stream: Stream) -> FittedAffixes:
        """One walk that counts in how many texts each affix occurs."""
        df: Counter[str] = Counter()
        for batch in stream.batches():
            for text in texts(batch, "Affixes"):
                df.update({name for name, _, _ in affixes(text, self.prefixes, self.suffixes)})
        kept = tuple(sorted(name for name, count in df.items() if count >= self.min_df))
        return FittedAffixes(self.prefixes, self.suffixes, kept)


def affixes(text: str, prefixes: tuple[int, ...], suffixes: tuple[int, ...]) -> Iterator[tuple[str, int, int]]:
    """Name, start and end of each affix of each word, in order."""
    for start, end in words(text):
        for length in prefixes:
            if end - start > length:
                yield f"{text[start : start + length].lower()}-", start, start + length
        for length in suffixes:
            if end - start > length:
                yield f"-{text[end - length : end].lower()}", end - length, end


@dataclass(frozen=True)
class FittedAffixes(Fitted):
    """The affixes that are counted."""

    prefixes: tuple[int, ...]
    suffixes: tuple[int, ...]
    terms: tuple[str, ...]

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.terms)}

    @property
    def width(self) -> int:
        """One column for each affix."""
        return len(self.terms)

    def extract(self, batch: Batch) -> CSR:
        """How often each affix occurs."""
        counts = [Counter(place.column for place in self._places(text)) for text in texts(batch, "Affixes")]
        return rows_from([dict(row) for row in counts], self.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """The beginnings and ends of words."""
        return [list(self._places(text)) for text in texts(batch, "Affixes")]

    def names(self) -> list[str]:
        """The affixes, with a dash where the rest of the word was."""
        return list(self.terms)

    def keep(self, columns: Ints) -> FittedAffixes:
        """Only these affixes."""
        return FittedAffixes(self.prefixes, self.suffixes, tuple(self.terms[column] for column in columns.tolist()))

    def state(self) -> State:
        """Lengths and affixes."""
        manifest = {"kind": "affixes", "prefixes": list(self.prefixes), "suffixes": list(self.suffixes)}
        return State(manifest, pack_strings("terms", self.terms))

    @classmethod
    def from_state(cls, state: State) -> FittedAffixes:
        """Built again."""
        prefixes, suffixes = (tuple(field(state.manifest, name, list)) for name in ("prefixes", "suffixes"))
        return cls(prefixes, suffixes, tuple(unpack_strings("terms", state.tensors)))

    def _places(self, text: str) -> Iterator[Place]:
        for name, start, end in affixes(text, self.prefixes, self.suffixes):
            column = self._columns.get(name)
            if column is not None:
                yield Place(column, start, end)
