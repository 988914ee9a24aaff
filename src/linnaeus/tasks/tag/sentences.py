"""Sentences as users give them."""

from __future__ import annotations

from typing import Any

from linnaeus.data.sentence_reading import read_sentences
from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, UsageError


def as_sentences(source: Any, tagged: bool = True) -> Sentences:
    """Sentences unchanged, or made from lists of (token, tag) pairs, or of tokens if no tags are needed."""
    if isinstance(source, Sentences):
        found = source
    else:
        found = read_sentences(source) if tagged else Sentences.from_lists(source)
    if tagged and found.tags is None:
        raise DataError("the sentences have no tags; name the column that holds them.")
    return found


def as_sentence(source: Any) -> Sentences:
    """One sentence: a list of tokens, or `Sentences` with one sentence if there are more columns."""
    if not isinstance(source, Sentences):
        return Sentences.from_lists([source])
    if len(source) != 1:
        raise UsageError(f"This needs one sentence, but there are {len(source)}; give one of them.")
    return source
