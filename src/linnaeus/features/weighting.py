"""Weighting and normalization of the counts of any extractor."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from linnaeus import kernels
from linnaeus.arrays.csr import CSR
from linnaeus.errors import InputTypeError, UsageError, damaged, damaged_or_newer
from linnaeus.features.base import Block, Fitted, Narrowed
from linnaeus.features.statistics import Seen
from linnaeus.features.values import VALUES, Count, Values, resolve
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, nest, tensor
from linnaeus.types import Json, Place, State

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream
    from linnaeus.types import Floats, Ints

Length: TypeAlias = Literal["l1", "l2"] | None
LENGTHS: dict[Length, int] = {None: 0, "l1": 1, "l2": 2}
"""What `length=...` may be, and the kernel's number for it."""


@dataclass(frozen=True)
class Weighted(Block):
    """The features of a block, weighted by `values` (a name in VALUES or an object) and normalized by `length`.

    >>> from linnaeus.features import Affixes
    >>> Weighted(Affixes((), (1,)), "binary", length="l1").fit_rows(["is as it was"])[1].data.tolist()
    [0.5, 0.5]
    """

    block: Block
    values: str | Values = "tfidf"
    length: Length = "l2"

    def __post_init__(self) -> None:
        if not isinstance(self.block, Block):
            raise InputTypeError(f"Weighted takes an extractor, not {type(self.block).__name__}.")
        resolve(self.values)
        check_length(self.length)

    def learn(self, stream: Stream) -> Fitted:
        """Fit the block, then learn the weights of its columns."""
        return learn_weights(Seen(self.block.learn(stream), stream), self.values, self.length)

    def learn_rows(self, stream: Stream) -> tuple[Fitted, CSR]:
        """The weights are learned from the block's rows, which are then valued."""
        counts, X = self.block.learn_rows(stream)
        features = learn_weights(Seen(counts, stream, rows=X), self.values, self.length)
        return features, weigh_rows(features, X)


def check_length(length: Length) -> None:
    """Refuse a length that is not in the table."""
    if length not in LENGTHS:
        raise UsageError(f"length={length!r} is not known; choose 'l1', 'l2' or None.")


def learn_weights(seen: Seen, values: str | Values, length: Length) -> Fitted:
    """Valued features from the statistics of what they count; counts without a length stay as they are."""
    piece = resolve(values)
    check_length(length)
    if piece == Count() and length is None:
        return seen.features
    weights = piece.weights(seen)
    return FittedWeighted(seen.features, piece, weights, length, seen.mean_length if piece.by_row else 1.0)


def weigh_rows(features: Fitted, X: CSR) -> CSR:
    """The rows of `features` from the counts it would have extracted; their values are overwritten."""
    return features.apply(X) if isinstance(features, FittedWeighted) else X


@dataclass(frozen=True, eq=False)
class FittedWeighted(Fitted):
    """Features that count, a way to value them, a weight for each column (or none), and the length of rows."""

    counts: Fitted
    values: Values
    weights: Floats
    length: Length = None
    mean_length: float = 1.0

    @property
    def inside(self) -> tuple[Fitted, ...]:
        """The features it is made of."""
        return (self.counts,)

    @property
    def width(self) -> int:
        """The columns of what counts."""
        return self.counts.width

    def extract(self, batch: Batch) -> CSR:
        """Counts, then values."""
        return self.apply(self.counts.extract(batch))

    def apply(self, X: CSR) -> CSR:
        """The values of counts, written over them."""
        values, table = self.values.value(X, self.mean_length)
        data = np.require(values, np.float32, ["C", "W"])
        indices = np.ascontiguousarray(X.indices[: X.nnz])
        rows = X.indptr, indices, data
        kernels.weigh(rows, table, self.weights, LENGTHS[self.length], kernels.thread_count())
        return CSR(X.indptr, indices, data, X.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """Where the counted features stand."""
        return self.counts.locate(batch)

    def names(self) -> Sequence[str]:
        """The names of the counted features."""
        return self.counts.names()

    def keep(self, columns: Ints) -> Fitted:
        """Only these columns; where values depend on the whole row, the others must still be counted."""
        if self.length is not None or self.values.by_row:
            return Narrowed(self, columns)
        return self._with(self.counts.keep(columns), columns)

    def shrink(self, columns: Ints) -> Fitted:
        """Only these columns, also where the length of a row is that of all; but not where values need all counts."""
        return Narrowed(self, columns) if self.values.by_row else self._with(self.counts.shrink(columns), columns)

    def _with(self, counts: Fitted, columns: Ints) -> Fitted:
        weights = self.weights[columns] if len(self.weights) else self.weights
        return dataclasses.replace(self, counts=counts, weights=weights)

    def state(self) -> State:
        """The counted features, the way to value them, and the weights."""
        manifest = {
            "kind": "weighted",
            "values": describe(self.values),
            "length": self.length,
            "mean_length": self.mean_length,
        }
        return nest(manifest, (self.counts,), {"weights": self.weights})

    @classmethod
    def from_state(cls, state: State, counts: Fitted) -> FittedWeighted:
        """Restore from the stored state and the counting features."""
        weights = tensor(state.tensors, "weights", np.float32)
        length = field(state.manifest, "length", (str, type(None)))
        mean_length = field(state.manifest, "mean_length", (int, float))
        if len(weights) not in (0, counts.width) or length not in LENGTHS or not mean_length > 0:
            raise damaged("the weights do not match the features")
        return cls(counts, _described(field(state.manifest, "values", dict)), weights, length, float(mean_length))


def describe(values: Values) -> dict[str, Json]:
    """A way to value counts as JSON: its name in the table, and its hyper-parameters."""
    name = next((name for name, kind in VALUES.items() if kind is type(values)), None)
    if name is None:
        raise UsageError(f"{type(values).__name__} is not in the table VALUES, so it cannot be saved.")
    return {"kind": name, **dataclasses.asdict(values)}  # type: ignore[call-overload]


def _described(manifest: dict[str, Json]) -> Values:
    fields = {name: value for name, value in manifest.items() if name != "kind"}
    try:
        return VALUES[manifest["kind"]](**fields)
    except (KeyError, TypeError, UsageError) as error:
        raise damaged_or_newer(f"its weighting {manifest!r} is unknown") from error
