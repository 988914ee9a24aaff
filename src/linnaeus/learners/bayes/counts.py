"""Counts of features in classes: the data of counting models, which can be merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.errors import DataError, damaged
from linnaeus.frozen import dataclass
from linnaeus.types import LabelSets, State

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Lesson


@dataclass(frozen=True, eq=False)
class Counts:
    """Sums of the feature values of each class (d, k), and the number of rows of each class (k,).

    For label sets, `all` has the sum over all rows (d,), and `rows` the number of rows: a row may have several labels.

    >>> one = Counts(np.array([[1.0, 0.0]]), np.array([1.0, 0.0]))
    >>> (one + one).inside.tolist()
    [[2.0, 0.0]]
    """

    inside: Doubles
    sizes: Doubles
    all: Doubles | None = None
    rows: float = 0.0

    @property
    def outside(self) -> Doubles:
        """The sums of the feature values over the rows outside each class (d, k)."""
        whole = self.inside.sum(axis=1) if self.all is None else self.all
        return np.maximum(whole[:, None] - self.inside, 0.0)

    @property
    def others(self) -> Doubles:
        """The number of rows outside each class (k,)."""
        return (self.sizes.sum() if self.all is None else self.rows) - self.sizes

    def __add__(self, other: Counts) -> Counts:
        """The counts of both data sets together."""
        if self.inside.shape != other.inside.shape or (self.all is None) != (other.all is None):
            raise DataError("Counts of different features or classes cannot be merged; count both with one vocabulary.")
        whole = None if self.all is None or other.all is None else self.all + other.all
        return Counts(self.inside + other.inside, self.sizes + other.sizes, whole, self.rows + other.rows)

    def widen(self, columns: Any, k: int) -> Counts:
        """A copy for k classes: class i here becomes class `columns[i]`; the other classes have no rows."""
        inside, sizes = np.zeros((len(self.inside), k)), np.zeros(k)
        inside[:, columns], sizes[columns] = self.inside, self.sizes
        return Counts(inside, sizes, self.all, self.rows)

    def state(self) -> State:
        """The arrays; small whole numbers, such as word counts, take half the memory."""
        tensors = {"inside": _short(self.inside), "sizes": self.sizes}
        tensors |= {} if self.all is None else {"all": _short(self.all)}
        return State({"rows": self.rows}, tensors)

    @classmethod
    def from_state(cls, state: State) -> Counts:
        """Restore the counts; arrays whose shapes do not match are refused."""
        inside, sizes, whole = (state.tensors.get(name) for name in ("inside", "sizes", "all"))
        if inside is None or sizes is None or inside.ndim != 2 or sizes.shape != inside.shape[1:]:
            raise damaged("the shapes of its counts do not match")
        if whole is not None and whole.shape != inside.shape[:1]:
            raise damaged("the shapes of its counts do not match")
        kept = [None if part is None else part.astype(np.float64) for part in (inside, sizes, whole)]
        rows = float(state.manifest["rows"])
        if any(part is not None and not (np.isfinite(part) & (part >= 0)).all() for part in (*kept, np.array(rows))):
            raise damaged("a count is negative or not finite")
        return cls(kept[0], kept[1], kept[2], rows)  # type: ignore[arg-type]


def count(lesson: Lesson) -> Counts:
    """The counts of a lesson: sum_i weight_i x_ij over the rows of each class; negative values are refused.

    >>> from linnaeus import TextClassifier
    >>> model = TextClassifier("naive-bayes").fit(["good", "good film", "bad"], ["pos", "pos", "neg"])
    >>> model.predict(["film"]).tolist()
    ['pos']
    """
    if smallest(lesson.X) < 0:
        raise DataError("Naive Bayes counts features, but some values are negative; use counts or tf-idf.")
    D = indicators(lesson.y, lesson.k) * lesson.weights[:, None]
    inside = lesson.X.tdot(D)
    if not isinstance(lesson.y, LabelSets):
        return Counts(inside, D.sum(axis=0))
    return Counts(inside, D.sum(axis=0), lesson.X.tdot(lesson.weights), float(lesson.weights.sum()))


def smallest(X: Rows) -> float:
    """The smallest value of the rows, or zero if none is negative."""
    if isinstance(X, CSR):
        return float(X.data[: X.nnz].min(initial=0.0))
    values = X.values if isinstance(X, Dense) else X.dot(np.eye(X.shape[1]))
    return float(values.min(initial=0.0))


def indicators(y: Any, k: int) -> Doubles:
    """Indicators of the classes or labels of each row: 0 and 1 (n, k)."""
    found = np.zeros((len(y), k))
    if isinstance(y, LabelSets):
        found[np.repeat(np.arange(len(y)), np.diff(y.offsets)), y.labels] = 1.0
    else:
        found[np.arange(len(y)), y] = 1.0
    return found


def _short(counts: Doubles) -> Any:
    """As float32, if that is exact."""
    short = counts.astype(np.float32)
    return short if np.array_equal(short, counts) else counts
