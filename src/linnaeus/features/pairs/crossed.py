"""Extractors of text on candidates, and their conjunction with those of the example: joint features of two texts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from linnaeus.arrays.csr import CSR
from linnaeus.data.batch import Batch
from linnaeus.data.groups import Groups
from linnaeus.errors import InputTypeError, UsageError, damaged, expect
from linnaeus.features.base import Block, Fitted
from linnaeus.features.composition import products
from linnaeus.features.names import Names, prefixed
from linnaeus.features.pairs.base import FittedPairs, PairBlock, View, viewed
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, listed, nest
from linnaeus.types import Doubles, Longs, State, offsets_of

LARGEST = 2**31 - 1
AT_ONCE = 4096
"""Examples whose scores of every candidate column are made at a time."""


def titles(view: View) -> Batch:
    """The distinct candidates as rows: their text, and a column `candidate` of the same."""
    values = view.distinct("candidate").values
    return Batch(values, columns={"candidate": values})


def contexts(view: View, columns: tuple[str, ...]) -> Batch:
    """The examples as rows: the text of these columns, joined; the single columns beside it."""
    parts = {name: pc.fill_null(view.groups.column(name).cast(pa.string()), "") for name in columns}
    return Batch(pc.binary_join_element_wise(*parts.values(), " "), columns=parts)


@dataclass(frozen=True)
class Described(PairBlock):
    """The features of the candidates by any extractor, such as the words of their titles.

    `Columns(("candidate",))` has a column for each candidate of the training data.
    """

    block: Block

    def __post_init__(self) -> None:
        if not isinstance(self.block, Block):
            raise InputTypeError(f"Described takes an extractor such as Words(), not {self.block!r}.")

    def fit(self, groups: Groups | View) -> FittedDescribed:
        """Fit the extractor to the distinct candidates."""
        return FittedDescribed(self.block.fit(titles(viewed(groups))))


@dataclass(frozen=True, eq=False)
class FittedDescribed(FittedPairs):
    """A fitted extractor on candidates."""

    features: Fitted

    @property
    def width(self) -> int:
        """The number of columns of the extractor."""
        return self.features.width

    def rows(self, groups: Groups | View) -> CSR:
        """The row of each candidate; nothing for "none of these"."""
        return of_candidates(self.features, viewed(groups))

    def scores(self, groups: Groups | View, w: Doubles) -> Doubles:
        """Score each distinct candidate once, then look the scores up."""
        view = viewed(groups)
        each = self.features.extract(titles(view)).dot(w)[view.distinct("candidate").codes]
        return np.where(view.missing, 0.0, each)

    def names(self) -> Names:
        """The names of the extractor's columns."""
        return prefixed("candidate: ", self.features.names())

    def state(self) -> State:
        """The state of the extractor."""
        return nest({"kind": "described"}, (self.features,))

    @classmethod
    def from_state(cls, state: State, features: Fitted) -> FittedDescribed:
        """Restore from the stored state."""
        del state
        return cls(features)


@dataclass(frozen=True)
class Crossed(PairBlock):
    """Every feature of the example with every feature of the candidate: f(x, y) = phi(x) (x) psi(y).

    With one column for each candidate in psi these are the blocks of multiclass classification, a copy of phi for each
    class; with words of titles, candidates with a common word share weights, so that new candidates are scored too. The
    score is bilinear, phi(x)' M psi(y): it takes one product of phi and M for each example, for any number of
    candidates. `weight` multiplies the values: the penalty on these weights is divided by its square.
    """

    left: Block
    right: Block
    columns: tuple[str, ...] = ("text",)
    weight: float = 1.0

    def __post_init__(self) -> None:
        expect("weight", self.weight, float)
        if not (isinstance(self.left, Block) and isinstance(self.right, Block)):
            raise InputTypeError("Crossed takes two extractors such as Words(), of the example and of the candidate.")
        if isinstance(self.columns, str) or not self.columns:
            raise UsageError(f"Crossed takes a tuple of names of columns, not {self.columns!r}.")

    def fit(self, groups: Groups | View) -> FittedCrossed:
        """Fit both extractors."""
        view = viewed(groups)
        left, right = self.left.fit(contexts(view, self.columns)), self.right.fit(titles(view))
        if left.width * right.width > LARGEST:
            raise UsageError(
                f"Crossed has {left.width:,} x {right.width:,} columns, more than {LARGEST:,}; keep fewer terms."
            )
        return FittedCrossed(left, right, self.columns, float(self.weight))


