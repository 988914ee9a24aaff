"""Features of another text column, such as a title, or the output of an earlier stage of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from linnaeus.errors import DataError, InputTypeError, UsageError, damaged
from linnaeus.features.base import Block, Fitted, narrow, shrink
from linnaeus.features.batches import column
from linnaeus.features.names import Names, prefixed
from linnaeus.frozen import dataclass
from linnaeus.store.states import nest
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.arrays.csr import CSR
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream
    from linnaeus.types import Ints, Place


@dataclass(frozen=True)
class Field(Block):
    """The features of an extractor on another text column of the rows.

    A missing value is an empty text. The features have no position in the text, so explanations list them by name.

    >>> from linnaeus.data.batch import Batch; from linnaeus.features import Words
    >>> rows = Batch(pa.array(["long body", "another"]), columns={"title": pa.array(["Good news", None])})
    >>> fitted, X = (Words() | Field("title", Words())).fit_rows(rows)
    >>> fitted.names()
    ['another', 'body', 'long', 'title: good', 'title: news']
    """

    column: str
    block: Block

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise UsageError(f"Field takes the name of a column, not {self.column!r}.")
        if not isinstance(self.block, Block):
            raise InputTypeError(f"Field takes an extractor such as Words(), not {self.block!r}.")

    def learn(self, stream: Stream) -> FittedField:
        """What the extractor learns from the column."""
        return FittedField(self.column, self.block.learn(_Column(stream, self.column)))

    def learn_rows(self, stream: Stream) -> tuple[Fitted, CSR]:
        """Fit, and return the rows too."""
        features, X = self.block.learn_rows(_Column(stream, self.column))
        return FittedField(self.column, features), X


@dataclass(frozen=True)
class FittedField(Fitted):
    """A fitted extractor of a further column."""

    column: str
    features: Fitted

    @property
    def width(self) -> int:
        """That of the extractor."""
        return self.features.width

    def extract(self, batch: Batch) -> CSR:
        """The features of the column."""
        return self.features.extract(_read(batch, self.column))

    def locate(self, batch: Batch) -> list[list[Place]]:
        """No positions: the values do not come from the text."""
        return [[] for _ in range(len(batch))]

    def names(self) -> Names:
        """The column, and the name of the feature."""
        return prefixed(f"{self.column}: ", self.features.names())

    def keep(self, columns: Ints) -> Fitted:
        """Only these columns."""
        return FittedField(self.column, narrow(self.features, columns))

    def shrink(self, columns: Ints) -> Fitted:
        """Only these columns, without any data of the others."""
        return FittedField(self.column, shrink(self.features, columns))

    def state(self) -> State:
        """The name of the column, and the state of the extractor."""
        return nest({"kind": "field", "column": self.column}, (self.features,))

    @classmethod
    def from_state(cls, state: State, features: Fitted) -> FittedField:
        """Restore from the stored state."""
        name = state.manifest.get("column")
        if not isinstance(name, str) or not name:
            raise damaged("a column of its features has no name")
        return cls(name, features)


@dataclass(frozen=True)
class _Column:
    """The same rows, with the column in the place of the text."""

    stream: Stream
    column: str

    def batches(self) -> Iterator[Batch]:
        """The batches in order."""
        for batch in self.stream.batches():
            yield _read(batch, self.column)


def _read(batch: Batch, name: str) -> Batch:
    values = column(batch, name, "Field")
    try:
        texts = values if pa.types.is_string(values.type) else values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"The column {name!r} holds {values.type}, not texts; turn its cells into text.") from error
    return replace(batch, text=pc.fill_null(texts, ""))
