"""`WordVectors`: the vectors of a text's words, pooled to one row of numbers."""

from __future__ import annotations

import os
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.arrays.dense import Dense
from linnaeus.arrays.word_table import SubwordRows, WordTable
from linnaeus.errors import DataError, InputTypeError, UsageError, damaged, expect
from linnaeus.features.base import LARGEST, Block, Fitted
from linnaeus.features.batches import text, texts
from linnaeus.features.names import Names
from linnaeus.features.word_vectors.files import read_vectors, table_of, table_state
from linnaeus.frozen import dataclass
from linnaeus.store import states
from linnaeus.text import Analysis
from linnaeus.text.buffers import as_arrow, as_texts
from linnaeus.text.normalize import Normalize
from linnaeus.types import NOT_STORED, Place, State, offsets_of

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream
    from linnaeus.types import Array, Doubles, Floats, Ints, Longs

Pool: TypeAlias = Literal["mean", "sum", "max", "concat"]
POOLS = ("mean", "sum", "max", "concat")
Keep: TypeAlias = Literal["seen", "all"]
KEEPS = ("seen", "all")
MAX_COLUMNS = 1 << 22
"""Columns that these features may have."""


@dataclass(frozen=True)
class WordVectors(Block):
    """The vectors of the words of a text, pooled: dense features from a table of word vectors.

    `table` is a `WordTable`, or the name of its file. `pool` is "mean", "sum" or "max" of the vectors of all words that
    have one, or "concat" for the vectors of the first `length` words side by side, with zeros behind the last. A word
    that is not in the table has a vector if the table has rows of subwords. A model file holds the rows of the words
    that the training texts have, and those of subwords, so that it needs no other file; `keep="all"` copies the whole
    table, so that words which only later texts have are known, too.

    >>> table = WordTable(["good", "bad"], np.array([[1, 2], [-1, 0]], np.float32))
    >>> WordVectors(table).fit_rows(["good and bad", "Good!", ""])[1].to_scipy().toarray().tolist()
    [[0.0, 1.0], [1.0, 2.0], [0.0, 0.0]]
    """

    table: str | WordTable = ""
    pool: Pool = "mean"
    length: int = 32
    keep: Keep = "seen"
    held: WordTable | None = field(default=None, repr=False, compare=False, metadata=NOT_STORED)

    def __post_init__(self) -> None:
        if isinstance(self.table, WordTable):
            object.__setattr__(self, "held", self.table)
            object.__setattr__(self, "table", "")
        elif not isinstance(self.table, str | os.PathLike):
            raise InputTypeError(f"WordVectors takes a WordTable or the name of a file, not {self.table!r}.")
        else:
            object.__setattr__(self, "table", os.fspath(self.table))
        if self.pool not in POOLS:
            raise UsageError(f"WordVectors(pool=...) must be one of {', '.join(POOLS)}, not {self.pool!r}.")
        if self.keep not in KEEPS:
            raise UsageError(f"WordVectors(keep=...) must be 'seen' or 'all', not {self.keep!r}.")
        expect("WordVectors(length=...)", self.length, int, least=1)

    def learn(self, stream: Stream) -> FittedWordVectors:
        """One pass that collects the words of the texts; none where the whole table is kept."""
        table = self._read()
        if self.keep == "seen":
            seen: dict[str, None] = {}
            for batch in stream.batches():
                tokens, _ = analysis_of(table).tokenize(as_texts(text(batch, "WordVectors")))
                seen.update(dict.fromkeys(as_arrow(tokens).unique().to_pylist()))
            found = table.kept(sorted(seen))
            grams = table.subwords if isinstance(table.subwords, SubwordRows) else None
            table = WordTable(found.words, found.vectors, grams, table.lowercase)
        return FittedWordVectors(table, self.pool, self.length if self.pool == "concat" else 1)

    def _read(self) -> WordTable:
        if self.held is not None:
            return self.held
        if not isinstance(self.table, str) or not self.table:
            raise DataError("WordVectors has no table to learn from; give a WordTable or the name of its file.")
        return read_vectors(self.table)


def analysis_of(table: WordTable) -> Analysis:
    """How texts are cut into the words of a table."""
    return Analysis(normalize=Normalize() if table.lowercase else Normalize(case=None))


class Looked(NamedTuple):
    """The words of some texts that have a vector: offsets of the texts, the vector of each word by number, vectors."""

    offsets: Longs
    words: Ints
    vectors: Floats
    known: Array


