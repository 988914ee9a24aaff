"""Features for cross-validation, without reading a text twice.

`CountedRows` learns the weights of columns again for each part of the rows, from counts that are there already.
`as_held_out` gives the rows that a vocabulary was learned from as if it had been learned without them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import NamedTuple

import numpy as np

from linnaeus.arrays.csr import CSR, hstack
from linnaeus.features.base import Block, Fitted, Labeled
from linnaeus.features.composition import FittedUnion, Union
from linnaeus.features.ngrams import TermBlock
from linnaeus.features.statistics import Seen
from linnaeus.features.terms.exact import Exact, texts_of
from linnaeus.features.weighting import Count, Length, Values, Weighted, learn_weights, resolve, weigh_rows
from linnaeus.features.word_sequence import WordSequence
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.types import Array, Longs, offsets_of


@dataclass(frozen=True, eq=False)
class Counted:
    """Blocks that count, with the counts of all rows, and how each is to be valued.

    >>> import numpy as np
    >>> from linnaeus import read
    >>> from linnaeus.features import Words, count_rows
    >>> corpus = read([("good film", "pos"), ("bad film", "neg")])
    >>> features, X = count_rows(Words(values="tfidf"), corpus).learn()
    >>> X.shape
    (2, 3)
    """

    parts: tuple[tuple[Seen, CSR, Values, Length], ...]

    def learn(self) -> tuple[Fitted, CSR]:
        """Weights of all rows, and the rows themselves."""
        fitted = [learn_weights(seen, values, length) for seen, _, values, length in self.parts]
        features = fitted[0] if len(fitted) == 1 else FittedUnion(tuple(fitted))
        return features, self.rows(features)

    def without(self, stream: Stream, rows: Longs) -> Fitted:
        """Weights of all rows but these, which the stream has."""
        fitted = []
        for seen, X, values, length in self.parts:
            fitted.append(learn_weights(seen.without(stream, X.take(rows)), values, length))
        return fitted[0] if len(fitted) == 1 else FittedUnion(tuple(fitted))

    def rows(self, features: Fitted, rows: Longs | None = None) -> CSR:
        """These rows, or all, valued by what was learned."""
        fitted = features.blocks if isinstance(features, FittedUnion) and len(self.parts) > 1 else (features,)
        pairs = [(piece, _some(X, rows)) for (_, X, _, _), piece in zip(self.parts, fitted, strict=True)]
        return hstack([weigh_rows(piece, X) for piece, X in pairs])


def _some(X: CSR, rows: Longs | None) -> CSR:
    """These rows, or all, with values of their own."""
    return CSR(X.indptr, X.indices, X.data[: X.nnz].copy(), X.width) if rows is None else X.take(rows)


def count_rows(block: Block, stream: Stream) -> Counted | None:
    """The counts behind an extractor, in one walk for each of its blocks; None where it does more than value counts.

    >>> import numpy as np
    >>> from linnaeus import read
    >>> from linnaeus.features import Contrast, Words
    >>> corpus = read([("good film", "pos"), ("bad film", "neg"), ("bad", "neg")])
    >>> counted = count_rows(Words(values=Contrast()), corpus)
    >>> features, X = counted.learn()
    >>> X.data.tolist() == Words(values=Contrast()).fit_rows(corpus)[1].data.tolist()
    True
    """
    blocks = block.blocks if isinstance(block, Union) else (block,)
    plain = [_plain(part) for part in blocks]
    if any(found is None for found in plain):
        return None
    found = []
    for part, values, length in filter(None, plain):
        counts, X = part.learn_rows(stream)
        found.append((Seen(counts, stream, rows=X), X, values, length))
    return Counted(tuple(found))


def _plain(block: Block) -> tuple[Block, Values, Length] | None:
    """A block that counts, and how its counts are valued; None where it does something else."""
    if isinstance(block, Weighted):
        inner = _plain(block.block)
        if inner is None or inner[1:] != (Count(), None):
            return None
        return inner[0], resolve(block.values), block.length
    if isinstance(block, TermBlock):
        return replace(block, values="count", length=None), resolve(block.values), block.length
    return None


class Span(NamedTuple):
    """Columns start to stop of a vocabulary that was learned: a term needs so many rows, and rows have this length."""

    start: int
    stop: int
    terms: Exact
    length: Length


class Everyone(NamedTuple):
    """How many rows there are, and how many have something in each column.

    >>> from linnaeus.features import Words
    >>> _, X = Words().fit_rows(["good film", "good day"])
    >>> Everyone.of(X).rows, Everyone.of(X).used.tolist()
    (2, [1, 1, 2])
    """

    rows: int
    used: Longs
    ordered: bool = False

    @classmethod
    def of(cls, X: CSR, ordered: bool = False) -> Everyone:
        """The counts of these rows; in ordered ones a column may stand several times."""
        return cls(len(X), _once(X).counts() if ordered else X.counts(), ordered)

    def without(self, X: CSR) -> Everyone:
        """All but these rows."""
        some = Everyone.of(X, self.ordered)
        return Everyone(self.rows - some.rows, self.used - some.used, self.ordered)


def _once(X: CSR) -> CSR:
    """The rows with each of their columns once."""
    owners = np.repeat(np.arange(len(X)), np.diff(X.indptr))
    pairs = np.unique(owners * np.int64(max(1, X.width)) + X.indices[: X.nnz])
    counts = np.bincount(pairs // max(1, X.width), minlength=len(X))
    columns = (pairs % max(1, X.width)).astype(np.int32)
    return CSR(offsets_of(counts), columns, np.ones(len(pairs), np.float32), X.width)


def as_unseen(block: Block, fitted: Fitted, X: CSR, everyone: Everyone) -> CSR:
    """The rows X of an extractor that was fitted on them and on others, together `everyone`, as if on the others only.

    In new rows a word of no training row is dropped before the length of a row is taken. In rows held out from a
    vocabulary of all rows it has a column, without a weight, and takes its part of the length; their scores would be
    smaller than those of new rows, and what is learned from them about probabilities would be wrong. So terms that the
    others would have given no column become zero, and what is left gets its length again. The weights of columns are
    left as they are. Of words in their order, those without a column become the unknown word.

    >>> from linnaeus.features import Words
    >>> words = Words(values="binary", length="l2")
    >>> fitted, X = words.fit_rows(["good film", "good day", "good"])
    >>> as_unseen(words, fitted, X.take(np.array([1])), Everyone.of(X)).data.tolist()
    [0.0, 1.0]
    """
    if isinstance(block, WordSequence):
        others, also = everyone.without(X), set(block.also)
        rare = others.used < block.least(others.rows)
        rare &= np.array([name not in also for name in fitted.names()])
        unknown = rare[X.indices[: X.nnz]]
        return CSR(X.indptr, np.where(unknown, 0, X.indices[: X.nnz]).astype(np.int32), X.data[: X.nnz], X.width)
    spans = list(_spans(block, fitted, 0))
    if not spans:
        return X
    others = everyone.without(X)
    lost = np.zeros(X.width, bool)
    for span in spans:
        least = max(1, math.ceil(texts_of(span.terms.min_df, others.rows)))
        lost[span.start : span.stop] = others.used[span.start : span.stop] < least
    data = X.data[: X.nnz].copy()
    indices = X.indices[: X.nnz]
    gone = lost[indices]
    data[gone] = 0.0
    touched = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    for span in spans:
        if span.length is not None:
            _lengthen(data, (touched, indices, gone), span, X.shape[0])
    return CSR(X.indptr, X.indices[: X.nnz], data, X.width)


def _spans(block: Block, fitted: Fitted, start: int) -> Iterator[Span]:
    """The columns that were learned from the rows; pieces that do more than value terms are left as they are."""
    if isinstance(block, Union) and isinstance(fitted, FittedUnion):
        for part, piece in zip(block.blocks, fitted.blocks, strict=True):
            yield from _spans(part, piece, start)
            start += piece.width
    elif isinstance(block, Weighted) and isinstance(block.block, TermBlock) and block.block.length is None:
        for span in _spans(block.block, fitted, start):
            yield span._replace(length=block.length)
    elif isinstance(block, TermBlock) and isinstance(block.terms, Exact) and not block.unknown:
        yield Span(start, start + fitted.width, block.terms, block.length)


def _lengthen(data: Array, places: tuple[Array, ...], span: Span, n: int) -> None:
    """Bring the columns of a span to length 1 again, in the rows that lost some."""
    rows, indices, gone = places
    short = np.zeros(n, bool)
    short[rows[gone]] = True
    mine = np.nonzero(short[rows] & (indices >= span.start) & (indices < span.stop))[0]
    values = data[mine].astype(np.float64)
    sizes = np.bincount(rows[mine], np.abs(values) if span.length == "l1" else values * values, minlength=n)
    lengths = sizes if span.length == "l1" else np.sqrt(sizes)
    data[mine] = values / np.where(lengths > 0, lengths, 1.0)[rows[mine]]


def peeks(piece: object) -> bool:
    """Whether a piece, or one inside it, learns from labels.

    >>> from linnaeus.features import NaiveBayes, Weighted, Words
    >>> peeks(Words(values=NaiveBayes())), peeks(Weighted(Words(), "tfidf"))
    (True, False)
    """
    from linnaeus.features import SCORES, VALUES

    if isinstance(piece, str):
        piece = VALUES.get(piece) or SCORES.get(piece)
    kind = piece if isinstance(piece, type) else type(piece)
    if issubclass(kind, Labeled) and kind.needs_labels:
        return True
    if isinstance(piece, tuple):
        return any(map(peeks, piece))
    if not is_dataclass(piece) or isinstance(piece, type):
        return False
    return any(peeks(getattr(piece, part.name)) for part in fields(piece))
