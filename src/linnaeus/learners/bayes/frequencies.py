"""The frequency classifier: the share of each class among a symbol's occurrences, multiplied over the symbols."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.learners.bayes.countmodel import CountModel, check_smoothing, counted
from linnaeus.learners.bayes.counts import Counts, count

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Lesson

NEVER = -64.0
"""Stands for the logarithm of a frequency of zero, so that scores stay finite; e^-64 is negligible."""
GRID = 2.0**32
"""Logarithms are rounded to multiples of 1 / GRID: their sums are exact in any order, so ties are exact too."""


@dataclass(frozen=True, kw_only=True)
class Frequencies:
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

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets")
    as_is: ClassVar[bool] = True
    priors: ClassVar[None] = None

    smoothing: float = 0.0

    def __post_init__(self) -> None:
        check_smoothing(self.smoothing, "of at least zero")

    @property
    def strength(self) -> float:
        """The hyper-parameter that cross-validation tunes: the smoothing."""
        return self.smoothing

    def with_strength(self, strength: float) -> Frequencies:
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

    def shares(self, counts: Counts) -> Doubles:
        """p(y | j) of each feature and class (d, k); for label sets p(label | j), independently."""
        inside = counts.inside + self.smoothing
        k = inside.shape[1]
        whole = inside.sum(axis=1, keepdims=True) if counts.all is None else inside + counts.outside + self.smoothing
        even = np.full(inside.shape, 1 / k if counts.all is None else 0.5)
        P: Doubles = np.divide(inside, whole, out=even, where=whole > 0)
        return P

    def weigh(self, counts: Counts) -> tuple[Doubles, Doubles]:
        """W = log p(y | j), b = 0; for label sets the log-odds."""
        P = self.shares(counts)
        W = _logs(P) if counts.all is None else _logs(P) - _logs(1 - P)
        return W, np.zeros(W.shape[1])


def _logs(P: Doubles) -> Doubles:
    logs = np.maximum(np.log(P, out=np.full(P.shape, NEVER), where=P > 0), NEVER)
    snapped: Doubles = np.round(logs * GRID) / GRID
    return snapped
