"""Restriction of fitted features to some columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.errors import damaged
from linnaeus.features.base import Fitted
from linnaeus.features.common.names import Names, chosen
from linnaeus.frozen import dataclass
from linnaeus.store.states import nest, tensor
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.types import Ints, Place


def narrow(features: Fitted, columns: Ints) -> Fitted:
    """The features restricted to these columns (sorted), by their own `keep` if they have one.

    Features have `keep(columns)` if they can drop the other columns without changing the values of these; a saved model
    then does not contain the dropped columns. Other features are wrapped.

    >>> import numpy as np
    >>> from linnaeus.features import Words
    >>> narrow(Words().fit(["a good film"]), np.array([1], np.int32)).names()
    ['film']
    """
    keep = getattr(features, "keep", None)
    if keep is None:
        return Narrowed(features, columns)
    kept: Fitted = keep(columns)
    return kept


def shrink(features: Fitted, columns: Ints) -> Fitted:
    """The features restricted to these columns (sorted), without any data of the others, for a small model.

    Unlike `narrow` it may change values: rows are normalized by the remaining columns only.

    >>> from linnaeus.features import Words
    >>> fitted = Words(values="tfidf", length="l2").fit(["good film", "bad film"])
    >>> shrink(fitted, np.array([0], np.int32)).rows(["bad film"]).data.tolist()
    [1.0]
    """
    own = getattr(features, "shrink", None)
    if own is None:
        return narrow(features, columns)
    less: Fitted = own(columns)
    return less


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
        now = self._renumbering()[X.indices[: X.nnz]]
        kept = now >= 0
        counts = np.zeros(len(kept) + 1, np.int64)
        np.cumsum(kept, out=counts[1:])
        return CSR(counts[X.indptr], now[kept], X.data[: X.nnz][kept], self.width)

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
        """Fewer still."""
        return Narrowed(self.features, self.columns[columns])

    def state(self) -> State:
        """The state of the piece, and the columns."""
        return nest({"kind": "narrowed"}, (self.features,), {"columns": self.columns})

    @classmethod
    def from_state(cls, state: State, features: Fitted) -> Narrowed:
        """Built again from the piece it narrows."""
        columns = tensor(state.tensors, "columns", np.int32)
        if len(columns) and (columns[0] < 0 or columns[-1] >= features.width or (np.diff(columns) <= 0).any()):
            raise damaged("its selected columns are not columns of its features")
        return cls(features, columns)

    def _renumbering(self) -> Ints:
        now = np.full(self.features.width, -1, np.int32)
        now[self.columns] = np.arange(self.width, dtype=np.int32)
        return now
