"""Which units of a text become terms: the plan that the text kernels follow, as six small numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

UNITS = {"words": 0, "inside": 1, "across": 2, "subwords": 3, "skips": 4}
"""Word n-grams; character n-grams inside padded words; across the text; of words in <brackets>; words with a gap."""

CASES = {None: 0, "lower": 1, "fold": 2}
"""Case kept, as `str.lower`, as `str.casefold`."""

TOKENIZERS = {"words": 0, "scikit": 1, "whitespace": 2, "characters": 3, "bytes": 4, "edges": 5}
"""How a text is cut into tokens; kernels/reference/tokens.py defines each."""

EDGE = "\0"
"""The mark that "edges" sets before the first word and behind the last: no word holds it."""

NOT_ASCII, SUSPECT, AMPERSAND, INVALID = 1, 2, 4, 8
"""Flags of a text: it is not ASCII, NFC may change it, it may hold an HTML entity, it is not UTF-8."""


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


def checked(codes: Iterable[int]) -> Plan:
    """The plan of these numbers, where each is in its range; the compiled kernels refuse the same ones.

    >>> checked((0, 1, 0, 1, 2, 0))
    Plan(unit=0, case=1, tokenizer=0, low=1, high=2, gap=0)
    """
    plan = Plan(*codes)
    unit, case, tokenizer, low, high, gap = plan
    if not (0 <= unit < len(UNITS) and 0 <= case < len(CASES) and 0 <= tokenizer < len(TOKENIZERS)):
        raise ValueError("the plan names a unit, a case or a tokenizer that does not exist")
    if not (1 <= low <= high <= 64 and 0 <= gap <= 64):
        raise ValueError("the plan's n-grams do not run from at least 1 to at most 64, or its gap does not")
    if unit == UNITS["skips"] and (low, high) != (2, 2):
        raise ValueError("the plan's skip-grams are not pairs")
    if unit in (UNITS["inside"], UNITS["subwords"]) and tokenizer in (TOKENIZERS["bytes"], TOKENIZERS["edges"]):
        raise ValueError("the plan cuts bytes or marks into characters")
    return plan
