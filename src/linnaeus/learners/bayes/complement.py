"""Complement naive Bayes: each class is scored by the word counts of all other classes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.learners.bayes.countmodel import CountModel, check_smoothing, counted
from linnaeus.learners.bayes.counts import Counts, count

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Lesson


@dataclass(frozen=True, kw_only=True)
class Complement:
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
    as_is: ClassVar[bool] = True
    priors: ClassVar[None] = None

    smoothing: float = 1.0
    length: Literal["l1"] | None = None

    def __post_init__(self) -> None:
        check_smoothing(self.smoothing)
        if self.length not in ("l1", None):
            raise UsageError(f"length must be 'l1' or None for complement naive Bayes, not {self.length!r}.")

    @property
    def strength(self) -> float:
        """The hyper-parameter that cross-validation tunes: the smoothing."""
        return self.smoothing

    def with_strength(self, strength: float) -> Complement:
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
        """W = -log q(j | y), normalized if `length` is set; b = 0."""
        smooth = counts.outside + self.smoothing
        W = np.log(smooth.sum(axis=0)) - np.log(smooth)
        return (W if self.length is None else W / W.sum(axis=0)), np.zeros(W.shape[1])
