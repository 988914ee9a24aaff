"""Complement naive Bayes: a class is what the words of all others do not look like."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from linnaeus.bayes.countmodel import CountModel, check_smoothing, counted
from linnaeus.bayes.counts import Counts, count
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Lesson


@dataclass(frozen=True, kw_only=True)
class Complement:
    """Counts of all other classes, which are many where those of one are few: scores -sum_j x_j log q(j | y).

        q(j | y) = (count of j outside y + a) / (count of all features outside y + a d)

    with add-`smoothing` a. With `length="l1"` the weights of each class are divided by the sum of their sizes
    (scikit-learn's `norm=True`), so that classes with long texts do not win by it. There are no priors.

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
            raise UsageError(f"length is 'l1' or None for complement naive Bayes, not {self.length!r}.")

    @property
    def strength(self) -> float:
        """What held-out rows may choose: the smoothing."""
        return self.smoothing

    def with_strength(self, strength: float) -> Complement:
        """The same with another smoothing."""
        return replace(self, smoothing=strength)

    def learn(self, lesson: Lesson) -> CountModel:
        """Count."""
        return counted(self, lesson)

    def read(self, X: Rows) -> Rows:
        """Rows as they are."""
        return X

    def count(self, lesson: Lesson) -> Counts:
        """How much of each feature each class holds."""
        return count(lesson)

    def weigh(self, counts: Counts) -> tuple[Doubles, Doubles]:
        """W = -log q(j | y), of length 1 where that is wanted; b = 0."""
        smooth = counts.outside + self.smoothing
        W = np.log(smooth.sum(axis=0)) - np.log(smooth)
        return (W if self.length is None else W / W.sum(axis=0)), np.zeros(W.shape[1])
