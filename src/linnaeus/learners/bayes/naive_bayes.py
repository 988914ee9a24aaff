"""Naive Bayes by counting: class frequencies, multinomial, Bernoulli and complement."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.errors import DataError, UsageError, expect_within
from linnaeus.frozen import dataclass
from linnaeus.learners.base import values_of
from linnaeus.learners.bayes.counts import Counting, Counts, log_priors
from linnaeus.protocols import Rows
from linnaeus.types import Doubles, Lesson

NEVER = -64.0
"""Stands for the logarithm of a frequency of zero, so that scores stay finite; e^-64 is negligible."""
GRID = 2.0**32
"""Logarithms are rounded to multiples of 1 / GRID: their sums are exact in any order, so ties are exact too."""


@dataclass(frozen=True, kw_only=True)
class Frequencies(Counting):
    """The frequency classifier: scores sum_j x_j log p(y | j).

        p(y | j) = (count of j in the rows of y + a) / (count of j in all rows + a k)

    p(y | j) is the share of class y among the occurrences of symbol j. `smoothing` is a, added to every count; the
    default is zero. A symbol that is not in the training rows gives all classes the same share. A frequency of zero
    counts as e^-64. For label sets, each label is compared with the rows without it.

    >>> from linnaeus import Recipe
    >>> from linnaeus.features import Words
    >>> model = Recipe(features=Words(), learner=Frequencies()).fit([("a b", "no"), ("a c", "no"), ("a d", "yes")])
    >>> model.body.learner.shares(model.body.counts)[0].round(3).tolist()
    [0.667, 0.333]
    """

    smoothing: float = 0.0

    def __post_init__(self) -> None:
        expect_within("smoothing", self.smoothing, float, "[0, inf)")

    def shares(self, counts: Counts) -> Doubles:
        """p(y | j) of each feature and class (d, k); for label sets p(label | j), independently."""
        inside = counts.inside + self.smoothing
        k = inside.shape[1]
        whole = inside.sum(axis=1, keepdims=True) if counts.all is None else inside + counts.outside + self.smoothing
        even = np.full(inside.shape, 1 / k if counts.all is None else 0.5)
        return np.divide(inside, whole, out=even, where=whole > 0)

    def weigh(self, counts: Counts) -> tuple[Doubles, Doubles]:
        """W = log p(y | j), b = 0; for label sets the log-odds."""
        P = self.shares(counts)
        W = _logs(P) if counts.all is None else _logs(P) - _logs(1 - P)
        return W, np.zeros(W.shape[1])


def _logs(P: Doubles) -> Doubles:
    logs = np.maximum(np.log(P, out=np.full(P.shape, NEVER), where=P > 0), NEVER)
    return np.round(logs * GRID) / GRID


@dataclass(frozen=True, kw_only=True)
class Multinomial(Counting):
    """Multinomial naive Bayes: scores log p(y) + sum_j x_j log p(j | y).

        p(j | y) = (count of j in the rows of y + a) / (count of all features in these rows + a d)

    `smoothing` is a, added to every count (Laplace: 1; Lidstone: less). `priors` gives p(y) in the order of the
    classes; by default it is the share of each class in the training rows. For label sets, each label is compared with
    the rows without it, independently of the other labels.

    McCallum and Nigam, "A comparison of event models for naive Bayes text classification", 1998.

    >>> from linnaeus import Recipe
    >>> from linnaeus.features import Words
    >>> recipe = Recipe(features=Words(), learner=Multinomial())
    >>> recipe.fit([("good film", "pos"), ("bad film", "neg")]).predict(["a good one"]).tolist()
    ['pos']
    """

    smoothing: float = 1.0
    priors: tuple[float, ...] | None = None

    def weigh(self, counts: Counts) -> tuple[Doubles, Doubles]:
        """W = log p(j | y) and b = log p(y); for label sets, each minus that of the rows without the label."""
        W, b = self._logs(counts.inside), log_priors(counts, self.priors)
        return (W, b) if counts.all is None else (W - self._logs(counts.outside), b)

    def _logs(self, counts: Doubles) -> Doubles:
        smooth = counts + self.smoothing
        return np.log(smooth) - np.log(smooth.sum(axis=0))


@dataclass(frozen=True, kw_only=True)
class Bernoulli(Counting):
    """Bernoulli naive Bayes: scores log p(y) + sum_j [x_j log p(j | y) + (1 - x_j) log(1 - p(j | y))].

        p(j | y) = (rows of y that have j + a) / (rows of y + 2 a)

    `smoothing` is a, added to every count. A feature is present if its value is above `threshold` (scikit-learn's
    `binarize`). With `threshold=None` the values must already be 0 and 1 (`Words(values="binary")`), and the model is
    linear in them.

    McCallum and Nigam, "A comparison of event models for naive Bayes text classification", 1998.

    >>> from linnaeus import Recipe
    >>> from linnaeus.features import Words
    >>> recipe = Recipe(features=Words(values="binary"), learner=Bernoulli(threshold=None))
    >>> recipe.fit([("good film", "pos"), ("bad film", "neg")]).predict(["a good one"]).tolist()
    ['pos']
    """

    smoothing: float = 1.0
    threshold: float | None = 0.0
    priors: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.threshold is not None:
            expect_within("threshold", self.threshold, float, "[0, inf)")

    @property
    def as_is(self) -> bool:
        """Whether the rows already hold only 0 and 1."""
        return self.threshold is None

    def read(self, X: Rows) -> Rows:
        """Ones where a value is above the threshold."""
        if self.threshold is None:
            return X
        if isinstance(X, CSR):
            return CSR(X.indptr, X.indices, (X.data > self.threshold).astype(np.float32), X.width)
        return Dense((values_of(X) > self.threshold).astype(np.float32))

    def count(self, lesson: Lesson) -> Counts:
        """How many rows of each class have each feature."""
        X = self.read(lesson.X)
        values = values_of(X)
        if self.threshold is None and not ((values == 0) | (values == 1)).all():
            raise DataError(
                "Bernoulli(threshold=None) takes only the values 0 and 1, but there are others; set a threshold, "
                "or use features with values='binary'."
            )
        return super().count(replace(lesson, X=X))

    def weigh(self, counts: Counts) -> tuple[Doubles, Doubles]:
        """W = log p - log(1 - p), and b = log p(y) + sum_j log(1 - p); for label sets, log ratios."""
        W, b = self._odds(counts.inside, counts.sizes)
        prior = log_priors(counts, self.priors)
        if counts.all is None:
            return W, prior + b
        W0, b0 = self._odds(counts.outside, counts.others)
        return W - W0, prior + b - b0

    def _odds(self, have: Doubles, rows: Doubles) -> tuple[Doubles, Doubles]:
        whole = np.log(rows + 2 * self.smoothing)
        yes = np.log(have + self.smoothing) - whole
        no = np.log(np.maximum(rows - have, 0.0) + self.smoothing) - whole
        return yes - no, no.sum(axis=0)


@dataclass(frozen=True, kw_only=True)
class Complement(Counting):
    """Complement naive Bayes, which suits unequal class sizes: scores -sum_j x_j log q(j | y).

        q(j | y) = (count of j outside y + a) / (count of all features outside y + a d)

    q(j | y) is estimated on the rows of all other classes, which are more than those of y. `smoothing` is a, added to
    every count. With `length="l1"` the weights of each class are divided by the sum of their absolute values
    (scikit-learn's `norm=True`), so that classes with long texts get no advantage. There are no priors.

    Rennie, Shih, Teevan and Karger, "Tackling the poor assumptions of naive Bayes text classifiers", 2003.

    >>> from linnaeus import Recipe
    >>> from linnaeus.features import Words
    >>> recipe = Recipe(features=Words(), learner=Complement())
    >>> recipe.fit([("good film", "pos"), ("bad film", "neg")]).predict(["a good one"]).tolist()
    ['pos']
    """

    answers: ClassVar[tuple[str, ...]] = ("classes",)

    smoothing: float = 1.0
    length: Literal["l1"] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length not in ("l1", None):
            raise UsageError(f"length must be 'l1' or None for complement naive Bayes, not {self.length!r}.")

    def weigh(self, counts: Counts) -> tuple[Doubles, Doubles]:
        """W = -log q(j | y), normalized if `length` is set; b = 0."""
        smooth = counts.outside + self.smoothing
        W = np.log(smooth.sum(axis=0)) - np.log(smooth)
        return (W if self.length is None else W / W.sum(axis=0)), np.zeros(W.shape[1])
