"""Thresholds: the probability from which on a label is predicted, and precision and recall over them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from linnaeus.decision.scores import Kind, blocks, check_share, columns, stored_kind, with_truth
from linnaeus.errors import UsageError, damaged, expect
from linnaeus.frozen import dataclass
from linnaeus.store.states import tensor
from linnaeus.types import Bools, Doubles, Matrix, State, Truth

FINEST = 512
"""The number of thresholds that are tried for all labels together."""


@dataclass(frozen=True, eq=False)
class Curve:
    """For falling thresholds: the weight of the predicted rows, of the true ones among them, and of all true rows."""

    thresholds: Doubles
    taken: Doubles
    right: Doubles
    members: float


def curve(p: Doubles, yes: Bools, weights: Doubles) -> Curve | None:
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


NEVER = 2.0
"""A threshold above every probability."""


@dataclass(frozen=True)
class Half:
    """0.5 for every label: optimal if probabilities are calibrated and every error costs the same.

    >>> Half().fit(np.array([[0.2, 0.8], [0.9, 0.1]]), np.array([1, 0])).values.tolist()
    [0.5]
    """

    def fit(self, P: Matrix, truth: Truth, weights: Doubles | None = None) -> FittedThresholds:
        """Nothing is learned."""
        P, kind, _ = _asked(P, truth, weights)
        return FittedThresholds(kind, np.full(P.shape[1], 0.5))


class _Tuned(ABC):
    """A threshold for each label, chosen on its curve; labels with fewer than `fewest` members share one."""

    fewest: int

    def __post_init__(self) -> None:
        expect("fewest", self.fewest, int)

    def fit(self, P: Matrix, truth: Truth, weights: Doubles | None = None) -> FittedThresholds:
        """Thresholds from probabilities of rows that the model was not trained on."""
        P, kind, weights = _asked(P, truth, weights)
        values, rare = np.full(P.shape[1], NEVER), np.zeros(P.shape[1], bool)
        for a, b in blocks(P):
            members = columns(truth, kind, a, b)
            rare[a:b] = members.sum(axis=0) < self.fewest
            for j in np.nonzero(~rare[a:b])[0]:
                values[a + j] = self._cut(curve(P[:, a + j], members[:, j], weights), P[:, a + j])
        if rare.any():
            values[rare] = self._cut(pooled(P, truth, kind, weights), P)
        return FittedThresholds(kind, values)

    def _cut(self, c: Curve | None, p: Doubles) -> float:
        """Halfway between the lowest predicted probability and the next lower one."""
        at = None if c is None else self._choose(c)
        if c is None or at is None:
            return NEVER
        taken = float(c.thresholds[at])
        below = p[p < taken]
        half = 0.5 * (taken + float(below.max())) if below.size else 0.5 * taken
        return half if below.size == 0 or half > below.max() else taken

    @abstractmethod
    def _choose(self, c: Curve) -> int | None:
        """Which threshold of the curve, or none."""


@dataclass(frozen=True)
class BestF1(_Tuned):
    """For each label the threshold with the best F1; labels with fewer than `fewest` members share one for them all.

    The shared one has the best micro-F1 (the method of Yang 2001, "A study of thresholding strategies").

    >>> P, y = np.array([[0.8, 0.2], [0.7, 0.3], [0.6, 0.4]]), np.array([0, 1, 1])
    >>> BestF1(fewest=1).fit(P, y).values.tolist()
    [0.25]
    """

    fewest: int = 10

    def _choose(self, c: Curve) -> int:
        return int(np.argmax(2.0 * c.right / (c.taken + c.members)))


@dataclass(frozen=True)
class AtPrecision(_Tuned):
    """For each label the threshold with the best recall among those with at least this precision.

    A label without such a threshold is never predicted; `fewest` as in `BestF1`.

    >>> P, y = np.array([[0.2, 0.8], [0.3, 0.7], [0.4, 0.6]]), np.array([1, 0, 1])
    >>> AtPrecision(0.9, fewest=1).fit(P, y).values.tolist()
    [0.75]
    """

    precision: float = 0.9
    fewest: int = 10

    def __post_init__(self) -> None:
        check_share("precision", self.precision, whole=True)
        super().__post_init__()

    def _choose(self, c: Curve) -> int | None:
        """The last threshold with enough precision, or none."""
        enough = np.nonzero(c.right / c.taken >= self.precision - 1e-12)[0]
        return int(enough[np.argmax(c.right[enough])]) if len(enough) else None


@dataclass(frozen=True)
class AtRecall(_Tuned):
    """For each label the threshold with the best precision among those with at least this recall; `fewest` as above.

    >>> P, y = np.array([[0.2, 0.8], [0.3, 0.7], [0.4, 0.6]]), np.array([1, 0, 1])
    >>> AtRecall(0.9, fewest=1).fit(P, y).values.tolist()
    [0.3]
    """

    recall: float = 0.9
    fewest: int = 10

    def __post_init__(self) -> None:
        check_share("recall", self.recall, whole=True)
        super().__post_init__()

    def _choose(self, c: Curve) -> int:
        enough = np.nonzero(c.right / c.members >= self.recall - 1e-12)[0]
        return int(enough[np.argmax((c.right / c.taken)[enough])])


THRESHOLDS: dict[str, type[Half] | type[_Tuned]] = {
    "half": Half,
    "f1": BestF1,
    "precision": AtPrecision,
    "recall": AtRecall,
}
"""Every way to choose thresholds by name."""


@dataclass(frozen=True, eq=False)
class FittedThresholds:
    """A threshold for each label (k,); for two classes one, of the second class."""

    kind: Kind
    values: Doubles

    def labels(self, P: Doubles, least: int = 0) -> Bools:
        """Which labels each row gets (n, k): all at their threshold or above, and the nearest until there are `least`.

        >>> fitted = FittedThresholds("labels", np.array([0.5, 0.2]))
        >>> fitted.labels(np.array([[0.6, 0.3], [0.1, 0.1]]), least=1).tolist()
        [[True, True], [False, True]]
        """
        given: Bools = self.values <= P
        short = np.nonzero(given.sum(axis=1) < least)[0]
        if len(short):
            nearest = np.argsort(self.values - P[short], axis=1, kind="stable")[:, :least]
            given[short[:, None], nearest] = True
        return given

    def second(self, P: Doubles) -> NDArray[np.intp]:
        """The class of each row, 0 or 1, for two classes."""
        return (P[:, 1] >= self.values[0]).astype(np.intp)

    def state(self) -> State:
        """One vector."""
        return State({"kind": "thresholds", "scores": self.kind}, {"values": self.values})

    @classmethod
    def from_state(cls, state: State) -> FittedThresholds:
        """Restore from the result of `state`."""
        kind, values = stored_kind(state.manifest), tensor(state.tensors, "values", np.float64)
        if kind == "classes" or len(values) == 0 or (kind == "binary" and len(values) != 1):
            raise damaged("its thresholds do not fit its labels")
        if not ((values >= 0) & (values <= NEVER)).all():
            raise damaged("its thresholds are not probabilities")
        return cls(kind, values)


def _asked(P: Matrix, truth: Truth, weights: Doubles | None) -> tuple[Doubles, Kind, Doubles]:
    """The probabilities that thresholds are for: of every label, or of the second class."""
    P = np.asarray(P, dtype=np.float64)
    if P.ndim == 2 and P.shape[1] == 2 and isinstance(truth, np.ndarray):
        P = P[:, 1:]
    P, kind, weights = with_truth(P, truth, weights)
    if kind == "classes":
        raise UsageError(
            "Thresholds only apply to label sets and to two classes; with more classes, the largest probability wins."
        )
    return P, kind, weights
