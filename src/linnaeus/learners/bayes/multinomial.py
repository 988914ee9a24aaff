"""Multinomial naive Bayes: the words of a text are independent draws from the word distribution of its class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.learners.bayes.countmodel import CountModel, check_smoothing, counted
from linnaeus.learners.bayes.counts import Counts, count
from linnaeus.learners.bayes.priors import check_priors, log_priors

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Lesson


@dataclass(frozen=True, kw_only=True)
class Multinomial:
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

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets")
    as_is: ClassVar[bool] = True

    smoothing: float = 1.0
    priors: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_smoothing(self.smoothing)
        check_priors(self.priors)

    @property
    def strength(self) -> float:
        """The hyper-parameter that cross-validation tunes: the smoothing."""
        return self.smoothing

    def with_strength(self, strength: float) -> Multinomial:
        """A copy with another smoothing."""
        return replace(self, smoothing=strength)

    def learn(self, lesson: Lesson) -> CountModel:
        """Count."""
        return counted(self, lesson)

    def read(self, X: Rows) -> Rows:
        """The rows, unchanged."""
        return X

    def count(self, lesson: Lesson) -> Counts:
        """Sum the feature values over the rows of each class."""
        return count(lesson)

    def weigh(self, counts: Counts) -> tuple[Doubles, Doubles]:
        """W = log p(j | y) and b = log p(y); for label sets, each minus that of the rows without the label."""
        W, b = self._logs(counts.inside), log_priors(counts, self.priors)
        return (W, b) if counts.all is None else (W - self._logs(counts.outside), b)

    def _logs(self, counts: Doubles) -> Doubles:
        smooth = counts + self.smoothing
        logs: Doubles = np.log(smooth) - np.log(smooth.sum(axis=0))
        return logs
