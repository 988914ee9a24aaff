"""Words in a text for the extractors that look at words one by one in Python."""

from __future__ import annotations

import re

Span = tuple[int, int]

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_CHUNK = re.compile(r"\S+")


def words(text: str) -> list[Span]:
    """Runs of letters, digits and marks, with apostrophes inside.

    >>> words("Don't stop!")
    [(0, 5), (6, 10)]
    """
    return [found.span() for found in _WORD.finditer(text)]


def chunks(text: str) -> list[Span]:
    """What stands between white space: words with the punctuation that clings to them.

    >>> chunks("Don't stop!")
    [(0, 5), (6, 11)]
    """
    return [found.span() for found in _CHUNK.finditer(text)]
