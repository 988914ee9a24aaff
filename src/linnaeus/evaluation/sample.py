"""Rows with weights, many weightings at once: the input of every metric.

A metric of the data and of their thousand resamples is one formula: a resample only gives rows other weights. M (b, n)
holds b weightings of n rows, and each formula returns b numbers.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.evaluation.facts import Facts, Spots
from linnaeus.evaluation.ranking import average_precisions
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles


def ratio(a: Doubles, b: Doubles) -> Doubles:
    """A / b, and 0 where b is 0: a class never predicted has precision 0, one never true has recall 0.

    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    found: Doubles = np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=b > 0)
    return found


@dataclass(frozen=True)
class Counts:
    """Weights by class (b, k+1): of true labels, predicted labels, and those both true and predicted.

    The last column is for true labels that the model does not know, which are never predicted.
    """

    true: Doubles
    predicted: Doubles
    right: Doubles

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """Classes that occur, in the truth or in the predictions: those that macro averages are over."""
        return (self.true > 0) | (self.predicted > 0)

    @cached_property
    def precision(self) -> Doubles:
        """The share of predictions of a class that are right."""
        return ratio(self.right, self.predicted)

    @cached_property
    def recall(self) -> Doubles:
        """The share of the true rows of a class that are predicted."""
        return ratio(self.right, self.true)

    @cached_property
    def f1(self) -> Doubles:
        """2 P R / (P + R) = 2 right / (true + predicted)."""
        return ratio(2.0 * self.right, self.true + self.predicted)


@dataclass(frozen=True)
class Sample:
    """Facts of n rows under b weightings (b, n)."""

    facts: Facts
    M: Doubles

    @cached_property
    def total(self) -> Doubles:
        """The sum of weights (b,)."""
        total: Doubles = self.M.sum(axis=1)
        return total

    @cached_property
    def counts(self) -> Counts:
        """Weights by class."""
        return Counts(*(self._by_label(spots) for spots in self.facts.spots))

    @cached_property
    def areas(self) -> tuple[Doubles, NDArray[np.bool_]]:
        """The average precision of each class (b, k), and where it is defined; only of ranked facts."""
        assert self.facts.ranked is not None
        return average_precisions(self.facts.ranked, self.facts.spots[0], self.M)

    def _by_label(self, spots: Spots) -> Doubles:
        found = np.zeros((len(self.M), self.facts.k + 1))
        if len(spots.labels):
            found[:, spots.labels] = np.add.reduceat(np.take(self.M, spots.rows, axis=1), spots.starts, axis=1)
        return found

    def sum(self, column: NDArray[Any]) -> Doubles:
        """The weighted sum (b,) of one number for each row; without BLAS, whose bits depend on its threads."""
        found: Doubles = np.einsum("bn,n->b", self.M, column.astype(np.float64))
        return found

    def mean(self, column: NDArray[Any]) -> Doubles:
        """The weighted mean (b,) of one number for each row."""
        return ratio(self.sum(column), self.total)

    def value(self, name: str) -> NDArray[Any]:
        """A column of the facts."""
        return self.facts.values[name]

    @cached_property
    def _means(self) -> dict[str, Doubles]:
        return {}

    def mean_of(self, name: str) -> Doubles:
        """The weighted mean (b,) of a column of the facts, kept for other metrics that need it."""
        if name not in self._means:
            self._means[name] = self.mean(self.value(name))
        return self._means[name]


def whole(facts: Facts) -> Sample:
    """All rows with their own weights, once."""
    return Sample(facts, facts.weights[None, :])
