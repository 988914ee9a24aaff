"""A text as numbers of words: one pass that counts and encodes, then as many passes over the numbers as are wanted.

The numbers lie in a temporary file, four bytes a word, so that a text may be larger than memory.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from linnaeus import temporary
from linnaeus.errors import DataError, expect
from linnaeus.features.base import as_stream
from linnaeus.features.batches import text as text_of
from linnaeus.frozen import dataclass
from linnaeus.text import Analysis
from linnaeus.text.buffers import as_arrow, as_texts
from linnaeus.text.normalize import Normalize

if TYPE_CHECKING:
    import pyarrow as pa

    from linnaeus.types import Ints, Longs, Source

END = -1
"""Stands behind the last word of each text."""
BLOCK = 1 << 22
"""Numbers that are renumbered at a time."""


@dataclass(frozen=True)
class NumberFile:
    """Numbers of four bytes in a file; a slice is read when it is asked for, so that few are in memory."""

    path: Path

    def __len__(self) -> int:
        return self.path.stat().st_size // 4

    def __getitem__(self, part: slice) -> Ints:
        start, stop, _ = part.indices(len(self))
        return np.fromfile(self.path, np.int32, max(0, stop - start), offset=4 * start)


@dataclass(frozen=True, eq=False)
class EncodedText:
    """The words, the most frequent first, how often each occurs, and all texts as their numbers, -1 behind each text.

    `total` are all words of the texts, also those that are too rare to have a number.

    >>> with encoded(["a cat", "a dog"], min_count=2) as text:
    ...     text.words, text.total
    (['a'], 4)
    """

    words: list[str]
    counts: Longs
    ids: Ints | NumberFile
    total: int
    lowercase: bool = True


@contextmanager
def encoded(source: Source, min_count: int = 5, most: int = 1_000_000, lowercase: bool = True) -> Iterator[EncodedText]:
    """The texts of a source as numbers: words that occur at least `min_count` times, of these at most `most`.

    >>> with encoded(["a cat", "a dog", "A bird"], min_count=1) as text:
    ...     text.words[0], text.counts.tolist(), text.ids[:].tolist()
    ('a', [3, 1, 1, 1], [0, 1, -1, 0, 2, -1, 0, 3, -1])
    """
    expect("min_count", min_count, int, least=1)
    expect("most", most, int, least=1)
    folder = Path(tempfile.gettempdir()) / f"linnaeus-words-{os.urandom(8).hex()}"
    temporary.create(folder, Path.mkdir)
    try:
        words, counts, total = _count(source, folder / "first", lowercase)
        chosen = np.argsort(-counts, kind="stable")[:most]
        chosen = chosen[counts[chosen] >= min_count]
        if not len(chosen):
            raise DataError(f"No word occurs {min_count} times in the texts; give more texts, or a lower minimum.")
        rank = np.full(len(words) + 1, END, np.int32)
        rank[chosen] = np.arange(len(chosen), dtype=np.int32)
        ids = _renumber(folder, rank)
        yield EncodedText([words[i] for i in chosen.tolist()], counts[chosen], ids, total, lowercase)
    finally:
        temporary.remove(folder)


def _count(source: Source, path: Path, lowercase: bool) -> tuple[list[str], Longs, int]:
    """Write each word's number in the order of first occurrence, and -1 behind each text; return words and counts."""
    numbers: dict[str, int] = {}
    counts = np.zeros(0, np.int64)
    analysis = Analysis(normalize=Normalize() if lowercase else Normalize(case=None))
    with path.open("wb") as file:
        for batch in as_stream(source).batches():
            codes = _encode(text_of(batch, "word vectors"), analysis, numbers, file)
            found = np.bincount(codes, minlength=len(numbers))
            found[: len(counts)] += counts
            counts = found
    return list(numbers), counts, int(counts.sum())


def _encode(texts: pa.Array, analysis: Analysis, numbers: dict[str, int], file: BinaryIO) -> Longs:
    tokens, rows = analysis.tokenize(as_texts(texts))
    if not len(tokens):
        return np.zeros(0, np.int64)
    found = as_arrow(tokens).dictionary_encode()
    own = [numbers.setdefault(word, len(numbers)) for word in found.dictionary.to_pylist()]
    codes: Longs = np.array(own, np.int64)[found.indices.to_numpy(zero_copy_only=False)]
    file.write(np.insert(codes.astype(np.int32), rows[1:], END).data)
    return codes


def _renumber(folder: Path, rank: Ints) -> NumberFile:
    """The file of numbers by rank, without the words that have none."""
    first = NumberFile(folder / "first")
    with (folder / "ids").open("wb") as file:
        for start in range(0, len(first), BLOCK):
            codes = first[start : start + BLOCK]
            file.write(rank[codes[(codes == END) | (rank[codes] >= 0)]].data)
    first.path.unlink()
    return NumberFile(folder / "ids")
