"""What training rows say of the columns: document frequencies, lengths, and sums for each label.

Everything is summed over pieces of a fixed size, so that it has the same bits for any cut of the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus.arrays.csr import CSR
from linnaeus.data.arrow import as_numpy, is_list, number
from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, UsageError
from linnaeus.features.base import Fitted
from linnaeus.features.batches import PIECE, pieces
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.types import Doubles, Floats, Longs

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


WIDEST_LEARNED = 1 << 26
"""Columns that have statistics: half a gigabyte of them for each number that is kept."""


def check_width(columns: int) -> None:
    """Refuse to learn something of each of too many columns."""
    if columns > WIDEST_LEARNED:
        raise UsageError(
            f"Weights and scores cannot be learned for {columns:,} columns, only for {WIDEST_LEARNED:,}; "
            "use Hashed(bits=26) or fewer, or values without weights, such as 'log'."
        )


@dataclass(frozen=True, eq=False)
class Seen:
    """The statistics of a fitted piece's columns over a stream; each is computed when it is first asked for."""

    features: Fitted
    stream: Stream
    rows: CSR | None = None
    """The features of the whole stream, where they are at hand."""
    given: tuple[Longs, int] | None = None
    """Document frequencies and the number of rows, where they are known."""
    whole: Seen | None = None
    """The rows are all of these but those of the stream: nothing else is walked over."""
    tallies: dict[str, Tally] = field(default_factory=dict)

    def without(self, stream: Stream, rows: CSR) -> Seen:
        """The statistics of all rows but these."""
        return Seen(self.features, stream, rows, whole=self)

    @property
    def df(self) -> Longs:
        """In how many rows each column has a value."""
        return self.given[0] if self.given else self._walked[0]

    @property
    def n(self) -> int:
        """How many rows."""
        return self.given[1] if self.given else self._walked[1]

    @property
    def mean_length(self) -> float:
        """The mean over rows of the sum of absolute values; 1 where that is zero."""
        _, n, total = self._walked
        return total / n if n and total else 1.0

    @cached_property
    def _walked(self) -> tuple[Longs, int, float]:
        check_width(self.features.width)
        df, n, total = np.zeros(self.features.width, np.int64), 0, 0.0
        for X in self._cuts():
            df += np.bincount(X.indices[: X.nnz][X.data[: X.nnz] != 0], minlength=len(df))
            n += len(X)
            total += float(np.abs(X.data[: X.nnz]).sum(dtype=np.float64))
        if self.whole is None:
            return df, n, total
        return self.whole.df - df, self.whole.n - n, self.whole.total - total

    @property
    def total(self) -> float:
        """The sum of absolute values."""
        return self._walked[2]

    def parts(self) -> Iterator[tuple[Batch, CSR]]:
        """Pieces of the stream, with their features."""
        if self.rows is None:
            return ((piece, self.features.extract(piece)) for piece in pieces(self.stream))
        return zip(pieces(self.stream), self._cuts(), strict=True)

    def _cuts(self) -> Iterator[CSR]:
        """The features of the same pieces; where they are at hand, the stream is not walked over again."""
        if self.rows is None:
            return (X for _, X in self.parts())
        rows, n = self.rows, len(self.rows)
        return (rows.rows_slice(at, min(at + PIECE, n)) for at in range(0, n, PIECE))

    def by_label(self, who: str, value: Callable[[Floats], Doubles]) -> Tally:
        """Sums of `value(x)` for each label and column, for the named piece that learns from labels."""
        check_width(self.features.width)
        if who not in self.tallies:
            whole = None if self.whole is None else self.whole.by_label(who, value)
            tally = Tally(self.features.width, {} if whole is None else dict(whole.numbers))
            for piece, X in self.parts():
                tally.add(X, value(np.asarray(X.data[: X.nnz], np.float32)), _encode(piece, tally.numbers, who))
                tally.many |= piece.labels is not None and is_list(piece.labels.type)
            self.tallies[who] = tally if whole is None else whole.minus(tally)
        return self.tallies[who]


