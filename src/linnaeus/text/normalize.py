"""Text normalization before tokenization, which keeps the original position of each character where that is asked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.kernels.plan import AMPERSAND, CASES, NOT_ASCII, SUSPECT
from linnaeus.text.buffers import replace
from linnaeus.types import Json, Texts

Form: TypeAlias = Literal["nfc", "nfkc"] | None
Case: TypeAlias = Literal["lower", "fold"] | None

UnicodeForm: TypeAlias = Literal["NFC", "NFKC"]

FORMS: dict[str | None, UnicodeForm] = {"nfc": "NFC", "nfkc": "NFKC"}


@dataclass(frozen=True)
class Normalize:
    """Text normalization: HTML entities, Unicode form, accents and case, each optional, in this order.

    `form` is "nfc" (one spelling for é), "nfkc" (also ﬁ as fi, ① as 1) or None; `case` is "fold" (case folding: ß as
    ss, one sigma), "lower" (as `str.lower`) or None. If the form or accents change, a character keeps at most its first
    30 combining marks.

    >>> Normalize(case="lower", accents=False, html=True)("Caf&eacute; ROYAL")
    'cafe royal'
    """

    form: Form = "nfc"
    case: Case = "fold"
    accents: bool = True
    html: bool = False

    def __post_init__(self) -> None:
        if self.form not in (None, *FORMS):
            raise UsageError(f"form={self.form!r} is not known; choose 'nfc', 'nfkc' or None.")
        if self.case not in CASES:
            raise UsageError(f"case={self.case!r} is not known; choose 'lower', 'fold' or None.")

    def __call__(self, text: str) -> str:
        """Normalize one text."""
        text = self._before_case(text)
        return text.lower() if self.case == "lower" else text.casefold() if self.case == "fold" else text

    def _before_case(self, text: str) -> str:
        if self.html and "&" in text:
            text = resolve(text)
        if text.isascii():
            return text
        if self.form or not self.accents:
            text = limit_marks(text)
        if self.form:
            text = unicodedata.normalize(FORMS[self.form], text)
        return text if self.accents else without_accents(text)

    @property
    def wanted(self) -> int:
        """The flags (see `kernels.flag_texts`) of texts that `prepare` may change."""
        entities = AMPERSAND if self.html else 0
        return entities | (NOT_ASCII if self.form == "nfkc" or not self.accents else SUSPECT if self.form else 0)

    def prepare(self, texts: Texts) -> Texts:
        """Apply all normalization except the case, which the kernels do.

        Only texts that may change are processed one by one; ASCII and composed texts are skipped.
        """
        wanted = self.wanted
        if not wanted:
            return texts
        flags = kernels.flag_texts(texts.data, texts.offsets, kernels.thread_count())
        changed = {}
        for row in np.flatnonzero(flags & wanted).tolist():
            raw = texts.data[texts.offsets[row] : texts.offsets[row + 1]].tobytes()
            new = self._before_case(raw.decode("utf-8", "replace")).encode("utf-8", "surrogatepass")
            if new != raw:
                changed[row] = new
        return replace(texts, changed)

    def align(self, text: str) -> Aligned:
        """The normalized text with the original position of each character."""
        aligned = Aligned.of(text)
        if self.html and "&" in text:
            aligned = aligned.rewrite(replaced(ENTITY, resolve, aligned.text))
        if not aligned.text.isascii():
            if self.form or not self.accents:
                aligned = aligned.rewrite(limited(aligned.text))
            if self.form:
                aligned = aligned.rewrite(compose(FORMS[self.form], aligned.text))
            if not self.accents:
                aligned = aligned.rewrite(each(without_accents, aligned.text))
        if self.case == "lower":
            return aligned.rewrite(lower(aligned.text))
        return aligned.rewrite(each(str.casefold, aligned.text)) if self.case == "fold" else aligned

    def manifest(self) -> dict[str, Json]:
        """The settings as JSON."""
        return asdict(self)


MAX_MARKS = 30
"""Most marks of a character, counted in compatibility decomposition."""

LONG_RUN = 14
"""Shorter runs are always within the limit: each mark counts at most twice, the character before three times."""

MARK_RANGE = (0x300, 0x1F000)
"""The code points of all marks."""


BEYOND = re.compile("[\U00010000-\U0001f000]")
"""Where a mark outside the basic plane may stand: no usual text has such characters."""


@lru_cache(maxsize=2)
def _runs(basic: bool) -> re.Pattern[str]:
    """Runs of characters that decompose into combining marks alone.

    Of the basic plane only where that is enough: to `re` such a set is a table, any other a list, 30 times slower.
    """
    codes = range(MARK_RANGE[0], 0x10000 if basic else MARK_RANGE[1])
    marks = [char for char in map(chr, codes) if _marks(char) == len(unicodedata.normalize("NFKD", char))]
    return re.compile(f"[{''.join(marks)}]{{{LONG_RUN},}}")


def _marks(char: str) -> int:
    """The number of marks at the end of the decomposition of a character."""
    count = 0
    for part in reversed(unicodedata.normalize("NFKD", char)):
        if not unicodedata.combining(part):
            break
        count += 1
    return count


def _excess(text: str) -> Iterator[tuple[int, int]]:
    """The spans of marks beyond the limit."""
    if len(text) <= LONG_RUN:
        return
    for run in _runs(basic=BEYOND.search(text) is None).finditer(text):
        start, end = run.span()
        count = _marks(text[start - 1]) if start else 0
        for i in range(start, end):
            count += _marks(text[i])
            if count > MAX_MARKS:
                yield i, end
                break


def limit_marks(text: str) -> str:
    r"""The text with at most 30 combining marks on each character.

    >>> len(limit_marks("e" + 1000 * "\u0301"))
    31
    """
    return "".join(piece for _, _, piece in limited(text))


def limited(text: str) -> Iterator[tuple[int, int, str]]:
    """The pieces of `limit_marks` (see `Aligned.rewrite`): dropped marks belong to the last mark that is kept."""
    at = 0
    for start, end in _excess(text):
        yield at, start - 1, text[at : start - 1]
        yield start - 1, end, text[start - 1]
        at = end
    yield at, len(text), text[at:]


ENTITY = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")
"""The entities of html.unescape."""

NUMBER = re.compile(r"&#0*([0-9]{1,9})[0-9]*")
"""A character by its decimal number; more than nine digits are never a character."""

LONGEST_PIECE = 32
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


def replaced(pattern: re.Pattern[str], change: Callable[[str], str], text: str) -> Iterator[tuple[int, int, str]]:
    """Apply a change to what matches the pattern, piece by piece."""
    at = 0
    for match in pattern.finditer(text):
        yield at, match.start(), text[at : match.start()]
        yield match.start(), match.end(), change(match.group())
        at = match.end()
    yield at, len(text), text[at:]


def compose(form: UnicodeForm, text: str) -> Iterator[tuple[int, int, str]]:
    """NFC or NFKC, piece by piece: a piece ends where the next character does not combine with the ones before."""
    start = 0
    for i in range(1, len(text) + 1):
        if i == len(text) or _begins(text[i]):
            yield from _pieces(form, text[start:i], start)
            start = i


def _pieces(form: UnicodeForm, text: str, at: int) -> Iterator[tuple[int, int, str]]:
    """Split into letters with their marks, where both sides can be normalized separately.

    Normalization sorts marks by their combining classes, and a letter may combine with a later mark. Reordered
    characters get the span of all characters that were reordered together.
    """
    whole = unicodedata.normalize(form, text)
    if whole == text or min(len(whole), len(text)) == 1 or len(text) > LONGEST_PIECE:
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
