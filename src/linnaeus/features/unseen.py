"""Features of held-out rows, as if the vocabulary had been learned without them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linnaeus.arrays.csr import CSR
from linnaeus.features.indexing.exact import Exact
from linnaeus.features.union import FittedUnion, Union
from linnaeus.features.weighting import Weighted
from linnaeus.features.words import TermBlock

if TYPE_CHECKING:
    from linnaeus.features.base import Block, Fitted
    from linnaeus.features.weighting import Length
    from linnaeus.types import Longs

PIECE = 1 << 22


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

    @classmethod
    def of(cls, X: CSR) -> Everyone:
        """Counted in pieces: a row of indices as long integers would be twice as large as the indices."""
        used = np.zeros(X.width, np.int64)
        for start in range(0, X.nnz, PIECE):
            used += np.bincount(X.indices[start : min(start + PIECE, X.nnz)], minlength=X.width)
        return cls(X.shape[0], used)

    def without(self, X: CSR) -> Everyone:
        """All but these rows."""
        some = Everyone.of(X)
        return Everyone(self.rows - some.rows, self.used - some.used)


def as_unseen(block: Block, fitted: Fitted, X: CSR, everyone: Everyone) -> CSR:
    """The rows X of an extractor that was fitted on them and on others, together `everyone`, as if on the others only.

    In new rows a word of no training row is dropped before the length of a row is taken. In rows held out from a
    vocabulary of all rows it has a column, without a weight, and takes its part of the length; their scores would be
    smaller than those of new rows, and what is learned from them about probabilities would be wrong. So terms that the
    others would have given no column become zero, and what is left gets its length again. The weights of columns are
    left as they are.

    >>> from linnaeus.features import Words
    >>> words = Words(values="binary", length="l2")
    >>> fitted, X = words.fit_rows(["good film", "good day", "good"])
    >>> as_unseen(words, fitted, X.take(np.array([1])), Everyone.of(X)).data.tolist()
    [0.0, 1.0]
    """
    spans = list(_spans(block, fitted, 0))
    if not spans:
        return X
    others = everyone.without(X)
    lost = np.zeros(X.width, bool)
    for span in spans:
        lost[span.start : span.stop] = others.used[span.start : span.stop] < _fewest(span.terms, others.rows)
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


def _fewest(terms: Exact, n: int) -> int:
    least = terms.min_df if isinstance(terms.min_df, int) else math.ceil(terms.min_df * n)
    return max(1, least)


def _lengthen(data: NDArray[Any], places: tuple[NDArray[Any], ...], span: Span, n: int) -> None:
    """Bring the columns of a span to length 1 again, in the rows that lost some."""
    rows, indices, gone = places
    short = np.zeros(n, bool)
    short[rows[gone]] = True
    mine = np.nonzero(short[rows] & (indices >= span.start) & (indices < span.stop))[0]
    values = data[mine].astype(np.float64)
    sizes = np.bincount(rows[mine], np.abs(values) if span.length == "l1" else values * values, minlength=n)
    lengths = sizes if span.length == "l1" else np.sqrt(sizes)
    data[mine] = values / np.where(lengths > 0, lengths, 1.0)[rows[mine]]
