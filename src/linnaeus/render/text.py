"""Texts and numbers for people: safe in a terminal, cut to a width, few digits, suitable units."""

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


_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def percent(share: float) -> str:
    """A share in percent; only zero is shown as 0 %.

    >>> percent(0.125), percent(0.00001), percent(0), percent(1)
    ('12.5 %', '<0.1 %', '0 %', '100 %')
    """
    if 0 < share < 0.0005:
        return "<0.1 %"
    return f"{share:.1%}".replace(".0%", "%").replace("%", " %")


def number(value: float) -> str:
    """A number with about three significant digits and thousands separators.

    >>> number(1234567), number(12.5), number(0.0312)
    ('1,234,567', '12.5', '0.0312')
    """
    if float(value).is_integer() or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "row"), counted(1234, "row")
    ('1 row', '1,234 rows')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def size(count: float) -> str:
    """Bytes with a unit.

    >>> size(999), size(12_345_678)
    ('999 B', '12.3 MB')
    """
    unit = 0
    while count >= 1000 and unit < len(_UNITS) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.0f} {_UNITS[unit]}" if unit == 0 or count >= 100 else f"{count:.1f} {_UNITS[unit]}"


def duration(seconds: float) -> str:
    """Time with a unit.

    >>> duration(0.0312), duration(75), duration(7300)
    ('31 ms', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
