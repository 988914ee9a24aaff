"""A page is lines of styled words: plain text for pipes, colors for terminals, one content for both."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from linnaeus.frozen import dataclass

STYLES = ("title", "good", "bad", "warn", "faint", "accent", "for", "for-strong", "against", "against-strong")
"""What a word can mean beside its letters; the screen chooses the colors, and nothing is said by color alone."""


@dataclass(frozen=True, slots=True)
class Word:
    """Some text in one style; the empty style is plain."""

    text: str
    style: str = ""


Line: TypeAlias = tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Page:
    r"""Lines from top to bottom.

    >>> page = Page((line("rows ", Word("12", "title")), line()))
    >>> page.plain()
    'rows 12\n\n'
    """

    lines: tuple[Line, ...] = ()

    def __add__(self, other: Page) -> Page:
        return Page(self.lines + other.lines)

    def plain(self) -> str:
        """The text without styles, each line ended."""
        return "".join("".join(word.text for word in words).rstrip() + "\n" for words in self.lines)


def line(*parts: str | Word) -> Line:
    """One line of plain and styled parts."""
    return tuple(Word(part) if isinstance(part, str) else part for part in parts)


def title(text: str) -> Page:
    """A heading with an empty line above it."""
    return Page((line(), line(Word(text, "title"))))


def indent(page: Page, by: int = 2) -> Page:
    """The page moved to the right."""
    return Page(tuple((Word(" " * by), *words) if words else words for words in page.lines))


def stack(pages: Iterable[Page]) -> Page:
    """Pages one below the other."""
    return Page(tuple(words for page in pages for words in page.lines))
