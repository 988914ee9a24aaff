"""Base classes of extractors: `Block`, which can be fitted and combined, and `Fitted`, the result.

An extractor is a frozen dataclass of hyper-parameters that inherits `Block` and has `learn(stream)`. The result is a
frozen dataclass that inherits `Fitted` and has `extract`, `locate`, `names`, `width` and `state`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays.csr import CSR, vstack
from linnaeus.data.batch import Batch
from linnaeus.errors import InputTypeError, damaged, expect
from linnaeus.features.batches import text_batches
from linnaeus.features.names import Names, chosen
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream, has_method
from linnaeus.store.states import nest, tensor
from linnaeus.types import Doubles, Floats, Ints, Longs, Place, Source, State, Words64, offsets_of

if TYPE_CHECKING:
    from linnaeus.features.composition import Conjunction, Union

LARGEST = float(np.finfo(np.float32).max)
"""The largest value a row can hold."""


@dataclass(frozen=True)
class Batches:
    """A stream over batches that are in memory already."""

    parts: tuple[Batch, ...]

    def batches(self) -> Iterator[Batch]:
        """The batches in order."""
        return iter(self.parts)


def as_stream(source: Source) -> Stream:
    """Convert a source of texts to a stream that can be read more than once.

    >>> [len(batch) for batch in as_stream(["one text", "another"]).batches()]
    [2]
    """
    if isinstance(source, Batch):
        return Batches((source,))
    if has_method(source, "batches"):
        return source
    return Batches(text_batches(source))


class Block(ABC):
    """Base class of extractors before fitting; `a | b` joins the features of both, `a * b` pairs them.

    >>> from linnaeus.features import Chars, Words
    >>> both = Words() | Chars(2, 3)
    >>> isinstance(both, Block), both.fit(["a good film"]).width > 0
    (True, True)
    """

    @abstractmethod
    def learn(self, stream: Stream) -> Fitted:
        """Fit to a stream; each extractor implements it."""

    def learn_rows(self, stream: Stream) -> tuple[Fitted, CSR]:
        """Fit, and return the rows of the same stream too; in one pass if the extractor can."""
        features = self.learn(stream)
        return features, features.rows(stream)

    def fit(self, source: Source) -> Fitted:
        """Fit the extractor to the source."""
        return self.learn(as_stream(source))

    def fit_rows(self, source: Source) -> tuple[Fitted, CSR]:
        """Fit, and return the rows of the source too."""
        return self.learn_rows(as_stream(source))

    def __or__(self, other: Block) -> Union:
        from linnaeus.features.composition import Union

        return Union((self, other)) if isinstance(other, Block) else NotImplemented

    def __mul__(self, other: Block) -> Conjunction:
        from linnaeus.features.composition import Conjunction

        return Conjunction(self, other) if isinstance(other, Block) else NotImplemented


class Labeled:
    """Base class of pieces that may learn from labels."""

    needs_labels: ClassVar[bool] = False
    """Whether it learns from labels: then it must be learned again in each fold, or it would know held-out rows."""


class FittedPiece(ABC):
    """Properties of fitted pieces, with their defaults; a class or its fields override those that differ."""

    opaque: ClassVar[bool] = False
    """Whether its features come from all of a text at once, so that their weights say nothing of single words."""
    full: ClassVar[bool] = False
    """Whether its rows have a number in every column."""
    ordered: ClassVar[bool] = False
    """Whether a row has the columns of a text's words in their order, repeated as they are: for networks."""
    spells: ClassVar[bool] = False
    """Whether its rows are texts that can be read again."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of columns."""

    @abstractmethod
    def names(self) -> Sequence[str]:
        """A readable name for each column."""

    @abstractmethod
    def state(self) -> State:
        """Manifest and tensors from which this object is restored."""

    @property
    def keeps_rows(self) -> int:
        """The number of training rows in it."""
        return 0

    @property
    def inside(self) -> Sequence[FittedPiece]:
        """The fitted pieces among its fields."""
        held = [getattr(self, part.name) for part in fields(self)]  # type: ignore[arg-type]
        flat = [piece for one in held for piece in (one if isinstance(one, tuple) else (one,))]
        return [piece for piece in flat if isinstance(piece, FittedPiece)]

    def parts(self) -> Iterator[FittedPiece]:
        """The piece itself, then the pieces inside it, and those inside them."""
        yield self
        for piece in self.inside:
            yield from piece.parts()


