"""A page is lines of styled words and tables: plain text for pipes, colors for terminals, one content for both.

How wide it becomes is decided when it is shown (`layout.py`): in a pipe each row stays on one line, on a terminal
nothing is wider than the terminal. Symbols are Unicode if the encoding of the stream supports it, else ASCII.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Protocol, TypeAlias

from linnaeus.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Signs by meaning; `blocks` are bars of growing length within one column, the last one full."""

    good: str
    bad: str
    note: str
    ellipsis: str
    dash: str
    same: str
    near: str
    blocks: str


UNICODE = Glyphs(good="✓", bad="✗", note="•", ellipsis="…", dash="–", same="=", near="≈", blocks="▏▎▍▌▋▊▉█")
ASCII = Glyphs(good="ok", bad="x", note="-", ellipsis="...", dash="-", same="=", near="~", blocks="#")


def glyphs_for(encoding: str | None) -> Glyphs:
    """The best symbols that the encoding supports.

    >>> glyphs_for("utf-8") is UNICODE, glyphs_for("latin-1") is ASCII
    (True, True)
    """
    try:
        "".join(getattr(UNICODE, field.name) for field in fields(UNICODE)).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


STYLES = (
    *("title", "good", "bad", "warn", "faint", "accent", "for", "for-strong", "against", "against-strong"),
    "command",
)
"""The styles of a word; the screen chooses the colors, and no information is shown by color alone."""


@dataclass(frozen=True, slots=True)
class Word:
    """Some text in one style; the empty style is plain."""

    text: str
    style: str = ""


Line: TypeAlias = tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; `align` has < or > for each column, or = for bars, and `left` columns stay free before it."""

    rows: tuple[Line, ...]
    align: str
    left: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    r"""Lines and tables from top to bottom.

    >>> page = Page((line("rows ", Word("12", "title")), line()))
    >>> page.plain()
    'rows 12\n\n'
    """

    blocks: tuple[Line | Table, ...] = ()

    def __add__(self, other: Page) -> Page:
        return Page(self.blocks + other.blocks)

    def lines(self, columns: int | None = None) -> list[Line]:
        """All of it as lines of at most so many columns; None: as wide as it is."""
        from linnaeus.render.layout import lay_out

        return [words for block in self.blocks for words in lay_out(block, columns)]

    def plain(self, columns: int | None = None) -> str:
        """The text without styles, each line ended."""
        return "".join("".join(word.text for word in words).rstrip() + "\n" for words in self.lines(columns))

    def html(self) -> str:
        """The text as a block of HTML."""
        from html import escape

        return f"<pre>{escape(self.plain())}</pre>"


class Shown(Protocol):
    """A result that is shown as a page: by the command line, by `print`, and in a notebook."""

    __slots__ = ()

    def page(self, glyphs: Glyphs) -> Page:
        """All of it for people."""
        ...

    def __str__(self) -> str:
        """The page that the command line shows."""
        return self.page(UNICODE).plain()

    def _repr_html_(self) -> str:
        """The same page in a notebook."""
        return self.page(UNICODE).html()


def line(*parts: str | Word) -> Line:
    """One line of plain and styled parts."""
    return tuple(Word(part) if isinstance(part, str) else part for part in parts)


def command(text: str) -> Line:
    """A command to copy into a shell; if it is broken into lines, each line but the last ends with a backslash."""
    return (Word(text, "command"),)


def title(text: str) -> Page:
    """A heading with an empty line above it."""
    return Page((line(), line(Word(text, "title"))))


def indent(page: Page) -> Page:
    """The page moved two columns to the right."""
    return Page(tuple(_indented(block) for block in page.blocks))


def _indented(block: Line | Table) -> Line | Table:
    if isinstance(block, Table):
        return replace(block, left=block.left + 2)
    return (Word("  "), *block) if block else block


def stack(pages: Iterable[Page]) -> Page:
    """Pages one below the other."""
    return Page(tuple(block for page in pages for block in page.blocks))


def table(head: Sequence[str], rows: Sequence[Sequence[str | Word]], align: str) -> Page:
    """A table; `align` has < or > for each column, or = for bars. An empty head is left out.

    Where it is wider than the screen, bars become shorter, text at the left edge of its column (<) goes on in the next
    line, and columns that have no room left follow below, with the first one repeated. A column without a name stays
    beside the one before it.

    >>> print(table(["label", "rows"], [["spam", "12"], ["ham", "1,200"]], "<>").plain(), end="")
    label   rows
    spam      12
    ham    1,200
    >>> print(table(["", ""], [["accuracy", "the share of rows that are right"]], "<<").plain(28), end="")
    accuracy  the share of rows
              that are right
    """
    cells = [tuple(cell if isinstance(cell, Word) else Word(cell) for cell in row) for row in rows]
    if any(head):
        cells.insert(0, tuple(Word(name, "faint") for name in head))
    return Page((Table(tuple(cells), align),))


def bar(part: float, columns: int, glyphs: Glyphs) -> str:
    """A bar for a share from 0 to 1 of this many columns; a share above zero is always visible.

    >>> from linnaeus.render.page import ASCII, UNICODE
    >>> bar(0.5, 6, ASCII), bar(0.3, 4, UNICODE)
    ('###', '█▎')
    """
    steps = len(glyphs.blocks)
    eighths = round(max(0.0, min(1.0, part)) * columns * steps)
    if part > 0:
        eighths = max(1, eighths)
    full, rest = divmod(eighths, steps)
    return glyphs.blocks[-1] * full + (glyphs.blocks[rest - 1] if rest else "")


def histogram(names: Sequence[str], counts: Sequence[int], columns: int, glyphs: Glyphs) -> Page:
    """A bar for each bin, as long as its count; empty bins at both ends are left out."""
    used = [i for i, count in enumerate(counts) if count]
    if not used:
        return Page()
    top = max(counts)
    rows = [
        (names[i], f"{counts[i]:,}", Word(bar(counts[i] / top, columns, glyphs), "accent"))
        for i in range(used[0], used[-1] + 1)
    ]
    return table(["", "", ""], rows, ">>=")
