"""Sentences as users give them, and the examples that they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus.data.arrow import as_numpy
from linnaeus.data.files import standard_input
from linnaeus.data.sentence_reading import read_sentences, stream_sentences
from linnaeus.data.sentences import Sentences, join
from linnaeus.errors import DataError, UsageError
from linnaeus.tasks.base import Given
from linnaeus.tasks.examples import Examples
from linnaeus.tasks.sources import Pieces, file_options
from linnaeus.text import sentences

if TYPE_CHECKING:
    from linnaeus.types import Source

TOKENS = 1 << 16
"""Tokens that are tagged at a time."""

LINES = 1000
"""Standard input is tagged in pieces of at least this many lines, each up to an empty line."""


def as_sentences(source: Source, tagged: bool = True, truth: str | None = None) -> Sentences:
    """Sentences unchanged, or made from lists of (token, tag) pairs, or of tokens if no tags are needed."""
    if isinstance(source, Sentences | Pieces):
        found = source if isinstance(source, Sentences) else join(list(source.batches()))
    else:
        found = read_sentences(source, tags=truth) if tagged else _untagged(source)
    if tagged and found.tags is None:
        raise DataError("the sentences have no tags; name the column that holds them.")
    return found


def as_sentence(source: Source) -> Sentences:
    """One sentence: a list of tokens, or `Sentences` with one sentence if there are more columns."""
    if not isinstance(source, Sentences):
        return from_texts([source]) if isinstance(source, str) else Sentences.from_lists([source])
    if len(source) != 1:
        raise UsageError(f"This needs one sentence, but there are {len(source)}; give one of them.")
    return source


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
    groups = None
    if found.docs is not None and found.docs.null_count < len(found):
        groups = np.unique(np.array(found.docs.to_pylist(), dtype=str), return_inverse=True)[1]
    return Examples(found, None, None, np.ones(len(found)), groups)


def _missing(found: Sentences) -> str:
    """Which token is the first without a tag."""
    assert found.tags is not None
    at = int(np.flatnonzero(as_numpy(found.tags.is_null()))[0])
    offsets = found.offsets - found.offsets[0]
    row = int(np.searchsorted(offsets, at, side="right")) - 1
    place = f"sentence {row + 1}, token {at - int(offsets[row]) + 1} ({found.tokens[at].as_py()!r})"
    count = found.tags.null_count
    return f"{place} has no tag" + (f", as {count - 1:,} more" if count > 1 else "")


def _untagged(source: Source) -> Sentences:
    if isinstance(source, str):
        return from_texts([source])
    texts = isinstance(source, list | tuple) and bool(source) and isinstance(source[0], str)
    return from_texts(source) if texts else Sentences.from_lists(source)


def from_texts(texts: Sequence[str]) -> Sentences:
    """The sentences of texts, cut into tokens; the columns `start` and `end` are positions in the text.

    >>> from_texts(["Why? Yes."]).lists()
    [['Why', '?'], ['Yes', '.']]
    """
    cut = [sentence for text in texts for sentence in sentences(text)]
    found = Sentences.from_lists([[token.text for token in sentence] for sentence in cut])
    for name in ("start", "end"):
        places = [getattr(token, name) for sentence in cut for token in sentence]
        found = found.with_column(name, pa.array(places, pa.int64()))
    return found


def opened(data: str, given: Given, labeled: bool) -> Pieces[Sentences]:
    """The sentences of files in pieces; without their tags where nobody asks for them."""
    if data == "-" and "format" not in given and not labeled:
        return Pieces(lambda: (from_texts([text]) for text in _blocks()))
    tags = given.get("label") if labeled else ""
    return Pieces(
        lambda: (
            part
            for piece in stream_sentences(data, tokens=given.get("text"), tags=tags, **file_options(given))
            for part in (piece.batches(TOKENS) if len(piece) else [piece])
        )
    )


def _blocks() -> Iterator[str]:
    """Standard input in pieces that end at an empty line."""
    waiting: list[str] = []
    for number, raw in enumerate(standard_input(), 1):
        try:
            waiting.append(raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise DataError(
                f"standard input, line {number}: some bytes are not UTF-8; convert the text first."
            ) from error
        if len(waiting) >= LINES and not waiting[-1].strip():
            yield "".join(waiting)
            waiting = []
    if waiting:
        yield "".join(waiting)
