"""Bernoulli naive Bayes: the presence and the absence of each vocabulary word are evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.errors import DataError, UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.bayes.countmodel import CountModel, check_smoothing, counted
from linnaeus.learners.bayes.counts import Counts, count
from linnaeus.learners.bayes.priors import check_priors, log_priors
from linnaeus.types import Lesson

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles


@dataclass(frozen=True, kw_only=True)
class Bernoulli:
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

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets")

    smoothing: float = 1.0
    threshold: float | None = 0.0
    priors: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_smoothing(self.smoothing)
        check_priors(self.priors)
        if self.threshold is None:
            return
        expect("threshold", self.threshold, float)
        if not 0 <= self.threshold < np.inf:
            raise UsageError(f"threshold must be a number of at least zero, or None, not {self.threshold!r}.")

    @property
    def as_is(self) -> bool:
        """Whether the rows already hold only 0 and 1."""
        return self.threshold is None

    @property
    def strength(self) -> float:
        """The hyper-parameter that cross-validation tunes: the smoothing."""
        return self.smoothing

    def with_strength(self, strength: float) -> Bernoulli:
        """A copy with another smoothing."""
        return replace(self, smoothing=strength)

    def learn(self, lesson: Lesson) -> CountModel:
        """Count."""
        return counted(self, lesson)

    def read(self, X: Rows) -> Rows:
        """Ones where a value is above the threshold."""
        if self.threshold is None:
            return X
        if isinstance(X, CSR):
            return CSR(X.indptr, X.indices, (X.data > self.threshold).astype(np.float32), X.width)
        values = X.values if isinstance(X, Dense) else X.dot(np.eye(X.shape[1]))
        return Dense((values > self.threshold).astype(np.float32))

    def count(self, lesson: Lesson) -> Counts:
        """How many rows of each class have each feature."""
        X = self.read(lesson.X)
        if self.threshold is None and not _binary(X):
            raise DataError(
                "Bernoulli(threshold=None) takes only the values 0 and 1, but there are others; set a threshold, "
                "or use features with values='binary'."
            )
        return count(Lesson(X, lesson.y, lesson.weights, lesson.k))

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


def _binary(X: Rows) -> bool:
    values = X.data if isinstance(X, CSR) else X.values if isinstance(X, Dense) else X.dot(np.eye(X.shape[1]))
    return bool(((values == 0) | (values == 1)).all())
