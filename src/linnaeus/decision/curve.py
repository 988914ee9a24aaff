"""Precision and recall of a label over its thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.decision.scores import blocks, columns
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.decision.scores import Kind
    from linnaeus.types import Doubles, Truth

FINEST = 512
"""The number of thresholds that are tried for all labels together."""


@dataclass(frozen=True, eq=False)
class Curve:
    """For falling thresholds: the weight of the predicted rows, of the true ones among them, and of all true rows."""

    thresholds: Doubles
    taken: Doubles
    right: Doubles
    members: float

    @property
    def f1(self) -> Doubles:
        """F1 = 2 right / (taken + members)."""
        return 2.0 * self.right / (self.taken + self.members)

    @property
    def precision(self) -> Doubles:
        """Precision = right / taken."""
        return self.right / self.taken

    @property
    def recall(self) -> Doubles:
        """Recall = right / members."""
        return self.right / self.members


def curve(p: Doubles, yes: NDArray[np.bool_], weights: Doubles) -> Curve | None:
    """The thresholds of one label, down to the lowest probability of a true row; None without a true row.

    >>> found = curve(np.array([0.9, 0.8, 0.3, 0.2]), np.array([True, False, True, False]), np.ones(4))
    >>> found.thresholds.tolist(), found.right.tolist(), found.taken.tolist()
    ([0.9, 0.8, 0.3], [1.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    """
    yes = yes & (weights > 0)
    if not yes.any():
        return None
    near = np.nonzero((p >= p[yes].min()) & (weights > 0))[0]
    near = near[np.argsort(-p[near], kind="stable")]
    values = p[near]
    last = np.r_[values[1:] != values[:-1], True]
    taken, right = np.cumsum(weights[near])[last], np.cumsum(weights[near] * yes[near])[last]
    return Curve(values[last], taken, right, float(right[-1]))


def pooled(P: Doubles, truth: Truth, kind: Kind, weights: Doubles) -> Curve | None:
    """The thresholds of all labels together, at quantiles of the true rows' probabilities; None without true rows."""
    cuts = _cuts(P, truth, kind, weights)
    if len(cuts) == 0:
        return None
    taken, right = np.zeros(len(cuts)), np.zeros(len(cuts))
    for a, b in blocks(P):
        row, column = np.nonzero(P[:, a:b] >= cuts[0])
        at = np.searchsorted(cuts, P[row, column + a], side="right") - 1
        yes = columns(truth, kind, a, b)[row, column]
        taken += np.bincount(at, weights[row], len(cuts))
        right += np.bincount(at, weights[row] * yes, len(cuts))
    taken, right = np.cumsum(taken[::-1]), np.cumsum(right[::-1])
    return Curve(cuts[::-1], taken, right, float(right[-1])) if right[-1] > 0 else None


def _cuts(P: Doubles, truth: Truth, kind: Kind, weights: Doubles) -> Doubles:
    """Rising thresholds, from the lowest probability of a true row on."""
    found = [P[:, a:b][columns(truth, kind, a, b) & (weights > 0)[:, None]] for a, b in blocks(P)]
    members = np.sort(np.concatenate(found))
    if len(members) == 0:
        return members
    places = np.unique(np.linspace(0, len(members) - 1, FINEST).astype(np.int64))
    return np.unique(members[places])