@dataclass(frozen=True, eq=False)
class FittedWordVectors(Fitted):
    """A table of word vectors, and how those of a text are pooled; `length` words are taken where pool is "concat"."""

    full: ClassVar[bool] = True
    """Rows have a number in every column."""

    table: WordTable
    pool: str
    length: int = 1

    @property
    def width(self) -> int:
        """The numbers of a vector, of each of the first words where these stand side by side."""
        return self.table.width * self.length

    def extract(self, batch: Batch) -> CSR:
        """The pooled vectors; zeros are not stored."""
        found = self.pooled(self._look(batch))
        return Dense(np.clip(found, -LARGEST, LARGEST).astype(np.float32)).to_csr()

    def _look(self, batch: Batch) -> Looked:
        tokens, rows = analysis_of(self.table).tokenize(as_texts(text(batch, "WordVectors")))
        if not len(tokens):
            nothing = np.zeros((0, self.table.width), np.float32)
            return Looked(np.zeros(len(batch) + 1, np.int64), np.zeros(0, np.int32), nothing, np.zeros(0, bool))
        encoded = as_arrow(tokens).dictionary_encode()
        known, vectors = self.table.vectors_of(encoded.dictionary.to_pylist())
        words = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
        has = known[words]
        return Looked(offsets_of(has)[rows], words[has], vectors, has)

    def pooled(self, looked: Looked) -> Doubles:
        """One row for each text (n, width)."""
        offsets, words, vectors, _ = looked
        n, sizes = len(offsets) - 1, np.diff(offsets)
        if self.pool in ("mean", "sum"):
            counted = CSR(offsets, words, np.ones(len(words)), max(1, len(vectors)))
            sums = counted.dot(vectors.astype(np.float64) if len(vectors) else np.zeros((1, self.width)))
            return sums / np.maximum(sizes, 1)[:, None] if self.pool == "mean" else sums
        found = np.zeros((n, self.width))
        if self.pool == "max":
            there = sizes > 0
            if there.any():
                found[there] = np.maximum.reduceat(vectors[words], offsets[:-1][there], axis=0)
            return found
        place = np.arange(len(words)) - np.repeat(offsets[:-1], sizes)
        first = place < self.length
        rows = np.repeat(np.arange(n), sizes)[first]
        found.reshape(n, self.length, self.table.width)[rows, place[first]] = vectors[words[first]]
        return found

    def locate(self, batch: Batch) -> list[list[Place]]:
        """Every word has its part in each column: its share of a mean or sum, the columns where it is the maximum."""
        offsets, words, vectors, known = self._look(batch)
        spans = [analysis_of(self.table).spans(one) for one in texts(batch, "WordVectors")]
        places = [(span.start, span.end) for row in spans for span in row]
        places = [place for place, has in zip(places, known.tolist(), strict=True) if has]
        found = []
        for a, b in pairwise(offsets.tolist()):
            parts = self._parts(vectors[words[a:b]].astype(np.float64))
            row = zip(places[a : a + len(parts)], parts, strict=True)
            found.append([Place(int(c), *at, float(part[c])) for at, part in row for c in np.flatnonzero(part)])
        return found

    def _parts(self, vectors: Doubles) -> Doubles:
        """What each word adds to each column (words, width)."""
        if self.pool == "mean":
            return vectors / max(1, len(vectors))
        if self.pool == "sum" or not len(vectors):
            return vectors
        if self.pool == "max":
            best = vectors.argmax(axis=0)
            return np.where(np.arange(len(vectors))[:, None] == best, vectors, 0.0)
        first = vectors[: self.length]
        parts = np.zeros((len(first), self.length, self.table.width))
        parts[np.arange(len(first)), np.arange(len(first))] = first
        return parts.reshape(len(first), self.width)

    def names(self) -> Names:
        """The place in the vector, and the word in the text where words stand side by side."""
        return Names(self.width, lambda start, end: [self._name(column) for column in range(start, end)])

    def _name(self, column: int) -> str:
        word, place = divmod(column, self.table.width)
        return f"word {word + 1}[{place}]" if self.pool == "concat" else f"vector[{place}]"

    def state(self) -> State:
        """The pooling, and the table."""
        inner = table_state(self.table)
        manifest = {"kind": "word_vectors", "pool": self.pool, "length": self.length, "table": inner.manifest}
        return State(manifest, inner.tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedWordVectors:
        """Restore from the stored state."""
        pool, length = states.field(state.manifest, "pool", str), states.field(state.manifest, "length", int)
        table = table_of(State(states.field(state.manifest, "table", dict), state.tensors))
        if pool not in POOLS or length < 1 or (pool != "concat" and length != 1) or length * table.width > MAX_COLUMNS:
            raise damaged("its word vectors have no usable pooling")
        return cls(table, pool, length)
