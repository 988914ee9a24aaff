"""The classifier of frequencies: what share of a symbol's occurrences each class has, multiplied over the symbols."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.bayes.countmodel import CountModel, check_smoothing, counted
from linnaeus.bayes.counts import Counts, count
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Lesson

NEVER = -64.0
"""The logarithm of a frequency of zero: scores stay finite, and e^-64 is no probability to reckon with."""
GRID = 2.0**32
"""Logarithms are multiples of 1 / GRID: sums of them are exact in any order, so that a tie is a tie in the scores."""


@dataclass(frozen=True, kw_only=True)
class Frequencies:
    """How often a class was the answer where a symbol was seen: scores sum_j x_j log p(y | j).

        p(y | j) = (count of j in the rows of y + a) / (count of j in all rows + a k)

    with add-`smoothing` a, zero unless it is given. What was never seen says nothing: all classes have the same part.
    A frequency of zero counts as e^-64. Of label sets, each label is told from the rows without it.

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
        check_smoothing(self.smoothing, "from zero up")

    @property
    def strength(self) -> float:
        """What held-out rows may choose: the smoothing."""
        return self.smoothing

    def with_strength(self, strength: float) -> Frequencies:
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

    def shares(self, counts: Counts) -> Doubles:
        """p(y | j) of each feature and class (d, k); of label sets p(label | j), each by itself."""
        inside = counts.inside + self.smoothing
        k = inside.shape[1]
        whole = inside.sum(axis=1, keepdims=True) if counts.all is None else inside + counts.outside + self.smoothing
        even = np.full(inside.shape, 1 / k if counts.all is None else 0.5)
        P: Doubles = np.divide(inside, whole, out=even, where=whole > 0)
        return P

    def weigh(self, counts: Counts) -> tuple[Doubles, Doubles]:
        """W = log p(y | j), b = 0; of label sets the log-odds."""
        P = self.shares(counts)
        W = _logs(P) if counts.all is None else _logs(P) - _logs(1 - P)
        return W, np.zeros(W.shape[1])


def _logs(P: Doubles) -> Doubles:
    logs = np.maximum(np.log(P, out=np.full(P.shape, NEVER), where=P > 0), NEVER)
    snapped: Doubles = np.round(logs * GRID) / GRID
    return snapped
