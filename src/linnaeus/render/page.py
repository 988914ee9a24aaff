"""A page is lines of styled words and tables: plain text for pipes, colors for terminals, one content for both.

How wide it becomes is decided when it is shown (`layout.py`): in a pipe each row stays on one line, on a terminal
nothing is wider than the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.render.glyphs import Glyphs

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
        from linnaeus.render.glyphs import UNICODE

        return self.page(UNICODE).plain()

    def _repr_html_(self) -> str:
        """The same page in a notebook."""
        from linnaeus.render.glyphs import UNICODE

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


def indent(page: Page, by: int = 2) -> Page:
    """The page moved to the right."""
    return Page(tuple(_moved(block, by) for block in page.blocks))


def _moved(block: Line | Table, by: int) -> Line | Table:
    if isinstance(block, Table):
        return replace(block, left=block.left + by)
    return (Word(" " * by), *block) if block else block


def stack(pages: Iterable[Page]) -> Page:
    """Pages one below the other."""
    return Page(tuple(block for page in pages for block in page.blocks))
