"""n-grams of characters: inside words, across the text, and as fastText's subwords."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from linnaeus.errors import UsageError
from linnaeus.features.indexing.grams import Grams
from linnaeus.features.words import TermBlock, check_range
from linnaeus.frozen import dataclass

Within: TypeAlias = Literal["words", "text"]
WITHIN: dict[Within, str] = {"words": "inside", "text": "across"}
"""What a character n-gram may not leave, and the kernels' unit for it."""


@dataclass(frozen=True)
class Chars(TermBlock):
    """Counts of `shortest` to `longest` characters in a row: good for short texts, typos, and telling languages apart.

    Within "words", each word has a space at both ends and no n-gram leaves it: scikit-learn's char_wb, where words are
    what stands between white space (the default here). Within "text", n-grams run across, and white space of two or
    more characters counts as one space: scikit-learn's char.

    >>> Chars(3, 3).fit(["to be"]).names()
    [' be', ' to', 'be ', 'to ']
    """

    shortest: int = 3
    longest: int = 5
    within: Within = "words"
    tokenizer: str = field(default="whitespace", kw_only=True)

    def __post_init__(self) -> None:
        check_range((self.shortest, self.longest), "Chars")
        if self.within not in WITHIN:
            raise UsageError(f"within={self.within!r} is not known; choose 'words' or 'text'.")
        refuse_pieces(self.tokenizer)
        super().__post_init__()

    def grams(self) -> Grams:
        """Character n-grams."""
        return Grams(self.analysis(), WITHIN[self.within], self.shortest, self.longest)


@dataclass(frozen=True)
class Subwords(TermBlock):
    """Words in <brackets> and their character n-grams, as fastText makes them (Bojanowski et al. 2017).

    >>> Subwords(3, 3).fit(["where"]).names()
    ['<wh', '<where>', 'ere', 'her', 're>', 'whe']
    """

    shortest: int = 3
    longest: int = 6

    def __post_init__(self) -> None:
        check_range((self.shortest, self.longest), "Subwords")
        refuse_pieces(self.tokenizer)
        super().__post_init__()

    def grams(self) -> Grams:
        """Words and their n-grams."""
        return Grams(self.analysis(), "subwords", self.shortest, self.longest)


def refuse_pieces(tokenizer: str) -> None:
    """Characters of single characters or bytes make no sense."""
    if tokenizer in ("characters", "bytes"):
        raise UsageError(f"Character n-grams are taken from words; tokenizer={tokenizer!r} has none. Try 'words'.")
