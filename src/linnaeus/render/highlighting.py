"""Highlighted text: words for a class or against it, weakly or strongly; on a screen and as HTML.

No information is shown by color alone: without colors, marks stand around the words; in HTML words against a class are
underlined too, and a tooltip shows the number of every word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from linnaeus.frozen import dataclass
from linnaeus.render.page import Page, Word
from linnaeus.render.text import safe, spell

FAINT, STRONG = 0.05, 0.4
"""The strengths from which a word is highlighted, and highlighted strongly."""

BLUE, ORANGE = "0,114,178", "213,94,0"
"""Colors for and against that people with color blindness can distinguish (Okabe and Ito, 2008)."""

OPAQUE = 0.6
"""The strongest background: text stays readable on it whether the page is light or dark."""


@dataclass(frozen=True, slots=True)
class Tint:
    """A part of a text; its strength, from -1 (against) over 0 (neutral) to 1 (for); its tooltip."""

    text: str
    strength: float = 0.0
    said: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """What stands before and after a piece, by style."""

    before: dict[str, str]
    after: str = ""


STYLES: tuple[str, ...] = ("for", "for-strong", "against", "against-strong")

COLORED = Marks(dict.fromkeys(STYLES, ""))
"""No marks: the screen shows colors."""

PLAIN = Marks({"for": "[+", "for-strong": "[++", "against": "[-", "against-strong": "[--"}, "]")
"""Marks in ASCII, for a screen without colors."""

_RUNS = re.compile(" |[^ ]+")


def style_of(strength: float) -> str:
    """The style of a strength; empty if it is not highlighted.

    >>> style_of(0.9), style_of(-0.1), style_of(0.0)
    ('for-strong', 'against', '')
    """
    if abs(strength) < FAINT:
        return ""
    return ("for" if strength > 0 else "against") + ("-strong" if abs(strength) >= STRONG else "")


def highlight(tints: Sequence[Tint], marks: Marks) -> Page:
    """The text as one line, which the screen breaks between words.

    >>> print(highlight([Tint("a "), Tint("good", 0.9), Tint(" film")], PLAIN).plain(), end="")
    a [++good] film
    """
    words = tuple(_words(tints, marks))
    return Page((words,) if words else ())


def _words(tints: Sequence[Tint], marks: Marks) -> Iterator[Word]:
    """Pieces with their marks; spaces stand alone, no two in a row, none at the beginning."""
    blank = True
    for tint in tints:
        style = style_of(tint.strength)
        for piece in _RUNS.findall(safe(tint.text)):
            if piece != " ":
                yield Word(marks.before[style] + piece + marks.after, style) if style else Word(piece)
            elif not blank:
                yield Word(" ")
            blank = piece == " "


def highlight_html(tints: Sequence[Tint]) -> str:
    """The text as one block of HTML: escaped, colored by inline style, in the direction its letters have.

    Pieces are plain spans, which change neither the order nor the joining of letters; the block keeps marks that turn
    the direction of text from reaching beyond it.

    >>> highlight_html([Tint("<b>", 1.0, "+0.5")])[-81:]
    '<span style="background:rgba(0,114,178,0.60)" title="+0.5">&lt;b&gt;</span></div>'
    """
    style = "white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate;line-height:1.7"
    return f'<div dir="auto" style="{style}">' + "".join(map(_span, tints)) + "</div>"


def _span(tint: Tint) -> str:
    shown = html_text(tint.text)
    title = f' title="{html_text(tint.said)}"' if tint.said else ""
    if not style_of(tint.strength):
        return f"<span{title}>{shown}</span>" if title else shown
    return f'<span style="{tint_style(tint.strength)}"{title}>{shown}</span>'


def tint_style(strength: float) -> str:
    """The inline style of a strength."""
    opaque = OPAQUE * min(1.0, abs(strength))
    if strength > 0:
        return f"background:rgba({BLUE},{opaque:.2f})"
    return f"background:rgba({ORANGE},{opaque:.2f});text-decoration:underline dotted"


def html_text(text: str) -> str:
    r"""Untrusted text in HTML: escaped, line ends and tabs kept, control characters spelled out.

    >>> html_text("<a>\r\n\x00&")
    '&lt;a&gt;\n\\x00&amp;'
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return escape("".join(char if char in "\n\t" else spell(char) for char in lines), quote=True)
