"""Models of counts: what naive Bayes keeps of its training rows, so that models of two parts can be merged into one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import fields, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from linnaeus.arrays.numerics import sigmoid
from linnaeus.errors import DataError, InputTypeError, UsageError, damaged, expect_within
from linnaeus.frozen import dataclass
from linnaeus.learners import LEARNERS
from linnaeus.learners.base import RowLearner, indicators, posterior, values_of
from linnaeus.protocols import CountsOn, ModelChances, Rows, to_manifest
from linnaeus.types import Array, Doubles, LabelSets, Lesson, Longs, Piece, State


def check_priors(priors: tuple[float, ...] | None) -> None:
    """Refuse priors that are not probabilities."""
    if priors is None:
        return
    if not isinstance(priors, tuple) or not all(isinstance(p, int | float) for p in priors):
        raise InputTypeError(f"priors takes a tuple of probabilities, one for each class, not {priors!r}.")
    if any(not 0 < p < 1 for p in priors) or abs(sum(priors) - 1) > 1e-6:
        raise UsageError("priors must be probabilities above zero, one for each class, that add up to 1.")


def check_number(priors: tuple[float, ...] | None, k: int, *, sets: bool = False) -> None:
    """Refuse priors for another number of classes, and priors for label sets."""
    if priors is None:
        return
    if sets:
        raise UsageError("priors cannot be given for label sets: they are learned from the data; leave them out.")
    if len(priors) != k:
        raise UsageError(f"There are {len(priors)} priors for {k} classes; give one prior for each class.")


def log_shares(sizes: Doubles, priors: tuple[float, ...] | None) -> Doubles:
    """Log p(y) (k,): the given priors, or the shares of the classes. A class without rows counts as half a row.

    >>> np.exp(log_shares(np.array([3.0, 1.0]), None)).round(12).tolist()
    [0.75, 0.25]
    """
    if priors is not None:
        check_number(priors, len(sizes))
        return np.log(priors)
    least = 0.5 if not sizes.all() else 0.0
    return np.log(np.maximum(sizes, least)) - np.log(sizes.sum())


def log_priors(counts: Counts, priors: tuple[float, ...] | None) -> Doubles:
    """Log p(y) (k,); for label sets the log-odds of each label."""
    if counts.all is None:
        return log_shares(counts.sizes, priors)
    check_number(priors, len(counts.sizes), sets=True)
    return np.log(np.maximum(counts.sizes, 0.5)) - np.log(np.maximum(counts.others, 0.5))


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

    def widen(self, columns: Longs, k: int) -> Counts:
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
    if values_of(lesson.X).min(initial=0.0) < 0:
        raise DataError("Naive Bayes counts features, but some values are negative; use counts or tf-idf.")
    D = indicators(lesson.y, lesson.k) * lesson.weights[:, None]
    inside = lesson.X.tdot(D)
    if not isinstance(lesson.y, LabelSets):
        return Counts(inside, D.sum(axis=0))
    return Counts(inside, D.sum(axis=0), lesson.X.tdot(lesson.weights), float(lesson.weights.sum()))


def _short(counts: Doubles) -> Array:
    """As float32, if that is exact."""
    short = counts.astype(np.float32)
    return short if np.array_equal(short, counts) else counts


class Counting(RowLearner):
    """A learner that counts: it defines what is counted, and how counts become weights; `priors` may be given."""

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets")
    tuned: ClassVar[str | None] = "smoothing"

    smoothing: float
    priors: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        expect_within("smoothing", self.smoothing, float, "(0, inf)")
        check_priors(self.priors)

    @property
    def as_is(self) -> bool:
        """Whether the values of rows are used unchanged, so that scores are linear in them."""
        return True

    def learn(self, lesson: Lesson) -> CountModel:
        """Count."""
        check_number(self.priors, lesson.k, sets=isinstance(lesson.y, LabelSets))
        return CountModel(self, self.count(lesson))

    def read(self, X: Rows) -> Rows:
        """The rows as they are counted and scored: unchanged."""
        return X

    def count(self, lesson: Lesson) -> Counts:
        """Sum the feature values over the rows of each class."""
        return count(lesson)

    @abstractmethod
    def weigh(self, counts: Counts) -> tuple[Doubles, Doubles]:
        """W (d, k) and b (k,): scores are rows W + b."""


@dataclass(frozen=True, eq=False)
class CountModel:
    """The counts of a learner. The sum of the models of two data sets is exactly the model of both together.

    >>> import numpy as np
    >>> from linnaeus.arrays import Dense
    >>> from linnaeus.learners.bayes import Multinomial
    >>> from linnaeus.types import Lesson
    >>> X, y = Dense(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])), np.array([0, 1, 0])
    >>> whole = Lesson(X, y, np.ones(3), 2)
    >>> parts = [Multinomial().learn(whole.take(np.array(rows))) for rows in ([0, 1], [2])]
    >>> (parts[0] + parts[1]).counts.inside.tolist() == Multinomial().learn(whole).counts.inside.tolist()
    True
    """

    provides: ClassVar[tuple[type, ...]] = (ModelChances, CountsOn)

    learner: Counting
    counts: Counts

    def __add__(self, other: CountsOn) -> CountModel:
        """The model of both data sets together."""
        if not isinstance(other, CountModel) or self.learner != other.learner:
            raise UsageError("Only models of the same learner can be added; train both with the same settings.")
        return replace(self, counts=self.counts + other.counts)

    def update(self, lesson: Lesson) -> CountModel:
        """The model after these further rows."""
        return replace(self, counts=self.counts + self.learner.count(lesson))

    def widen(self, columns: Longs, k: int) -> CountModel:
        """A copy for k classes: class i here becomes class `columns[i]`; the other classes have no rows."""
        return replace(self, counts=self.counts.widen(columns, k))

    @cached_property
    def _weights(self) -> tuple[Doubles, Doubles]:
        return self.learner.weigh(self.counts)

    def linear(self) -> tuple[Doubles, Doubles] | None:
        """W and b, if the values of rows are used unchanged; else None."""
        return self._weights if self.learner.as_is else None

    def scores(self, X: Rows) -> Doubles:
        """Logarithms of joint probabilities (n, k); for label sets, log-odds."""
        W, b = self._weights
        return self.learner.read(X).dot(W) + b

    def chances(self, S: Doubles) -> Doubles:
        """Class probabilities (n, k) for these scores."""
        return posterior(S) if self.counts.all is None else sigmoid(S)

    def state(self) -> State:
        """The counts, and the settings of the learner."""
        inside = self.counts.state()
        return State({**to_manifest(self.learner, LEARNERS), **inside.manifest}, inside.tensors)

    @classmethod
    def from_state(cls, state: State) -> CountModel:
        """Restore the model from its stored state."""
        counts = Counts.from_state(state)
        return cls(restored(state, len(counts.sizes), sets=counts.all is not None), counts)


def restored(state: State, k: int, *, sets: bool = False) -> Piece:
    """The learner with the settings of a state; priors that do not match its classes are refused."""
    kind = LEARNERS[str(state.manifest["kind"])]
    told = {part.name: state.manifest[part.name] for part in fields(kind)}
    learner = kind(**{name: tuple(item) if isinstance(item, list) else item for name, item in told.items()})
    if learner.priors is not None and (len(learner.priors) != k or sets):
        raise damaged("the priors do not match the classes")
    return learner
