"""Terms with a column of their own: an exact vocabulary learned from a stream, or given."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.arrays.csr import CSR
from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, InputTypeError, UsageError, damaged, expect
from linnaeus.features.base import Fitted, Narrowed
from linnaeus.features.names import Names, stored
from linnaeus.features.terms.counting import Counts, count_terms
from linnaeus.features.terms.grams import Grams
from linnaeus.features.terms.vocabulary import Vocabulary, compact, spell
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.store.states import field
from linnaeus.text.buffers import pack
from linnaeus.types import Bools, Doubles, Ints, Longs, Place, State

UNKNOWN = "<unknown>"
FEW = 50
"""Texts below which no token is too rare to be kept: of a handful, most words are."""


@dataclass(frozen=True)
class Exact:
    """A vocabulary of the training texts: a column for each term, selected by document frequency and number.

    `min_df` and `max_df` limit the document frequency of a term: a whole number is a number of texts, a fraction is a
    share of all texts. `max_terms` keeps the most frequent terms; ties are broken by code point. With `min_token_df`,
    tokens that occur in fewer texts are left out, and so are terms that contain them: text that one person wrote once
    (a name, a number, a password) then does not get into a model file. `min_term_df` does the same for whole terms,
    which makes a model several times smaller. With fewer than 50 texts both keep everything, unlike `min_df`.

    >>> from linnaeus.features import Words
    >>> Words(terms=Exact(min_df=2)).fit(["good film", "bad film"]).names()
    ['film']
    """

    min_df: int | float = 1
    max_df: int | float = 1.0
    max_terms: int | None = None
    min_token_df: int = 1
    min_term_df: int = 1

    def __post_init__(self) -> None:
        for name in ("min_df", "max_df"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputTypeError(f"{name} must be a number of texts or a share of them, not {value!r}.")
            if value < 0 or (isinstance(value, float) and value > 1):
                raise UsageError(f"{name}={value} is neither a whole number of texts nor a share from 0.0 to 1.0.")
        expect("Exact(min_token_df=...)", self.min_token_df, int)
        expect("Exact(min_term_df=...)", self.min_term_df, int)
        if self.max_terms is None:
            return
        expect("Exact(max_terms=...)", self.max_terms, int)
        if self.max_terms < 1:
            raise UsageError(f"max_terms={self.max_terms} would keep no term; leave it out to keep all.")

    def learn(self, grams: Grams, stream: Stream) -> Counted:
        """Count the terms of the stream, and select those with a column."""
        return self._choose(count_terms(grams, stream, self._fewest(grams)))[1]

    def learn_rows(self, grams: Grams, stream: Stream, unknown: bool) -> tuple[Counted, CSR]:
        """The same, with the rows of the stream: the terms are counted and remembered, no text is read twice."""
        seen = count_terms(grams, stream, self._fewest(grams), record=True)
        (columns, counted), counter = self._choose(seen), seen.counter
        del seen  # its arrays are as large as the rows
        layout = counted.vocabulary.layout(unknown)
        return counted, CSR(*counter.replay(columns, layout, kernels.thread_count()), layout[0])

    def learn_tally(
        self, grams: Grams, stream: Stream, unknown: bool, classes: tuple[Ints, int]
    ) -> tuple[Counted, Doubles]:
        """The same, with the sums of the rows of each of k classes (width, k): no row is made, and nothing recorded."""
        seen = count_terms(grams, stream, self._fewest(grams), classes=classes)
        columns, counted = self._choose(seen)
        layout = counted.vocabulary.layout(unknown)
        return counted, seen.counter.tally(columns, layout).reshape(layout[0], classes[1])

    def _choose(self, seen: Counts) -> tuple[Ints, Counted]:
        """The column of each node that passes, or -1; the terms that have one."""
        df = np.concatenate(seen.documents)
        passed = seen.wanted
        if passed.any() or seen.left_out:  # of no terms at all, the bounds are not to blame
            passed = passed & self._passes(df, seen.n) & self._shared(seen)
        if not passed.any():
            raise DataError(_nothing_left(seen))
        columns = seen.columns(passed)
        if self.max_terms is not None and passed.sum() > self.max_terms:
            passed = _most_frequent(passed, np.concatenate(seen.occurrences), columns, self.max_terms)
            columns = seen.columns(passed)
        by_column = np.empty(int(passed.sum()), np.int64)
        for start, df in zip(seen.starts, seen.documents, strict=False):
            there = slice(start, start + len(df))
            by_column[columns[there][passed[there]]] = df[passed[there]]
        seen.drop_counts()
        return columns, Counted(seen.vocabulary(columns), by_column, seen.n)

    def _shared(self, seen: Counts) -> Bools:
        """The nodes all of whose tokens stand in texts enough."""
        shared = np.ones(seen.starts[-1], np.bool_)
        if self.min_token_df <= 1 or seen.n < FEW:
            return shared
        tokens = seen.starts[1]
        shared[:tokens] = seen.documents[0] >= self.min_token_df
        for start, end in pairwise(seen.starts[1:]):
            inner = slice(start - tokens, end - tokens)
            shared[start:end] = shared[seen.parents[inner]] & shared[seen.last[inner]]
        return shared

    def _passes(self, df: Longs, n: int) -> Bools:
        high = texts_of(self.max_df, n)
        if high < texts_of(self.min_df, n):
            raise UsageError(f"max_df={self.max_df} is below min_df={self.min_df} for {n:,} texts: no term can pass.")
        return (df >= self._least(n)) & (df <= high)

    def _fewest(self, grams: Grams) -> Callable[[int], int]:
        """The same, where tokens are the terms, with what is asked of tokens: what stands in fewer is not sorted."""
        if grams.plan.of_words and grams.high > 1:
            return self._least
        return lambda n: max(self._least(n), self.min_token_df if n >= FEW else 1)

    def _least(self, n: int) -> int:
        """In how many of n texts a term must stand."""
        return max(math.ceil(texts_of(self.min_df, n)), self.min_term_df if n >= FEW else 1)


def texts_of(df: int | float, n: int) -> int | float:
    """A number of texts, or a share of n, as a number of texts."""
    return df * n if isinstance(df, float) else df


@dataclass(frozen=True)
class Given:
    """A given vocabulary: a column for each term, in this order; the words of n-grams are separated by spaces.

    >>> Given(["red", "green"]).terms
    ('red', 'green')
    """

    terms: tuple[str, ...]

    def __init__(self, terms: Sequence[str]) -> None:
        if isinstance(terms, str):
            raise InputTypeError("Given takes a list of terms, not one string; wrap it in a list.")
        object.__setattr__(self, "terms", tuple(terms))
        if not self.terms or not all(isinstance(term, str) and term for term in self.terms):
            raise UsageError("Given takes at least one term, none of them empty.")
        if len(set(self.terms)) != len(self.terms):
            twice = next(term for i, term in enumerate(self.terms) if term in self.terms[:i])
            raise UsageError(f"Given has the term {twice!r} twice; give each term once.")

    def learn(self, grams: Grams, stream: Stream) -> Counted:
        """The terms as they are; nothing is counted."""
        del stream
        paths = [grams.term(term) for term in self.terms]
        if grams.plan.of_words and max(map(len, paths)) > grams.high:
            long = self.terms[max(range(len(paths)), key=lambda i: len(paths[i]))]
            raise UsageError(f"Given has {long!r}, longer than n-grams of {grams.high}; raise ngrams to hold it.")
        return Counted(from_paths(paths), None, 0)


@dataclass(frozen=True, eq=False)
class Counted:
    """A vocabulary, and for each column in how many of n texts it stands where that was counted."""

    vocabulary: Vocabulary
    df: Longs | None
    n: int


@dataclass(frozen=True, eq=False)
class FittedTerms(Fitted):
    """Counts of the terms of a vocabulary; tokens outside it count in a last column where that is wanted."""

    grams: Grams
    vocabulary: Vocabulary
    unknown: bool = False

    @property
    def width(self) -> int:
        """A column for each term, perhaps one for unknown tokens."""
        return self.vocabulary.width + int(self.unknown)

    def extract(self, batch: Batch) -> CSR:
        """How often each term occurs."""
        texts = self.grams.texts(batch)
        arrays, layout = self.vocabulary.arrays, self.vocabulary.layout(self.unknown)
        rows = kernels.index_terms(texts.data, texts.offsets, self.grams.plan, arrays, layout, kernels.thread_count())
        return CSR(*rows, self.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """The characters of every term, and of every unknown token."""
        return [list(self._places(text)) for text in self.grams.strings(batch)]

    def _places(self, text: str) -> Iterator[Place]:
        for term, start, end in self.grams.placed(text):
            column = self.vocabulary.find(term)
            if column >= 0:
                yield Place(column, start, end)
            elif self.unknown and len(term) == 1:
                yield Place(self.vocabulary.width, start, end)

    @cached_property
    def _spelled(self) -> pa.Array:
        return spell(self.vocabulary, self.grams)

    def names(self) -> Names:
        """The terms by column."""
        return stored(self._spelled, UNKNOWN) if self.unknown else stored(self._spelled)

    def keep(self, columns: Ints) -> Fitted:
        """Only these terms."""
        if self.unknown:
            return Narrowed(self, columns)
        return dataclasses.replace(self, vocabulary=self.vocabulary.keep(columns))

    def state(self) -> State:
        """Settings and vocabulary."""
        manifest = {"kind": "terms", "grams": self.grams.manifest(), "terms": self.vocabulary.width}
        return State({**manifest, "unknown": self.unknown}, self.vocabulary.tensors())

    @classmethod
    def from_state(cls, state: State) -> FittedTerms:
        """Restore from the stored state."""
        grams = Grams.from_manifest(field(state.manifest, "grams", dict))
        width = field(state.manifest, "terms", int)
        if not 0 <= width < 2**31 - 1:
            raise damaged(f"it claims {width} terms")
        vocabulary = Vocabulary.from_tensors(state.tensors, width)
        return cls(grams, vocabulary, field(state.manifest, "unknown", bool))


def _nothing_left(seen: Counts) -> str:
    n, distinct = seen.n, int(seen.wanted.sum())
    if n == 0:
        return "There are no texts to learn a vocabulary from."
    if distinct == seen.left_out == 0:
        return f"None of the {n:,} texts has a term; check the text column, the tokenizer and the n-grams."
    terms = f"None of {distinct:,} terms" if not seen.left_out else "No term"
    return f"{terms} passes min_df and max_df in {n:,} texts; relax them."


def _most_frequent(passed: Bools, total: Longs, columns: Ints, most: int) -> Bools:
    nodes = np.flatnonzero(passed)
    kept = nodes[np.lexsort((columns[nodes], -total[nodes]))[:most]]
    chosen = np.zeros(len(passed), np.bool_)
    chosen[kept] = True
    return chosen


def from_paths(paths: list[tuple[bytes, ...]]) -> Vocabulary:
    """A vocabulary in which path i has column i."""
    tokens = sorted({token for path in paths for token in path})
    rank = {token: i for i, token in enumerate(tokens)}
    prefixes = sorted({path[:n] for path in paths for n in range(2, len(path) + 1)}, key=lambda p: (len(p), p))
    node = {(token,): i for token, i in rank.items()} | {p: len(tokens) + i for i, p in enumerate(prefixes)}
    columns = np.full(len(node), -1, np.int32)
    columns[[node[path] for path in paths]] = np.arange(len(paths), dtype=np.int32)
    parents = np.array([node[p[:-1]] for p in prefixes], np.int32)
    last = np.array([rank[p[-1]] for p in prefixes], np.int32)
    packed = pack(tokens)
    return compact((packed.data, packed.offsets), parents, last, columns)