@dataclass(eq=False)
class Tally:
    """Sums for each label and column. `numbers` maps labels to rows of `sums`, in the order they were met."""

    width: int
    numbers: dict[str, int] = field(default_factory=dict)
    sums: Any = None
    totals: Doubles = field(init=False)
    counts: Doubles = field(default_factory=lambda: np.zeros(0))
    n: int = 0
    many: bool = False
    """Whether a row may have several labels."""

    def __post_init__(self) -> None:
        self.totals = np.zeros(self.width)

    def add(self, X: CSR, values: Doubles, Y: csr_matrix) -> None:
        """Add the rows of a piece; Y (n, labels) says which labels each has."""
        from scipy.sparse import csr_matrix

        k = len(self.numbers)
        matrix = csr_matrix((values, X.indices[: X.nnz], X.indptr), shape=X.shape)
        new = Y.T.tocsr() @ matrix  # as csc it would turn the matrix, too
        if self.sums is not None:
            self.sums.resize((k, self.width))
        self.sums = new if self.sums is None else self.sums + new
        counts = np.asarray(Y.sum(axis=0), np.float64).ravel()
        counts[: len(self.counts)] += self.counts
        self.totals += np.bincount(X.indices[: X.nnz], weights=values, minlength=self.width)
        self.counts, self.n = counts, self.n + len(X)

    def minus(self, other: Tally) -> Tally:
        """The sums of these rows without those of some of them; the numbers of labels are the same."""
        found = Tally(self.width, self.numbers, self.sums if other.sums is None else self.sums - other.sums)
        found.totals, found.counts, found.n = self.totals - other.totals, self.counts.copy(), self.n - other.n
        found.counts[: len(other.counts)] -= other.counts
        found.many = self.many
        return found

    def present(self) -> csr_matrix:
        """The sums of each label that has rows, by code point (k, d)."""
        rows = [row for _, row in sorted(self.numbers.items()) if self.counts[row]]
        found = self.sums[rows]
        found.eliminate_zeros()
        return found

    def labels(self) -> Iterator[tuple[float, Doubles]]:
        """For each label that has rows, by code point: in how many it stands, and the sums of its columns (d,)."""
        for _, row in sorted(self.numbers.items()):
            if self.counts[row]:
                yield float(self.counts[row]), self.sums[[row]].toarray().ravel()


def presence(data: Floats) -> Doubles:
    """One where there is a value, whatever it is."""
    return (data != 0).astype(np.float64)


def _encode(batch: Batch, numbers: dict[str, int], who: str) -> csr_matrix:
    """Which labels each row has (n, labels so far); labels met for the first time get the next number."""
    from scipy.sparse import csr_matrix

    labels = _checked(batch, who)
    rows = np.arange(len(labels))
    if is_list(labels.type):
        rows = np.repeat(rows, as_numpy(labels.value_lengths()))
        labels = labels.flatten()
    places, found = number(labels)
    known = np.array([numbers.setdefault(label, len(numbers)) for label in found], np.int64)
    codes: Longs = known[places] if len(known) else known
    Y = csr_matrix((np.ones(len(codes)), (rows, codes)), shape=(len(batch), len(numbers)))
    Y.data[:] = 1.0  # a label named twice in a row is there once
    return Y


def _checked(batch: Batch, who: str) -> pa.Array:
    if batch.labels is None:
        raise DataError(f"{who} needs labels, but the rows have none; name their column with label=...")
    if pa.types.is_floating(batch.labels.type) or pa.types.is_integer(batch.labels.type):
        raise DataError(
            f"{who} needs classes, but the labels are numbers; use other features, such as those of the "
            "recipe ridge, or read the labels as classes with label_kind='one'."
        )
    if batch.labels.null_count:
        row = batch.start + 1 + batch.labels.is_null().index(pa.scalar(True)).as_py()
        raise DataError(f"{who} needs labels, but row {row} has none; drop the row or give it a label.")
    return batch.labels
