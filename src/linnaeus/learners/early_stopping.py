"""Early stopping of learners of structures: examples are set aside, and the weights that do best on them are kept."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np

from linnaeus.errors import DataError, UsageError, expect
from linnaeus.types import Longs

Weights = TypeVar("Weights")


def check_early_stopping(held_out: float, patience: int) -> None:
    """Refuse settings that mean nothing."""
    expect("held_out", held_out, float)
    expect("patience", patience, int)
    if not 0 <= held_out < 1:
        raise UsageError(f"held_out is the share of examples kept aside, at least 0 and below 1, not {held_out}.")
    if patience < 1:
        raise UsageError(f"patience is a whole number from 1 up, not {patience}.")


def set_aside(n: int, share: float, seed: int) -> tuple[Longs, Longs]:
    """The numbers of n examples to learn from, and of those set aside; both ascend.

    >>> learned, aside = set_aside(10, 0.2, seed=0)
    >>> len(learned), len(aside), sorted([*learned.tolist(), *aside.tolist()]) == list(range(10))
    (8, 2, True)
    """
    count = round(n * share)
    if share and not 0 < count < n:
        raise DataError(f"held_out={share} of {n} examples leaves nothing on one side; give more examples.")
    order = np.random.default_rng([seed, n]).permutation(n)
    return np.sort(order[count:]), np.sort(order[:count])


class Best(Generic[Weights]):
    """The weights with the best score so far, and for how many epochs no others were better.

    >>> best = Best(patience=2)
    >>> [best.stops(score, epoch) for epoch, score in enumerate([0.5, 0.7, 0.6, 0.7])], best.weights
    ([False, False, False, True], 1)
    """

    def __init__(self, patience: int) -> None:
        self.patience, self.score, self.since = patience, -np.inf, 0
        self.weights: Weights | None = None

    def stops(self, score: float, weights: Weights) -> bool:
        """Whether to stop after an epoch that ended with this score."""
        if score > self.score:
            self.score, self.weights, self.since = score, weights, 0
        else:
            self.since += 1
        return self.since >= self.patience
