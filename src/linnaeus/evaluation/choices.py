"""Metrics of choices among candidates: accuracy, mean reciprocal rank, recall at k."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import DataError
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.types import Choices, Doubles, Json, Longs

DEPTHS = (1, 3, 5, 10)
"""The values of k in recall at k."""


@dataclass(frozen=True, slots=True)
class ChoiceScores:
    """Scores of a ranker on n examples: accuracy, mean reciprocal rank of the best right candidate, recall at k.

    Recall at k is the share of examples with a right candidate among the k best. An example without a right candidate
    counts as wrong everywhere.

    >>> ChoiceScores(n=2, accuracy=0.5, reciprocal_rank=0.75, recall=((1, 0.5), (2, 1.0))).accuracy
    0.5
    """

    n: int
    accuracy: float
    reciprocal_rank: float
    recall: tuple[tuple[int, float], ...]

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        recall = {str(depth): share for depth, share in self.recall}
        return {"n": self.n, "accuracy": self.accuracy, "reciprocal_rank": self.reciprocal_rank, "recall": recall}


def judge_choices(s: Doubles, y: Choices) -> ChoiceScores:
    """The scores (m,) of all candidates against the truth.

    >>> from linnaeus.types import Choices
    >>> y = Choices(np.array([0, 2, 5]), np.array([False, True, True, False, False]))
    >>> judge_choices(np.array([1.0, 2.0, 0.0, 3.0, 1.0]), y).reciprocal_rank.__round__(3)
    0.667
    """
    if not len(y):
        raise DataError("There are no examples to evaluate; give at least one.")
    ranks = right_ranks(s, y)
    weights = np.ones(len(y)) if y.weights is None else y.weights
    total = max(float(weights.sum()), 1e-300)
    found = [(depth, float(weights @ (ranks <= depth)) / total) for depth in DEPTHS]
    return ChoiceScores(len(y), found[0][1], float(weights @ (1.0 / ranks)) / total, tuple(found))


def right_ranks(s: Doubles, y: Choices) -> Doubles:
    """The rank, from 1, of the best right candidate of each example; infinity where there is none."""
    order = best_first(s, y.offsets)
    group = np.repeat(np.arange(len(y)), np.diff(y.offsets))
    rank = np.empty(len(s))
    rank[order] = np.arange(len(s)) - y.offsets[group] + 1.0
    found = np.full(len(y), np.inf)
    np.minimum.at(found, group[y.gold], rank[y.gold])
    return found


def best_first(s: Doubles, offsets: Longs) -> Longs:
    """The candidates of each example, best first; equal scores keep their order.

    >>> best_first(np.array([1.0, 2.0, 2.0, 0.0]), np.array([0, 3, 4])).tolist()
    [1, 2, 0, 3]
    """
    group = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.lexsort((np.arange(len(s)), -s, group)).astype(np.int64)
