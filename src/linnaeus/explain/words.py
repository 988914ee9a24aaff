"""A text as words, and characters as readers see them; and contributions word by word.

Words are those of the text room's tokenizer. Where its tokens overlap, as pairs of Chinese characters do, every place
where one begins or ends is a cut, so that words never overlap.

A feature belongs to the words that its place overlaps: runs of characters to their word, a pair of words to both of
them as one row. A feature that stands in several places is divided over them. What stands nowhere in the text, such as
another column or a length, has a row of its own. The rows and the bias add up to the score.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from linnaeus.frozen import dataclass
from linnaeus.text import Analysis, Normalize

if TYPE_CHECKING:
    from linnaeus.explain.explanation import Reason

Span: TypeAlias = tuple[int, int]

WORDS = Analysis()
CHUNKS = Analysis("whitespace", Normalize(form=None, case=None))

JOINERS = "\u200c\u200d"
MODIFIERS = re.compile("[\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
"""Skin colors, and tags of flags."""
VIRAMA = 9
"""The combining class of the signs that bind two consonants of an Indic script into one."""


def words(text: str) -> list[Span]:
    """The words of a text, without overlaps; if it has none, the parts between white space.

    >>> words("Don't, 天气好!")
    [(0, 5), (7, 8), (8, 9), (9, 10)]
    >>> words("?! ...")
    [(0, 2), (3, 6)]
    """
    tokens = WORDS.spans(text) or CHUNKS.spans(text)
    bounds = _bounds(text)
    spans = {(bounds[token.start][0], bounds[token.end - 1][1]) for token in tokens}
    opened = dict.fromkeys(sorted({at for span in spans for at in span}), 0)
    for start, end in spans:
        opened[start] += 1
        opened[end] -= 1
    found, depth = [], 0
    for start, end in pairwise(opened):
        depth += opened[start]
        if depth:
            found.append((start, end))
    return found


def clusters(text: str) -> list[Span]:
    r"""Characters as readers see them: a letter with its marks, an emoji of several parts, a flag.

    An approximation of the extended grapheme clusters of Unicode (UAX 29), from the character database of Python.

    >>> clusters("e\u0301a\r\n")
    [(0, 2), (2, 3), (3, 5)]
    """
    starts, half, before = [], False, "\n"
    for i, char in enumerate(text):
        letter = "\U0001f1e6" <= char <= "\U0001f1ff"
        if not (_continues(before, char) or (half and letter)):
            starts.append(i)
        half = letter and not half  # a flag is two of these letters
        before = char
    return list(pairwise([*starts, len(text)])) if starts else []


def cut(text: str) -> list[Span]:
    """The whole text from left to right: its words, and the clusters between them."""
    inside = dict(words(text))
    found, at = [], 0
    gaps = dict(clusters(text))
    while at < len(text):
        end = inside.get(at) or gaps[at]
        found.append((at, end))
        at = end
    return found


def without(text: str, spans: Sequence[Span]) -> str:
    """The text without these spans (sorted, apart); a space is left where its neighbors would grow together.

    >>> without("not good, not bad", [(4, 8), (10, 13)]), without("abc天def", [(3, 4)])
    ('not , bad', 'abc def')
    """
    kept: list[str] = []
    at = 0
    for start, end in (*spans, (len(text), len(text))):
        part = text[at:start]
        if kept and part:
            left, right = kept[-1][-1].isspace(), part[0].isspace()
            part = part[1:] if left and right else part if left or right else " " + part
        if part:
            kept.append(part)
        at = end
    return "".join(kept)


def _bounds(text: str) -> list[Span]:
    """The cluster of each character."""
    return [span for span in clusters(text) for _ in range(*span)]


def _continues(before: str, char: str) -> bool:
    """Whether a character belongs to the one before."""
    if char < "\u0300":
        return before == "\r" and char == "\n"
    if unicodedata.category(before) in ("Cc", "Zl", "Zp", "Zs"):
        return False
    if unicodedata.category(char) in ("Mn", "Me", "Mc") or char in JOINERS or MODIFIERS.search(char):
        return True
    if before == "\u200d" and unicodedata.category(char) in ("So", "Sm"):
        return True
    if unicodedata.combining(before) == VIRAMA and unicodedata.category(char) == "Lo":
        return True
    return _jamo(ord(before), ord(char))


def _jamo(before: int, code: int) -> bool:
    """A syllable of Hangul spelled out: leading consonants, vowels, trailing consonants."""
    leading = 0x1100 <= before <= 0x115F or 0xA960 <= before <= 0xA97C
    syllable = 0xAC00 <= before <= 0xD7A3
    open_ = (syllable and (before - 0xAC00) % 28 == 0) or 0x1160 <= before <= 0x11A7 or 0xD7B0 <= before <= 0xD7C6
    closed = (syllable and not open_) or 0x11A8 <= before <= 0x11FF or 0xD7CB <= before <= 0xD7FB
    vowel = 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6
    trailing = 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB
    first = 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C or 0xAC00 <= code <= 0xD7A3
    return (leading and (first or vowel)) or (open_ and (vowel or trailing)) or (closed and trailing)


@dataclass(frozen=True, slots=True)
class Within:
    """The features of one name within a row, and their contribution; `products` are their values and weights.

    A short word has the name of one of its runs of characters: then there are two.
    """

    name: str
    products: tuple[tuple[float, float], ...]
    contribution: float

    def __str__(self) -> str:
        """The products as text.

        >>> str(Within("good", ((0.5, 2.0), (0.25, -1.0)), 0.75))
        '0.5 x +2, 0.25 x -1'
        """
        return ", ".join(f"{value:.3g} x {weight:+.3g}" for value, weight in self.products)


@dataclass(frozen=True, slots=True)
class WordRow:
    """A word, several words, or a feature that is not in the text (`placed` is False), with its contribution."""

    name: str
    contribution: float
    features: tuple[Within, ...]
    placed: bool = True


def word_rows(reason: Reason) -> list[WordRow]:
    """The order: the largest contribution first, equal ones by name."""
    found, contributions = reason.found, reason.contributions
    name_at = _Names(found.text)
    amounts = found.over_places(contributions)
    sums: dict[tuple[str, bool], dict[int, float]] = {}
    spots = zip(found.owners.tolist(), found.starts.tolist(), found.ends.tolist(), amounts.tolist(), strict=True)
    for owner, start, end, amount in spots:
        name = name_at(start, end) if found.folded else found.names[owner]
        inside = sums.setdefault((name, True), {})
        inside[owner] = inside.get(owner, 0.0) + amount
    for i in (found.placed == 0).nonzero()[0].tolist():
        sums.setdefault((found.names[i], False), {})[i] = float(contributions[i])
    rows = [_row(reason, name, inside, placed) for (name, placed), inside in sums.items()]
    return sorted((row for row in rows if row.contribution), key=lambda row: (-abs(row.contribution), row.name))


def _row(reason: Reason, name: str, inside: dict[int, float], placed: bool) -> WordRow:
    found, same = reason.found, dict[str, list[int]]()
    for i in inside:
        same.setdefault(" | ".join(found.terms[i]) or found.names[i], []).append(i)
    features = [
        Within(
            each,
            tuple((float(found.values[i]), float(reason.weights[i])) for i in sorted(some)),
            sum(inside[i] for i in some),
        )
        for each, some in same.items()
    ]
    features.sort(key=lambda part: (-abs(part.contribution), part.name))
    return WordRow(name, sum(inside.values()), tuple(features), placed)


class _Names:
    """The words that a part of the text overlaps, as shown: in lower case, with one space between them."""

    def __init__(self, text: str) -> None:
        self.text, spans = text, words(text)
        self.starts, self.ends = [start for start, _ in spans], [end for _, end in spans]
        self.known: dict[tuple[int, int], str] = {}

    def __call__(self, start: int, end: int) -> str:
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end)
        span = (start, end) if first >= last else (self.starts[first], self.ends[last - 1])
        if span not in self.known:
            shown = self.text[span[0] : span[1]]
            self.known[span] = " ".join(shown.split()).casefold() or shown
        return self.known[span]
