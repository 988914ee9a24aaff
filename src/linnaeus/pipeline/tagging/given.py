"""Sentences as users give them."""

from __future__ import annotations

from typing import Any

from linnaeus.data.sentences import Sentences
from linnaeus.data.tagged import read_sentences
from linnaeus.errors import DataError, UsageError


def as_sentences(source: Any, tagged: bool = True) -> Sentences:
    """Sentences as they are, or from lists: of pairs (token, tag), or of tokens where no tags are asked for."""
    if isinstance(source, Sentences):
        found = source
    else:
        found = read_sentences(source) if tagged else Sentences.from_lists(source)
    if tagged and found.tags is None:
        raise DataError("the sentences have no tags; name the column that holds them.")
    return found


def as_sentence(source: Any) -> Sentences:
    """One sentence: a list of tokens, or `Sentences` of one, where there are columns beside the tokens."""
    if not isinstance(source, Sentences):
        return Sentences.from_lists([source])
    if len(source) != 1:
        raise UsageError(f"One sentence is asked for, and these are {len(source)}; take one of them.")
    return source
