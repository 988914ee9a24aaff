"""Tagged sentences: in pieces, and as the examples of a training."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linnaeus.data.arrow import as_numpy
from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError
from linnaeus.tasks.examples import Examples
from linnaeus.tasks.sentences import TOKENS, as_sentences, place_of, sentence_examples
from linnaeus.tasks.sources import Pieces
from linnaeus.types import Source


def labeled(source: Source) -> Iterator[Sentences]:
    """Sentences with their tags, in pieces of a few thousand tokens."""
    parts = source.batches() if isinstance(source, Pieces) else iter([as_sentences(source)])
    for part in parts:
        if part.tags is None:
            raise DataError("the sentences have no tags; name the column that holds them.")
        yield from part.batches(TOKENS)


def tag_examples(source: Source, truth: str | None = None) -> Examples:
    """Sentences with tags; those of a document are held out together."""
    found = as_sentences(source, truth=truth)
    if (found.tags is not None and found.tags.null_count) or not found.count:
        what = _missing(found) if found.count else "there are no tokens"
        raise DataError(f"{what}; give sentences in which every token has its tag.")
    return sentence_examples(found)


def _missing(found: Sentences) -> str:
    """Which token is the first without a tag."""
    assert found.tags is not None
    at, count = int(np.flatnonzero(as_numpy(found.tags.is_null()))[0]), found.tags.null_count
    return f"{place_of(found, at)} has no tag" + (f", as {count - 1:,} more" if count > 1 else "")
