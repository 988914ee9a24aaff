"""A text on its way through normalization that remembers where each of its characters came from."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Form: TypeAlias = Literal["NFC", "NFKC"]

ENTITY = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")
"""What html.unescape looks at."""


@dataclass(frozen=True)
class Aligned:
    """Characters, and for each the span [start, end) of the original text it stands for."""

    text: str
    starts: tuple[int, ...] | range
    ends: tuple[int, ...] | range

    @classmethod
    def of(cls, text: str) -> Aligned:
        """A text as it is."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where these characters (at least one) stand in the original."""
        return min(self.starts[start:end]), max(self.ends[start:end])

    def rewrite(self, pieces: Iterator[tuple[int, int, str]]) -> Aligned:
        """The text made of new pieces, each in the place of characters [start, end) of this one."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for start, end, new in pieces:
            parts.append(new)
            if len(new) == end - start:
                starts += self.starts[start:end]
                ends += self.ends[start:end]
            elif new:
                first, last = self.span(start, end)
                starts += [first] * len(new)
                ends += [last] * len(new)
        return Aligned("".join(parts), tuple(starts), tuple(ends))


def unescape(text: str) -> Iterator[tuple[int, int, str]]:
    """HTML entities resolved."""
    at = 0
    for match in ENTITY.finditer(text):
        yield at, match.start(), text[at : match.start()]
        yield match.start(), match.end(), html.unescape(match.group())
        at = match.end()
    yield at, len(text), text[at:]


def compose(form: Form, text: str) -> Iterator[tuple[int, int, str]]:
    """NFC or NFKC, piece by piece: a piece ends where the next character joins nothing before it."""
    start = 0
    for i in range(1, len(text) + 1):
        if i == len(text) or _begins(text[i]):
            yield start, i, unicodedata.normalize(form, text[start:i])
            start = i


def _begins(char: str) -> bool:
    if char < "\u0300":
        return True
    from linnaeus.kernels.reference.characters import composing

    first = unicodedata.normalize("NFKD", char)[0]
    return unicodedata.combining(first) == 0 and first not in composing()


def each(change: Callable[[str], str], text: str) -> Iterator[tuple[int, int, str]]:
    """A change that looks at one character at a time."""
    return ((i, i + 1, change(char)) for i, char in enumerate(text))


def without_accents(text: str) -> str:
    """The text in compatibility decomposition, its combining marks dropped."""
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def lower(text: str) -> Iterator[tuple[int, int, str]]:
    """Lower case: the whole text decides on the form of a sigma, each character on its length."""
    lowered, at = text.lower(), 0
    for i, char in enumerate(text):
        size = len(char.lower())
        yield i, i + 1, lowered[at : at + size]
        at += size
