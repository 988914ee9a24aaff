"""A text on its way through normalization that remembers where each of its characters came from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from linnaeus.frozen import dataclass

Form: TypeAlias = Literal["NFC", "NFKC"]

ENTITY = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")
"""What html.unescape looks at."""

NUMBER = re.compile(r"&#0*([0-9]{1,9})[0-9]*")
"""A character by its decimal number: no more than nine digits are needed to see that there is no such character."""

LONGEST = 32
"""What has more characters than this and cannot be cut is looked at as a whole, such as endless syllables of Hangul."""


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
        known, first, last = (-1, -1), 0, 0
        for start, end, new in pieces:
            parts.append(new)
            if len(new) == end - start:
                starts += self.starts[start:end]
                ends += self.ends[start:end]
            elif new:
                if known != (start, end):  # many characters that stand on the same ones find these once
                    known, (first, last) = (start, end), self.span(start, end)
                starts += [first] * len(new)
                ends += [last] * len(new)
        return Aligned("".join(parts), tuple(starts), tuple(ends))


def resolve(text: str) -> str:
    """HTML entities resolved, also those of thousands of digits, which Python does not turn into a number."""
    from html import unescape

    return unescape(NUMBER.sub(r"&#\1", text))


def unescape(text: str) -> Iterator[tuple[int, int, str]]:
    """HTML entities resolved, piece by piece."""
    at = 0
    for match in ENTITY.finditer(text):
        yield at, match.start(), text[at : match.start()]
        yield match.start(), match.end(), resolve(match.group())
        at = match.end()
    yield at, len(text), text[at:]


def compose(form: Form, text: str) -> Iterator[tuple[int, int, str]]:
    """NFC or NFKC, piece by piece: a piece ends where the next character joins nothing before it."""
    start = 0
    for i in range(1, len(text) + 1):
        if i == len(text) or _begins(text[i]):
            yield from _pieces(form, text[start:i], start)
            start = i


def _pieces(form: Form, text: str, at: int) -> Iterator[tuple[int, int, str]]:
    """A letter with its marks, cut where both sides can be normalized alone.

    Normalization puts marks into the order of their combining classes, and a letter may take a mark from behind others.
    What changed places stands on all the characters it changed places with.
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
    """What is unchanged stands character on character; else each new character on all the old ones."""
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
