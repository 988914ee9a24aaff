"""A limit on the combining marks of one character.

Unicode normalization sorts the marks behind a character, and Python's sort of them takes quadratic time. No script uses
more than 30 (the Stream-Safe Text Format of UAX 15), so further marks are dropped before a text is normalized.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

MAX_MARKS = 30
"""Most marks of a character, counted in compatibility decomposition."""

LONG_RUN = 14
"""Shorter runs are always within the limit: each mark counts at most twice, the character before three times."""

MARK_RANGE = (0x300, 0x1F000)
"""The code points of all marks."""


@lru_cache(maxsize=1)
def _runs() -> re.Pattern[str]:
    """Runs of characters that decompose into combining marks alone."""
    marks = [char for char in map(chr, range(*MARK_RANGE)) if _marks(char) == len(unicodedata.normalize("NFKD", char))]
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
    for run in _runs().finditer(text):
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
    parts, at = [], 0
    for start, end in _excess(text):
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]]) if parts else text


def limited(text: str) -> Iterator[tuple[int, int, str]]:
    """The pieces of `limit_marks` (see `Aligned.rewrite`): dropped marks belong to the last mark that is kept."""
    at = 0
    for start, end in _excess(text):
        yield at, start - 1, text[at : start - 1]
        yield start - 1, end, text[start - 1]
        at = end
    yield at, len(text), text[at:]
