"""`WordSequence`: the words of a text in their order, as column numbers, for networks and embedding bags."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.errors import LinnaeusWarning, UsageError, damaged, expect
from linnaeus.features.base import Block, Fitted
from linnaeus.features.batches import text, texts
from linnaeus.features.names import Names
from linnaeus.frozen import dataclass
from linnaeus.store.states import field as entry
from linnaeus.store.states import pack_strings, unpack_strings
from linnaeus.text import Analysis
from linnaeus.text.buffers import as_arrow, as_texts
from linnaeus.text.normalize import Normalize
from linnaeus.types import NOT_STORED, Place, State, offsets_of

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream
    from linnaeus.types import Ints, Longs

UNKNOWN = "<unknown>"
"""The name of column 0."""
MAX_LENGTH = 1 << 20


@dataclass(frozen=True)
class WordSequence(Block):
    """The columns of a text's words in their order, repeated as they are; column 0 is for words that are not known.

    A word has a column if at least `min_df` training texts have it (a number below 1 is a share of the texts), and if
    it is among the `max_terms` most frequent ones. Of longer texts the first `length` words are read; a warning says
    how many training texts these are. A network that begins with given vectors adds words of its table (`also`).

    >>> fitted, X = WordSequence().fit_rows(["to be or not to be"])
    >>> X.indices.tolist(), fitted.names()[4]
    ([4, 1, 3, 2, 4, 1], 'to')
    >>> fitted.rows(["to do or not"]).indices.tolist()
    [4, 0, 3, 2]
    """

    min_df: int | float = 1
    max_terms: int | None = None
    length: int = 400
    tokenizer: str = "words"
    normalize: Normalize = field(default_factory=Normalize)
    also: tuple[str, ...] = field(default=(), repr=False, compare=False, metadata=NOT_STORED)

    def __post_init__(self) -> None:
        expect("WordSequence(min_df=...)", self.min_df, float)
        if not self.min_df > 0:
            raise UsageError(f"WordSequence(min_df=...) is above zero, not {self.min_df}.")
        if self.max_terms is not None:
            expect("WordSequence(max_terms=...)", self.max_terms, int, 1)
        expect("WordSequence(length=...)", self.length, int, 1, MAX_LENGTH)
        self.analysis()

    def analysis(self) -> Analysis:
        """How texts are cut into words."""
        return Analysis(self.tokenizer, self.normalize)

    def learn(self, stream: Stream) -> FittedWordSequence:
        """One pass that counts words."""
        analysis, n, long = self.analysis(), 0, 0
        times, having = Counter[str](), Counter[str]()
        for batch in stream.batches():
            words, numbers, offsets = cut(analysis, batch)
            sizes = np.diff(offsets)
            n, long = n + len(sizes), long + int((sizes > self.length).sum())
            owners = np.repeat(np.arange(len(sizes)), sizes)
            pairs = np.unique(owners * np.int64(max(1, len(words))) + numbers)
            counted = np.bincount(numbers, minlength=len(words)).tolist()
            texts_with = np.bincount(pairs % max(1, len(words)), minlength=len(words)).tolist()
            times.update(dict(zip(words, counted, strict=True)))
            having.update(dict(zip(words, texts_with, strict=True)))
        if long:
            warnings.warn(
                f"{long:,} of {n:,} texts have more than {self.length:,} words; only these are read. Raise length to "
                "read more.",
                LinnaeusWarning,
                stacklevel=2,
            )
        least = self.least(n)
        kept = [word for word in times if having[word] >= least]
        if self.max_terms is not None:
            kept = sorted(kept, key=lambda word: (-times[word], word.encode()))[: self.max_terms]
        return FittedWordSequence(tuple(sorted({*kept, *self.also}, key=str.encode)), analysis, self.length)

    def least(self, n: int) -> int:
        """How many of n texts must have a word."""
        return max(1, math.ceil(self.min_df * n if self.min_df < 1 else self.min_df))


def cut(analysis: Analysis, batch: Batch) -> tuple[list[str], Longs, Longs]:
    """The different words of a batch, the number of each word of its texts, and offsets of the texts."""
    tokens, offsets = analysis.tokenize(as_texts(text(batch, "WordSequence")))
    if not len(tokens):
        return [], np.zeros(0, np.int64), np.zeros(len(batch) + 1, np.int64)
    encoded = as_arrow(tokens).dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), offsets


@dataclass(frozen=True, eq=False)
class FittedWordSequence(Fitted):
    """The words that have a column, how texts are cut into words, and how many of a text are read."""

    ordered: ClassVar[bool] = True

    words: tuple[str, ...]
    analysis: Analysis
    length: int

    @property
    def width(self) -> int:
        """A column for each word, and that of unknown words."""
        return len(self.words) + 1

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {word: column for column, word in enumerate(self.words, 1)}

    def extract(self, batch: Batch) -> CSR:
        """The words of each text."""
        words, numbers, offsets = cut(self.analysis, batch)
        columns = np.array([self._columns.get(word, 0) for word in words], np.int32)
        sizes = np.diff(offsets)
        read = np.arange(len(numbers)) - np.repeat(offsets[:-1], sizes) < self.length
        found: Ints = columns[numbers[read]] if len(words) else np.zeros(0, np.int32)
        return CSR(offsets_of(np.minimum(sizes, self.length)), found, np.ones(len(found), np.float32), self.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """The characters of each word."""
        spans = [self.analysis.spans(one)[: self.length] for one in texts(batch, "WordSequence")]
        return [[Place(self._columns.get(span.text, 0), span.start, span.end) for span in row] for row in spans]

    def names(self) -> Names:
        """The words."""
        return Names(self.width, self._named)

    def _named(self, start: int, end: int) -> list[str]:
        first = [UNKNOWN] if start == 0 < end else []
        return [*first, *self.words[max(0, start - 1) : max(0, end - 1)]]

    def state(self) -> State:
        """Settings and words."""
        told = {"kind": "word_sequence", "analysis": self.analysis.manifest(), "length": self.length}
        return State(told, pack_strings("words", self.words))

    @classmethod
    def from_state(cls, state: State) -> FittedWordSequence:
        """Restore from the stored state."""
        words = unpack_strings("words", state.tensors)
        analysis = Analysis.from_manifest(entry(state.manifest, "analysis", dict))
        length = entry(state.manifest, "length", int)
        if len(set(words)) != len(words) or not 1 <= length <= MAX_LENGTH:
            raise damaged("its words do not each stand once")
        return cls(tuple(words), analysis, length)
