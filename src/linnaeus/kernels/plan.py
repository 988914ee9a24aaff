"""Which units of a text become terms: the plan that the text kernels follow, as six small numbers."""

from __future__ import annotations

from typing import NamedTuple

UNITS = {"words": 0, "inside": 1, "across": 2, "subwords": 3, "skips": 4}
"""Word n-grams; character n-grams inside padded words; across the text; of words in <brackets>; words with a gap."""

CASES = {None: 0, "lower": 1, "fold": 2}
"""Case kept, as `str.lower`, as `str.casefold`."""

TOKENIZERS = {"words": 0, "scikit": 1, "whitespace": 2, "characters": 3, "bytes": 4}
"""How a text is cut into tokens; kernels/reference/tokens.py defines each."""


class Plan(NamedTuple):
    """n-grams of `low` to `high` units; skip-grams over at most `gap` words."""

    unit: int
    case: int
    tokenizer: int
    low: int
    high: int
    gap: int = 0

    @property
    def of_words(self) -> bool:
        """Whether terms are sequences of tokens, not strings of characters."""
        return self.unit in (UNITS["words"], UNITS["skips"])
