"""Base classes of extractors: `Block`, which can be fitted and combined, and `Fitted`, the result.

An extractor is a frozen dataclass of hyper-parameters that inherits `Block` and has `learn(stream)`. The result is a
frozen dataclass that inherits `Fitted` and has `extract`, `locate`, `names`, `width` and `state`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linnaeus.arrays.csr import CSR, vstack
from linnaeus.data.batch import Batch
from linnaeus.features.common.sources import text_batches
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.features.conjunction import Conjunction
    from linnaeus.features.union import Union
    from linnaeus.protocols import Stream
    from linnaeus.types import Place, State

Source: TypeAlias = Any
"""A `Corpus` or another stream, a `Batch`, or texts: a list, a NumPy, Arrow, pandas or polars column."""

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
    if hasattr(source, "batches"):
        stream: Stream = source
        return stream
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
        from linnaeus.features.union import Union

        return Union((self, other)) if isinstance(other, Block) else NotImplemented

    def __mul__(self, other: Block) -> Conjunction:
        from linnaeus.features.conjunction import Conjunction

        return Conjunction(self, other) if isinstance(other, Block) else NotImplemented


class Fitted(ABC):
    """Base class of fitted extractors, frozen: the row of a text does not depend on the other texts.

    >>> from linnaeus.features import Words
    >>> fitted = Words().fit(["a good film", "a bad film"])
    >>> isinstance(fitted, Fitted), fitted.names()
    (True, ['a', 'bad', 'film', 'good'])
    """

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of columns."""

    @abstractmethod
    def extract(self, batch: Batch) -> CSR:
        """The features of one batch, in new arrays."""

    @abstractmethod
    def locate(self, batch: Batch) -> list[list[Place]]:
        """For each row of one batch, the positions of its features; features without a position are left out."""

    @abstractmethod
    def names(self) -> Sequence[str]:
        """A readable name for each column."""

    @abstractmethod
    def state(self) -> State:
        """Manifest and tensors from which `restore` restores this object."""

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
    indptr = np.zeros(len(pairs) + 1, np.int64)
    np.cumsum([len(row) for row in pairs], out=indptr[1:])
    indices = np.fromiter((column for row in pairs for column, _ in row), np.int32, int(indptr[-1]))
    data = np.fromiter((value for row in pairs for _, value in row), np.float32, int(indptr[-1]))
    return CSR(indptr, indices, data, width)
