"""Isotonic regression: a rising function of the score, for each class."""

from __future__ import annotations

import numpy as np

from linnaeus.decision.calibration import FittedCalibrator
from linnaeus.decision.scores import Kind, blocks, columns, fitting, normalized, stored_kind, with_truth
from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.store.states import tensor
from linnaeus.types import Bools, Doubles, Longs, Matrix, State, Truth, offsets_of

FAR = 1e150
"""Scores beyond this count as this, so that differences and slopes of the interpolation are finite."""


@dataclass(frozen=True)
class Isotonic:
    """P(class | s) is the rising function with the least squared error, for each class, then over the sum of classes.

    Pool adjacent violators (Ayer et al. 1955; Zadrozny and Elkan 2002), linear between the steps. No probability is
    surer than 1/(n + 2) from 0 or 1. It wants a thousand rows or more; scores in one step become ties.

    >>> S, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 1, 0, 1])
    >>> Isotonic().fit(S, y).probabilities([[2.5]]).tolist()
    [[0.5, 0.5]]
    """

    def fit(self, S: Matrix, truth: Truth, weights: Doubles | None = None) -> FittedIsotonic:
        """The steps for scores of rows that the model was not trained on."""
        S, kind, weights = with_truth(S, truth, weights)
        steps = []
        for start, stop in blocks(S):
            members = columns(truth, kind, start, stop).T
            steps += [_steps(s, yes, weights) for s, yes in zip(S[:, start:stop].T, members, strict=True)]
        ends = offsets_of([len(knots) for knots, _ in steps])
        knots, values = (np.concatenate(arrays) for arrays in zip(*steps, strict=True))
        return FittedIsotonic(kind, ends, knots, values)


@dataclass(frozen=True, eq=False)
class FittedIsotonic(FittedCalibrator):
    """Breakpoints: the steps of column j are knots[ends[j]:ends[j+1]] and values at the same places."""

    kind: Kind
    ends: Longs
    knots: Doubles
    values: Doubles

    def probabilities(self, S: Matrix) -> Doubles:
        """P (n, k)."""
        S = np.clip(fitting(self.kind, S, len(self.ends) - 1), -FAR, FAR)
        P = np.empty_like(S)
        for j, (a, b) in enumerate(zip(self.ends[:-1], self.ends[1:], strict=True)):
            P[:, j] = np.interp(S[:, j], self.knots[a:b], self.values[a:b])
        return normalized(self.kind, P)

    def state(self) -> State:
        """Three vectors."""
        tensors = {"ends": self.ends, "knots": self.knots, "values": self.values}
        return State({"kind": "isotonic", "scores": self.kind}, tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedIsotonic:
        """Restore from the result of `state`."""
        kind, ends = stored_kind(state.manifest), tensor(state.tensors, "ends", np.int64)
        knots, values = (tensor(state.tensors, name, np.float64) for name in ("knots", "values"))
        fit = len(ends) > 1 and ends[0] == 0 and (np.diff(ends) > 0).all() and ends[-1] == len(knots) == len(values)
        if not fit or (kind == "binary" and len(ends) != 2):
            raise damaged("the steps of its calibration do not fit")
        inner = np.delete(np.diff(knots), ends[1:-1] - 1)
        if not (np.abs(knots) <= FAR).all() or (inner < 0).any() or not ((values > 0) & (values < 1)).all():
            raise damaged("its calibration has steps that are not usable")
        return cls(kind, ends, knots, values)


def _steps(s: Doubles, yes: Bools, weights: Doubles) -> tuple[Doubles, Doubles]:
    """Both ends of every step, and its height."""
    some = weights > 0
    s, inverse = np.unique(np.clip(s[some], -FAR, FAR), return_inverse=True)
    mass: Doubles = np.bincount(inverse, weights[some]).astype(np.float64)
    share = np.bincount(inverse, weights[some] * yes[some]) / mass
    heights, sizes = pool(share, mass)
    ends = np.cumsum(sizes)
    doubt = 1.0 / (some.sum() + 2.0)
    knots, values = np.stack([s[ends - sizes], s[ends - 1]], 1), np.clip(heights, doubt, 1.0 - doubt)
    two = np.stack([np.ones(len(sizes), bool), sizes > 1], 1)  # a step of one score is one point
    return knots[two], np.repeat(values, two.sum(axis=1))


def pool(values: Doubles, mass: Doubles) -> tuple[Doubles, Longs]:
    """Heights and sizes of the steps: while neighbors fall, every falling run becomes its weighted mean.

    The means do not depend on the order of pooling, so all runs are pooled at once.

    >>> heights, sizes = pool(np.array([1.0, 0.0, 3.0]), np.ones(3))
    >>> heights.tolist(), sizes.tolist()
    ([0.5, 3.0], [2, 1])
    """
    sizes = np.ones(len(values), np.int64)
    while len(values) > 1:
        starts = np.nonzero(np.r_[True, values[1:] > values[:-1]])[0]
        if len(starts) == len(values):
            break
        total = np.add.reduceat(mass * values, starts)
        mass, sizes = np.add.reduceat(mass, starts), np.add.reduceat(sizes, starts)
        values = total / mass
    return values, sizes
