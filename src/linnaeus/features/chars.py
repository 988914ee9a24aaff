"""Character n-grams: within words, across the text, and fastText subwords."""

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
    """Counts of character n-grams of `shortest` to `longest` characters; good for short texts, typos and languages.

    With `within="words"`, each word is padded with a space at both ends and n-grams stay within it, as in
    scikit-learn's char_wb, where words are separated by white space (the default here). With `within="text"`, n-grams
    cross word boundaries, and runs of white space count as one space, as in scikit-learn's char.

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
    """Words in <brackets> and their character n-grams, as in fastText (Bojanowski et al. 2017).

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
    """Refuse tokenizers of characters and bytes."""
    if tokenizer in ("characters", "bytes"):
        raise UsageError(f"Character n-grams need words, but tokenizer={tokenizer!r} has none; use 'words'.")
