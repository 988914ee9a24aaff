"""What kind of character is this? The classes that tokenizers and normalization ask for, from Python's Unicode data.

This file needs nothing but the standard library: the build reads it to make the tables of the compiled kernels, so that
a kernel and its twin agree on every code point.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

WORD = 1  # a word character as regular expressions see it: letters, numbers and the underscore
MARK = 2  # a combining mark: part of the word it stands in
SPACE = 4
SYMBOL = 8  # a symbol outside ASCII (emoji, stars, arrows): a word of its own
UNSPACED = 16  # of a script written without spaces: Chinese, Japanese, Thai, Lao, Khmer, Burmese ...
DIGIT = 32
CASED = 64  # matters for the final sigma: cased and not ignorable
IGNORABLE = 128  # skipped when looking for the cased letter before or after a sigma

UNSPACED_RANGES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x3007),  # ideographic iteration mark and zero
    (0x3021, 0x3029),
    (0x3038, 0x303B),
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3100, 0x312F),  # Bopomofo
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),  # Burmese
    (0xAA60, 0xAADF),  # Burmese, Tai Viet
    (0xF900, 0xFAFF),  # Han
    (0xFF66, 0xFF9F),  # Katakana of half width
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),  # Han
)

COMPOSED_RANGES = ((0xC0, 0x3100), (0xFB1D, 0xFB50), (0x11000, 0x12000), (0x16000, 0x17000), (0x1D15E, 0x1D1C1))
"""Where characters stand that decompose into two; all others that decompose have a part of the same ranges."""


@lru_cache(maxsize=8192)
def classify(char: str) -> int:
    """The class bits of one character.

    >>> classify("a") == WORD | CASED, classify(" ") == SPACE
    (True, True)
    """
    code, category = ord(char), unicodedata.category(char)
    bits = WORD if char.isalnum() or char == "_" else 0
    bits |= MARK if category[0] == "M" or code in (0x200C, 0x200D) else 0
    bits |= SPACE if char.isspace() else 0
    bits |= SYMBOL if code >= 0x80 and category in ("So", "Sm") else 0
    bits |= DIGIT if category == "Nd" else 0
    if bits & (WORD | MARK) and any(low <= code <= high for low, high in UNSPACED_RANGES):
        bits |= UNSPACED
    if 0xD800 <= code <= 0xDFFF:
        return bits
    return bits | _sigma_class(char)


def _sigma_class(char: str) -> int:
    """How Python's lower() treats this character before a capital sigma: the data are not exposed any other way."""
    if (char + "Σ").lower()[-1] == "ς":
        return CASED
    return IGNORABLE if ("A" + char + "Σ").lower()[-1] == "ς" else 0


@lru_cache(maxsize=1)
def composing() -> frozenset[str]:
    """Characters that a canonical composition may join to the one before them."""
    seconds = {chr(code) for code in range(0x1161, 0x1176)} | {chr(code) for code in range(0x11A8, 0x11C3)}
    for code in (code for low, high in COMPOSED_RANGES for code in range(low, high)):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            seconds.add(chr(int(parts[1], 16)))
    return frozenset(seconds)


@lru_cache(maxsize=8192)
def suspect(char: str) -> bool:
    """Whether a text that holds this character may change under NFC; a text without suspects does not."""
    if char < "\u00c0":
        return False
    return unicodedata.combining(char) != 0 or char in composing() or unicodedata.normalize("NFC", char) != char
