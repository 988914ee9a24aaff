"""A text in segments: words, and characters as readers see them.

Words are those of the text room's tokenizer. Where its tokens overlap, as pairs of Chinese characters do, every place
where one begins or ends is a cut, so that words never overlap.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import TypeAlias

from linnaeus.text import Analysis, Normalize

Span: TypeAlias = tuple[int, int]

WORDS = Analysis()
CHUNKS = Analysis("whitespace", Normalize(form=None, case=None))

JOINERS = "\u200c\u200d"
VIRAMA = 9
"""The combining class of the signs that bind two consonants of an Indic script into one."""


def words(text: str) -> list[Span]:
    """The words of a text, without overlaps; if it has none, the parts between white space.

    >>> words("Don't, 天气好!")
    [(0, 5), (7, 8), (8, 9), (9, 10)]
    >>> words("?! ...")
    [(0, 2), (3, 6)]
    """
    tokens = WORDS.spans(text) or CHUNKS.spans(text)
    bounds = _bounds(text)
    spans = {(bounds[token.start][0], bounds[token.end - 1][1]) for token in tokens}
    opened = dict.fromkeys(sorted({at for span in spans for at in span}), 0)
    for start, end in spans:
        opened[start] += 1
        opened[end] -= 1
    found, depth = [], 0
    for start, end in pairwise(opened):
        depth += opened[start]
        if depth:
            found.append((start, end))
    return found


def clusters(text: str) -> list[Span]:
    r"""Characters as readers see them: a letter with its marks, an emoji of several parts, a flag.

    An approximation of the extended grapheme clusters of Unicode (UAX 29), from the character database of Python.

    >>> clusters("e\u0301a\r\n")
    [(0, 2), (2, 3), (3, 5)]
    """
    starts, half, before = [], False, "\n"
    for i, char in enumerate(text):
        letter = "\U0001f1e6" <= char <= "\U0001f1ff"
        if not (_continues(before, char) or (half and letter)):
            starts.append(i)
        half = letter and not half  # a flag is two of these letters
        before = char
    return list(pairwise([*starts, len(text)])) if starts else []


def cut(text: str) -> list[Span]:
    """The whole text from left to right: its words, and the clusters between them."""
    inside = dict(words(text))
    found, at = [], 0
    gaps = dict(clusters(text))
    while at < len(text):
        end = inside.get(at) or gaps[at]
        found.append((at, end))
        at = end
    return found


def _bounds(text: str) -> list[Span]:
    """The cluster of each character."""
    return [span for span in clusters(text) for _ in range(*span)]


def _continues(before: str, char: str) -> bool:
    """Whether a character belongs to the one before."""
    if char < "\u0300":
        return before == "\r" and char == "\n"
    if unicodedata.category(before) in ("Cc", "Zl", "Zp", "Zs"):
        return False
    if unicodedata.category(char) in ("Mn", "Me", "Mc") or char in JOINERS or _modifies(ord(char)):
        return True
    if before == "\u200d" and unicodedata.category(char) in ("So", "Sm"):
        return True
    if unicodedata.combining(before) == VIRAMA and unicodedata.category(char) == "Lo":
        return True
    return _jamo(ord(before), ord(char))


def _modifies(code: int) -> bool:
    return 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F


def _jamo(before: int, code: int) -> bool:
    """A syllable of Hangul spelled out: leading consonants, vowels, trailing consonants."""
    leading = 0x1100 <= before <= 0x115F or 0xA960 <= before <= 0xA97C
    syllable = 0xAC00 <= before <= 0xD7A3
    open_ = (syllable and (before - 0xAC00) % 28 == 0) or 0x1160 <= before <= 0x11A7 or 0xD7B0 <= before <= 0xD7C6
    closed = (syllable and not open_) or 0x11A8 <= before <= 0x11FF or 0xD7CB <= before <= 0xD7FB
    vowel = 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6
    trailing = 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB
    first = 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C or 0xAC00 <= code <= 0xD7A3
    return (leading and (first or vowel)) or (open_ and (vowel or trailing)) or (closed and trailing)
