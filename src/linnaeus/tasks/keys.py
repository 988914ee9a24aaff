"""Which rows have the same text, as the features of a recipe read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.kernels.hashes import scramble
from linnaeus.kernels.plan import AMPERSAND, NOT_ASCII
from linnaeus.protocols import Stream
from linnaeus.text import Normalize, as_texts
from linnaeus.text.buffers import as_arrow
from linnaeus.text.normalize import Form
from linnaeus.types import Longs, Words64

if TYPE_CHECKING:
    import pyarrow as pa

    from linnaeus.data.groups import Groups
    from linnaeus.data.sentences import Sentences

WHITE_SPACE = r"[\p{Z}\s\x{85}]+"


def text_keys(stream: Stream, features: object = None) -> Words64 | None:
    """A 64-bit hash of each text, equal for texts that differ in letter case, white space and spelling of Unicode only.

    What the features' own normalization makes equal has equal keys, too. Among a million different texts two share a
    key with probability 3e-8; they would be held out together, which does no harm. None where rows have no text.
    """
    how = _normalization(features)
    parts = [_keys(batch.text, how) for batch in unwatched(stream).batches() if batch.text is not None]
    return np.concatenate(parts) if parts else None


def unwatched(stream: Stream) -> Stream:
    """The stream read without reports of its progress, because it is read beside something else."""
    from linnaeus.data import Corpus

    return stream.watch(None) if isinstance(stream, Corpus) else stream


def sentence_keys(sentences: Sentences) -> Words64:
    """The same of sentences: equal where the tokens are."""
    offsets = sentences.offsets
    tokens = _keys(sentences.tokens.slice(int(offsets[0]), sentences.count), Normalize())
    place = np.arange(len(tokens)) - np.repeat(offsets[:-1] - offsets[0], np.diff(offsets))
    return _sums(scramble(tokens ^ scramble(place.astype(np.uint64))), offsets - offsets[0])


def example_keys(groups: Groups) -> Words64:
    """The same of examples with candidates: equal where the texts are, and the candidates in any order."""
    text, candidates = (_keys(part, Normalize()) for part in (groups.text, groups.candidates))
    return scramble(text) ^ _sums(scramble(candidates), groups.offsets)


def _sums(keys: Words64, offsets: Longs) -> Words64:
    """The scrambled sum of each group of keys; sums of unsigned numbers wrap around."""
    sums = np.zeros(len(keys) + 1, np.uint64)
    np.cumsum(keys, out=sums[1:])
    return scramble(sums[offsets[1:]] - sums[offsets[:-1]])


def _keys(text: pa.Array, how: Normalize) -> Words64:
    """ASCII is folded by the kernel; other texts are folded before."""
    texts, threads = as_texts(text), kernels.thread_count()
    keys = kernels.fingerprint_folded(texts.data, texts.offsets, threads)
    flags = kernels.flag_texts(texts.data, texts.offsets, threads)
    others = np.flatnonzero(flags & (NOT_ASCII | (AMPERSAND if how.html else 0)))
    if len(others):
        import pyarrow as pa
        import pyarrow.compute as pc  # most texts do without it, and it takes a while to load

        some = how.prepare(as_texts(pc.utf8_lower(text.take(pa.array(others)))))
        folded = as_texts(pc.replace_substring_regex(as_arrow(some), WHITE_SPACE, " "))
        keys[others] = kernels.fingerprint_folded(folded.data, folded.offsets, threads)
    return keys


def _normalization(features: object) -> Normalize:
    """One that makes equal what any normalization inside the features makes equal."""
    found = list(_normalizations(features))
    form: Form = "nfkc" if any(one.form == "nfkc" for one in found) else "nfc"
    return replace(
        Normalize(), form=form, accents=all(one.accents for one in found), html=any(one.html for one in found)
    )


def _normalizations(piece: object) -> Iterator[Normalize]:
    if isinstance(piece, Normalize):
        yield piece
    elif isinstance(piece, tuple):
        for part in piece:
            yield from _normalizations(part)
    elif is_dataclass(piece) and not isinstance(piece, type):
        for part in fields(piece):
            yield from _normalizations(getattr(piece, part.name))
