"""Precomputed features of the rows, such as those of a libsvm file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from linnaeus.arrays.csr import CSR
from linnaeus.errors import DataError, InputTypeError, UsageError, damaged
from linnaeus.features.base import Block, Fitted
from linnaeus.features.names import Names, numbered
from linnaeus.frozen import dataclass
from linnaeus.store.states import field
from linnaeus.types import Place, State

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream
    from linnaeus.types import Doubles, Longs


WIDEST = 2**31


@dataclass(frozen=True)
class Ready(Block):
    """Precomputed features: column i is index i of the libsvm file, which may count from 0 or 1.

    The width is the largest index of the training rows plus one, or `width` if it is given. Larger indices in later
    rows are ignored, as they have no weights. The values of an index that occurs twice in a row are added.

    >>> import pyarrow as pa; from linnaeus.data.batch import Batch
    >>> entries = pa.list_(pa.struct([("index", pa.int32()), ("value", pa.float32())]))
    >>> rows = Batch(features=pa.array([[{"index": 3, "value": 0.5}], [{"index": 1, "value": 2.0}]], entries))
    >>> Ready().fit_rows(rows)[1].to_scipy().toarray().tolist()
    [[0.0, 0.0, 0.0, 0.5], [0.0, 2.0, 0.0, 0.0]]
    """

    width: int | None = None

    def __post_init__(self) -> None:
        if self.width is None:
            return
        if isinstance(self.width, bool) or not isinstance(self.width, int):
            raise InputTypeError(f"Ready(width=...) must be a number of columns, not {self.width!r}.")
        if not 1 <= self.width <= WIDEST:
            raise UsageError(f"Ready(width=...) must be between 1 and {WIDEST:,}, not {self.width}.")

    def learn(self, stream: Stream) -> FittedReady:
        """One walk that looks for the largest index; none where the width is known."""
        if self.width is not None:
            return FittedReady(self.width)
        return FittedReady(max((_entries(batch).width for batch in stream.batches()), default=0))


@dataclass(frozen=True)
class FittedReady(Fitted):
    """The first columns of what the rows bring along."""

    size: int

    @property
    def width(self) -> int:
        """As many columns as the training rows had, or as were asked for."""
        return self.size

    def extract(self, batch: Batch) -> CSR:
        """The entries of each row, sorted by index; zeros are left out."""
        return _entries(batch).rows(self.width, batch.start)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """No positions: the features do not come from a text."""
        return [[] for _ in range(len(batch))]

    def names(self) -> Names:
        """`#7` for index 7."""
        return numbered(self.width)

    def state(self) -> State:
        """Only the width."""
        return State({"kind": "ready", "width": self.width}, {})

    @classmethod
    def from_state(cls, state: State) -> FittedReady:
        """Restore from the stored state."""
        width = field(state.manifest, "width", int)
        if not 0 <= width <= WIDEST:
            raise damaged(f"it claims {width} columns")
        return cls(width)


@dataclass(frozen=True, eq=False)
class _Entries:
    """Row, index and value of every entry of a batch of n rows."""

    n: int
    row: Longs
    index: Longs
    value: Doubles

    @property
    def width(self) -> int:
        return int(self.index.max(initial=-1)) + 1

    def rows(self, width: int, start: int) -> CSR:
        inside = self.index < width
        keys, place = np.unique(self.row[inside] * width + self.index[inside], return_inverse=True)
        sums = np.bincount(place, self.value[inside], len(keys)).astype(np.float32)
        finite = np.isfinite(sums)
        if not finite.all():
            row, column = divmod(int(keys[~finite][0]), width)
            raise DataError(f"Row {start + row + 1} has no finite value at index {column}; correct it or leave it out.")
        keys, sums = keys[sums != 0], sums[sums != 0]
        indptr = np.zeros(self.n + 1, np.int64)
        np.cumsum(np.bincount(keys // width, minlength=self.n), out=indptr[1:])
        return CSR(indptr, (keys % width).astype(np.int32), sums, width)


def _entries(batch: Batch) -> _Entries:
    if batch.features is None:
        raise DataError("Ready needs the features of a libsvm file, but the rows have none; use Words(...) for texts.")
    lists = batch.features
    row = np.repeat(np.arange(len(lists)), pc.fill_null(lists.value_lengths(), 0).to_numpy(zero_copy_only=False))
    index, value = lists.flatten().flatten()
    if (index.null_count or value.null_count) or (len(index) and index.to_numpy().min() < 0):
        raise DataError("Some row has a feature without an index or a value, or an index below 0; read the file again.")
    return _Entries(len(lists), row, index.to_numpy().astype(np.int64), value.to_numpy().astype(np.float64))