@dataclass(frozen=True, eq=False)
class FittedCrossed(FittedPairs):
    """Two fitted extractors; column r * d + c is that of column r of the candidate and column c of the example."""

    left: Fitted
    right: Fitted
    columns: tuple[str, ...]
    weight: float

    @property
    def width(self) -> int:
        """The product."""
        return self.left.width * self.right.width

    def rows(self, groups: Groups | View) -> CSR:
        """Every pair of columns of the two rows, with the product of their values."""
        view = viewed(groups)
        A = self.left.extract(contexts(view, self.columns)).take(view.group)
        pairs = products(of_candidates(self.right, view), A)
        values = (pairs.values * self.weight).astype(np.float32)
        return CSR(pairs.indptr, pairs.keys.astype(np.int32), values, self.width)

    def scores(self, groups: Groups | View, w: Doubles) -> Doubles:
        """First phi(x)' M of each example, for all columns of candidates; then each candidate takes its own."""
        view = viewed(groups)
        M = np.ascontiguousarray(np.asarray(w, np.float64).reshape(self.right.width, self.left.width).T) * self.weight
        A = self.left.extract(contexts(view, self.columns))
        B = self.right.extract(titles(view))
        found, offsets, codes = np.zeros(len(view)), view.groups.offsets, view.distinct("candidate").codes
        for start in range(0, len(A), AT_ONCE):
            end = min(start + AT_ONCE, len(A))
            low, high = int(offsets[start]), int(offsets[end])
            U = A.rows_slice(start, end).dot(M)
            found[low:high] = _picked(B.take(codes[low:high]), U, view.group[low:high] - start)
        return np.where(view.missing, 0.0, found)

    def names(self) -> Names:
        """Both names."""
        left, right, d = self.left.names(), self.right.names(), self.left.width

        def some(start: int, end: int) -> list[str]:
            return [f"{right[column // d]} & {left[column % d]}" for column in range(start, end)]

        return Names(self.width, some)

    def state(self) -> State:
        """The states of both extractors."""
        manifest = {"kind": "crossed", "columns": list(self.columns), "weight": self.weight}
        return nest(manifest, (self.left, self.right))

    @classmethod
    def from_state(cls, state: State, left: Fitted, right: Fitted) -> FittedCrossed:
        """Restore from the stored state."""
        weight = float(field(state.manifest, "weight", (int, float)))
        columns = listed(state.manifest, "columns", str)
        if not columns or not np.isfinite(weight) or left.width * right.width > LARGEST:
            raise damaged("its crossed features do not fit")
        return cls(left, right, columns, weight)


def of_candidates(features: Fitted, view: View) -> CSR:
    """The row of each candidate; an empty one for "none of these"."""
    X = features.extract(titles(view)).take(view.distinct("candidate").codes)
    if not view.missing.any():
        return X
    kept = ~np.repeat(view.missing, np.diff(X.indptr))
    return CSR(offsets_of(np.where(view.missing, 0, np.diff(X.indptr))), X.indices[kept], X.data[kept], X.width)


def _picked(B: CSR, U: Doubles, group: Longs) -> Doubles:
    """Sum over a candidate's columns of its value times the example's number for that column."""
    row = np.repeat(np.arange(len(B)), np.diff(B.indptr))
    inside = slice(int(B.indptr[0]), int(B.indptr[-1]))
    parts = B.data[inside] * U[group[row], B.indices[inside]]
    return np.bincount(row, parts, len(B)).astype(np.float64)
