"""The scripts of the letters, and signs of text that was decoded wrongly."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from linnaeus.audit.records import Share

if TYPE_CHECKING:
    from linnaeus.types import Words64

# The first word of a character's name is its script, but for these.
_SCRIPTS = {"CJK": "Han", "KANGXI": "Han", "IDEOGRAPHIC": "Han", "FEMININE": "Latin", "MASCULINE": "Latin"}
_SCRIPTS |= {"MICRO": "Greek", "OHM": "Greek", "KELVIN": "Latin", "ANGSTROM": "Latin"}
_WIDTHS = ("FULLWIDTH", "HALFWIDTH")
_NO_SCRIPT = ("MATHEMATICAL", "MODIFIER", "DOUBLE-STRUCK", "SCRIPT", "BLACK-LETTER", "INFORMATION", "ALEF", "BET")
_TWO_WORDS = ("OLD", "NEW", "TAI", "OL", "LINEAR", "CANADIAN", "MEETEI", "SYLOTI", "SORA", "PAHAWH", "NYIAKENG")

# U+FFFD, NUL, C1 controls (Windows-1252 read as Latin-1), and the usual faces of UTF-8 read as Latin-1 or
# Windows-1252: a lead byte shown as a letter, its continuation as a symbol.
_SIGNS = "|".join(
    (
        "\ufffd",
        "\\x00",
        "[\\x{80}-\\x{9f}]",
        "[ÂÃ][\\x{a0}-\\x{bf}]",
        "Ã[‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]",
        "â€|â\\x{80}|ï»¿",
        "(?:[ÐÑ][\\x{a0}-\\x{bf}]){2}",
    )
)
_PATTERN = re.compile(re.sub(r"\\x\{(..)\}", r"\\x\1", _SIGNS))
_TRIGGERS = np.array([0xFFFD, 0x00, *range(0x80, 0xA0), *map(ord, "ÂÃÐÑâï")])

AROUND = 20
"""The number of characters before a sign in its excerpt."""


def script_of(char: str) -> str | None:
    """The script of a letter, None for anything else.

    >>> [script_of(char) for char in "aя中ｱ7"]
    ['Latin', 'Cyrillic', 'Han', 'Katakana', None]
    """
    if unicodedata.category(char)[0] != "L":
        return None
    words = unicodedata.name(char, "").split()
    if words and words[0] in _WIDTHS:
        words = words[1:]
    if not words or words[0] in _NO_SCRIPT:
        return None
    name = " ".join(words[:2]) if words[0] in _TWO_WORDS else words[0].split("-")[0]
    return _SCRIPTS.get(name, name.title())


def scripts(counts: Words64) -> tuple[Share, ...]:
    """The scripts of all letters, the most frequent first, from how often each code point occurs."""
    totals: dict[str, int] = {}
    for code in np.flatnonzero(counts[:0x110000]).tolist():
        script = script_of(chr(code))
        if script:
            totals[script] = totals.get(script, 0) + int(counts[code])
    letters = sum(totals.values())
    ranked = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Share(name, count, count / letters) for name, count in ranked)


def excerpt(text: str) -> str:
    """The first sign of wrong decoding with some characters around it."""
    at = _PATTERN.search(text)
    start = max(0, at.start() - AROUND) if at else 0
    return text[start : start + 3 * AROUND]


def damaged(text: pa.Array, counts: Words64) -> NDArray[np.bool_]:
    """Which texts show signs of wrong decoding; the counts of their characters spare most batches the search."""
    if not counts[_TRIGGERS].any():
        return np.zeros(len(text), bool)
    found = pc.match_substring_regex(text, pattern=_SIGNS)
    return np.asarray(found.to_numpy(zero_copy_only=False), bool)
