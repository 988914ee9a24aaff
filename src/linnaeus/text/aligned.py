"""Normalization that keeps the original position of each character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from linnaeus.frozen import dataclass

Form: TypeAlias = Literal["NFC", "NFKC"]

ENTITY = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")
"""The entities of html.unescape."""

NUMBER = re.compile(r"&#0*([0-9]{1,9})[0-9]*")
"""A character by its decimal number; more than nine digits are never a character."""

LONGEST = 32
"""Longer pieces that cannot be split, such as long runs of Hangul, are normalized as a whole."""


@dataclass(frozen=True)
class Aligned:
    """Characters, and for each its span [start, end) in the original text."""

    text: str
    starts: tuple[int, ...] | range
    ends: tuple[int, ...] | range

    @classmethod
    def of(cls, text: str) -> Aligned:
        """A text before normalization."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span of these characters (at least one) in the original text."""
        return min(self.starts[start:end]), max(self.ends[start:end])

    def rewrite(self, pieces: Iterator[tuple[int, int, str]]) -> Aligned:
        """A text of new pieces, each of which replaces characters [start, end) of this one."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        known, first, last = (-1, -1), 0, 0
        for start, end, new in pieces:
            parts.append(new)
            if len(new) == end - start:
                starts += self.starts[start:end]
                ends += self.ends[start:end]
            elif new:
                if known != (start, end):  # characters with the same source share one lookup
                    known, (first, last) = (start, end), self.span(start, end)
                starts += [first] * len(new)
                ends += [last] * len(new)
        return Aligned("".join(parts), tuple(starts), tuple(ends))


def resolve(text: str) -> str:
    """Resolve HTML entities, also those with thousands of digits, which Python does not convert to a number."""
    from html import unescape

    return unescape(NUMBER.sub(r"&#\1", text))


def unescape(text: str) -> Iterator[tuple[int, int, str]]:
    """Resolve HTML entities, piece by piece."""
    at = 0
    for match in ENTITY.finditer(text):
        yield at, match.start(), text[at : match.start()]
        yield match.start(), match.end(), resolve(match.group())
        at = match.end()
    yield at, len(text), text[at:]


def compose(form: Form, text: str) -> Iterator[tuple[int, int, str]]:
    """NFC or NFKC, piece by piece: a piece ends where the next character does not combine with the ones before."""
    start = 0
    for i in range(1, len(text) + 1):
        if i == len(text) or _begins(text[i]):
            yield from _pieces(form, text[start:i], start)
            start = i


def _pieces(form: Form, text: str, at: int) -> Iterator[tuple[int, int, str]]:
    """Split into letters with their marks, where both sides can be normalized separately.

    Normalization sorts marks by their combining classes, and a letter may combine with a later mark. Reordered
    characters get the span of all characters that were reordered together.
    """
    whole = unicodedata.normalize(form, text)
    if whole == text or min(len(whole), len(text)) == 1 or len(text) > LONGEST:
        yield from _whole(at, text, whole)
        return
    start = done = 0
    for i in range(1, len(text)):
        left = unicodedata.normalize(form, text[:i])
        if left + unicodedata.normalize(form, text[i:]) == whole:
            yield from _whole(at + start, text[start:i], left[done:])
            start, done = i, len(left)
    yield from _whole(at + start, text[start:], whole[done:])


def _whole(at: int, old: str, new: str) -> Iterator[tuple[int, int, str]]:
    """Unchanged text keeps the position of each character; otherwise each new character gets the whole old span."""
    if old == new:
        yield at, at + len(old), new
    else:
        yield from ((at, at + len(old), char) for char in new)


def _begins(char: str) -> bool:
    if char < "\u0300":
        return True
    from linnaeus.kernels.reference.characters import composing

    first = unicodedata.normalize("NFKD", char)[0]
    return unicodedata.combining(first) == 0 and first not in composing()


def each(change: Callable[[str], str], text: str) -> Iterator[tuple[int, int, str]]:
    """Apply a change to one character at a time."""
    return ((i, i + 1, change(char)) for i, char in enumerate(text))


def without_accents(text: str) -> str:
    """The text in compatibility decomposition, without combining marks."""
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def lower(text: str) -> Iterator[tuple[int, int, str]]:
    """Lower case, piece by piece; the form of a final sigma depends on the whole text."""
    lowered, at = text.lower(), 0
    for i, char in enumerate(text):
        size = len(char.lower())
        yield i, i + 1, lowered[at : at + size]
        at += size
