"""Text in columns: its width on a screen, and how to escape, pad and cut it."""

from __future__ import annotations

import re
import unicodedata

_SPACES = re.compile("[ \t\n\r\f\v]+")  # not U+0085 and its like, which the reader has to see

# Marks that change the direction of text can make a line look different from its characters.
_DIRECTIONS = frozenset(chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C))


def clean(text: str) -> str:
    r"""Untrusted text made safe for a terminal: ASCII white space becomes one space, control characters are escaped.

    >>> clean("a\n b\x1b[31m")
    'a b\\x1b[31m'
    """
    return safe(text).strip(" ")


def safe(text: str) -> str:
    r"""A part of untrusted text made safe in the same way; white space at its ends is kept, as one space.

    >>> safe("a\t \x07b\n")
    'a \\x07b '
    """
    shown = _SPACES.sub(" ", text)
    if shown.isascii() and shown.isprintable():
        return shown
    return "".join(spell(char) for char in shown)


def spell(char: str) -> str:
    """A character; spelled out if it is invisible or changes the direction of text."""
    hidden = unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in _DIRECTIONS
    return char.encode("unicode_escape", "surrogatepass").decode("ascii") if hidden else char


def width(text: str) -> int:
    r"""Columns of a terminal: Chinese characters take two, combining marks none.

    >>> width("abc"), width("中文"), width("e\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def pad(text: str, columns: int, align: str = "<") -> str:
    """The text filled with spaces to so many columns, at its left (<) or right (>) edge."""
    gap = " " * (columns - width(text))
    return gap + text if align == ">" else text + gap


def cut(text: str, columns: int, ellipsis: str = "...") -> str:
    """The text in at most so many columns, with an ellipsis where something was left out.

    >>> cut("a long story", 9)
    'a long...'
    """
    if width(text) <= columns:
        return text
    room, kept = columns - width(ellipsis), ""
    for char in text:
        room -= _columns(char)
        if room < 0:
            break
        kept += char
    return kept.rstrip() + ellipsis
