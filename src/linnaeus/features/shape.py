"""The shape of a text: punctuation, capitals, digits, length."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from linnaeus.features.base import Block, Fitted, rows_from
from linnaeus.features.common.bags import bag
from linnaeus.features.common.pieces import text, texts
from linnaeus.frozen import dataclass
from linnaeus.text import Analysis, Normalize
from linnaeus.types import Place, State

if TYPE_CHECKING:
    from linnaeus.arrays.csr import CSR
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream


def has_punctuation(word: str) -> bool:
    """Whether a character of the word is punctuation or a symbol."""
    return any(unicodedata.category(character)[0] in "PS" for character in word)


def has_capital(word: str) -> bool:
    """Whether a letter of the word is upper or title case."""
    return any(character.isupper() or character.istitle() for character in word)


def is_all_capitals(word: str) -> bool:
    """Whether the word has at least two letters, all upper case."""
    return word.isupper() and sum(character.isalpha() for character in word) > 1


def has_digit(word: str) -> bool:
    """Whether a character of the word is a digit."""
    return any(character.isdigit() for character in word)


SHARES: dict[str, Callable[[str], bool]] = {
    "words with punctuation": has_punctuation,
    "words with a capital": has_capital,
    "words in capitals": is_all_capitals,
    "words with a digit": has_digit,
}
LENGTHS = ("log words", "log characters")

CHUNKS = Analysis("whitespace", Normalize(form=None, case=None))
"""What stands between white space: words with the punctuation that clings to them."""


@dataclass(frozen=True)
class Shape(Block):
    """The shape of a text: shares of words with punctuation, capitals or digits, and ln(1 + length).

    The six columns are the shares of words with punctuation, with a capital, all in capitals, and with a digit, and
    ln(1 + length) in words and in characters. Words are separated by white space. Shares are between 0 and 1.

    >>> Shape().fit(["x"]).rows(["Call 911 NOW !"]).data[:4].round(2).tolist()
    [0.25, 0.5, 0.25, 0.25]
    """

    def learn(self, stream: Stream) -> FittedShape:
        """Nothing is learned."""
        del stream
        return FittedShape()


@dataclass(frozen=True)
class FittedShape(Fitted):
    """The shape of texts."""

    @property
    def width(self) -> int:
        """The shares and the lengths."""
        return len(SHARES) + len(LENGTHS)

    def extract(self, batch: Batch) -> CSR:
        """Six numbers for each text."""
        words, counts = bag(text(batch, "Shape"), CHUNKS)
        tests = np.array([[test(word) for test in SHARES.values()] for word in words], np.float64)
        found = counts @ tests.reshape(len(words), len(SHARES))
        lengths = zip(np.diff(counts.indptr).tolist(), pc.utf8_length(batch.text).to_pylist(), strict=True)
        return rows_from([_shape(row, *sizes) for row, sizes in zip(found.tolist(), lengths, strict=True)], self.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """The words that have it, for each share."""
        return [
            [
                Place(column, start, end)
                for column, test in enumerate(SHARES.values())
                for start, end in CHUNKS.cut(text)
                if test(text[start:end])
            ]
            for text in texts(batch, "Shape")
        ]

    def names(self) -> list[str]:
        """What each number says."""
        return [*SHARES, *LENGTHS]

    def state(self) -> State:
        """Only its kind."""
        return State({"kind": "shape"}, {})

    @classmethod
    def from_state(cls, state: State) -> FittedShape:
        """Restore from the stored state."""
        del state
        return cls()


def _shape(found: list[float], words: int, characters: int) -> dict[int, float]:
    shares = [count / max(words, 1) for count in found]
    return dict(enumerate([*shares, math.log1p(words), math.log1p(characters)]))