class Fitted(FittedPiece):
    """Base class of fitted extractors, frozen: the row of a text does not depend on the other texts.

    >>> from linnaeus.features import Words
    >>> fitted = Words().fit(["a good film", "a bad film"])
    >>> isinstance(fitted, Fitted), fitted.names()
    (True, ['a', 'bad', 'film', 'good'])
    """

    @abstractmethod
    def extract(self, batch: Batch) -> CSR:
        """The features of one batch, in new arrays."""

    def locate(self, batch: Batch) -> list[list[Place]]:
        """For each row of one batch, the positions of its features; by default they have none.

        Features without a position are left out.
        """
        return [[] for _ in range(len(batch))]

    def keep(self, columns: Ints) -> Fitted:
        """The features restricted to these columns (sorted), whose values do not change.

        A class that can drop the other columns does so itself, and a saved model then does not contain them.

        >>> import numpy as np
        >>> from linnaeus.features import Words
        >>> Words().fit(["a good film"]).keep(np.array([1], np.int32)).names()
        ['film']
        """
        return Narrowed(self, columns)

    def shrink(self, columns: Ints) -> Fitted:
        """The features restricted to these columns (sorted), without any data of the others, for a small model.

        Unlike `keep` it may change values: rows are normalized by the remaining columns only.

        >>> from linnaeus.features import Words
        >>> fitted = Words(values="tfidf", length="l2").fit(["good film", "bad film"])
        >>> fitted.shrink(np.array([0], np.int32)).rows(["bad film"]).data.tolist()
        [1.0]
        """
        return self.keep(columns)

    def rows(self, source: Source) -> CSR:
        """The features of each row of the source (n, width)."""
        blocks = [self.extract(batch) for batch in as_stream(source).batches()]
        if len(blocks) == 1:
            return blocks[0]
        return vstack(blocks) if blocks else empty_rows(0, self.width)

    def places(self, source: Source) -> list[list[Place]]:
        """For each row of the source, the positions of its features in the text."""
        return [row for batch in as_stream(source).batches() for row in self.locate(batch)]


def empty_rows(n: int, width: int) -> CSR:
    """A matrix (n, width) without a single value."""
    return CSR(np.zeros(n + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), width)


def rows_from(cells: Sequence[dict[int, float]], width: int) -> CSR:
    """A matrix from column-to-value dicts, one for each row; zeros are left out.

    >>> rows_from([{2: 1.0, 0: 3.0}, {1: 0.0}], 4).indices.tolist()
    [0, 2]
    """
    pairs = [sorted((column, value) for column, value in row.items() if value != 0) for row in cells]
    indptr = offsets_of([len(row) for row in pairs])
    indices = np.fromiter((column for row in pairs for column, _ in row), np.int32, int(indptr[-1]))
    data = np.fromiter((value for row in pairs for _, value in row), np.float32, int(indptr[-1]))
    return CSR(indptr, indices, data, width)


ROWS = 4096
"""Rows that are made together, in float64."""


def full_rows(X: CSR, make: Callable[[CSR], Doubles], width: int) -> CSR:
    """Apply `make` to the rows of X, some at a time, and store every number of the results.

    >>> X = CSR(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.float32), 1)
    >>> full_rows(X, lambda rows: rows.dot(np.array([[2.0, 0.0]])), 2).data.tolist()
    [2.0, 0.0]
    """
    n = len(X)
    values: Floats = np.empty((n, width), np.float32)
    for start in range(0, n, ROWS):
        values[start : start + ROWS] = make(X.rows_slice(start, start + ROWS))
    columns = np.tile(np.arange(width, dtype=np.int32), n)
    return CSR(np.arange(n + 1, dtype=np.int64) * width, columns, values.reshape(-1), width)


def check_around(name: str, block: Block, width: int, seed: int) -> None:
    """Refuse a block that is not an extractor, a width below 1 and a seed below 0."""
    if not isinstance(block, Block):
        raise InputTypeError(f"{name} takes an extractor's features, not {type(block).__name__}.")
    expect(f"{name}(width=...)", width, int, 1)
    expect(f"{name}(seed=...)", seed, int, 0)


def ascending(numbers: Ints | Longs | Words64, below: int | None = None) -> bool:
    """Whether each is larger than the one before; with `below`, whether all are from 0 to below it.

    >>> ascending(np.array([0, 3]), 4), ascending(np.array([3, 3])), ascending(np.array([-1, 3]), 4)
    (True, False, False)
    """
    inside = below is None or not len(numbers) or (numbers[0] >= 0 and numbers[-1] < below)
    return bool(inside and (numbers[1:] > numbers[:-1]).all())


@dataclass(frozen=True, eq=False)
class Narrowed(Fitted):
    """Some columns of a fitted piece: `columns[j]` is what column j was there."""

    features: Fitted
    columns: Ints

    @property
    def width(self) -> int:
        """The columns that are kept."""
        return len(self.columns)

    def extract(self, batch: Batch) -> CSR:
        """The rows of the piece, without the other columns."""
        X = self.features.extract(batch)
        now = self.renumbering()[X.indices[: X.nnz]]
        kept = now >= 0
        return CSR(offsets_of(kept)[X.indptr], now[kept], X.data[: X.nnz][kept], self.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """The places of the columns that are kept."""
        now = dict(zip(self.columns.tolist(), range(self.width), strict=True))
        return [
            [place.at(now[place.column]) for place in row if place.column in now] for row in self.features.locate(batch)
        ]

    def names(self) -> Names:
        """The names of the columns that are kept."""
        return chosen(self.features.names(), self.columns)

    def keep(self, columns: Ints) -> Fitted:
        """Only these columns of the ones that are kept."""
        return Narrowed(self.features, self.columns[columns])

    def state(self) -> State:
        """The state of the piece, and the columns."""
        return nest({"kind": "narrowed"}, (self.features,), {"columns": self.columns})

    @classmethod
    def from_state(cls, state: State, features: Fitted) -> Narrowed:
        """Restore from the stored state and the features it narrows."""
        columns = tensor(state.tensors, "columns", np.int32)
        if not ascending(columns, features.width):
            raise damaged("its selected columns are not columns of its features")
        return cls(features, columns)

    def renumbering(self) -> Ints:
        """The column here of each column of the piece, or -1."""
        now = np.full(self.features.width, -1, np.int32)
        now[self.columns] = np.arange(self.width, dtype=np.int32)
        return now
