"""The objective over examples that are made of several rows: sequences of tags, candidates that change per example."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays import Grouped
from linnaeus.erm.objective import Objective
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.losses import PointLoss

if TYPE_CHECKING:
    from linnaeus.protocols import Regularizer
    from linnaeus.types import Choices, Doubles, Longs, Tags


@dataclass(frozen=True)
class Structured(Objective):
    """f(W) = sum_i loss(scores of example i, y_i) + regularizer(W), where an example has several rows of scores.

    Made by `structured`. The weights of examples are in the truth, whose answers come multiplied by them. There is no
    bias: a constant feature of each token is one, and candidates of one example would all get the same.
    """

    def __post_init__(self) -> None:
        if self.bias != "none":
            raise UsageError("Structured outputs have no bias of their own; give every row a constant feature.")

    @property
    def rowwise(self) -> bool:
        """An example has several rows of scores."""
        return False

    def weighed(self, D: Doubles, weights: Doubles) -> Doubles:
        """Times the weight that all examples have: their own are in the truth."""
        return D if weights[0] == 1.0 else D * weights[0]

    def mistakes(self, S: Doubles, y: Any) -> float:
        """Examples whose truth is not the only best output."""
        best, gold = self.space.best(S, y), self.space.gold(S, y)
        wrong = np.flatnonzero(np.any(best.parts[: y.offsets[-1]] != gold.parts[: y.offsets[-1]], axis=1))
        return float(len(np.unique(np.searchsorted(y.offsets, wrong, side="right"))))

    def by_columns(self) -> Structured:
        """The same objective, with a copy of sparse rows by columns: for solvers that multiply many times."""
        X: Any = self.X
        return replace(self, X=X.by_columns())


def structured(rows: Any, y: Tags | Choices, space: Any, loss: Any, regularizer: Regularizer, k: int = 1) -> Structured:
    """The objective of rows (m, d) in groups, as the truth cuts them; k tags, or 1 for candidates.

    >>> from linnaeus.arrays import Dense
    >>> from linnaeus.losses import LOSSES
    >>> from linnaeus.outputs import Candidates
    >>> from linnaeus.regularizers import L2
    >>> from linnaeus.types import Choices
    >>> y = Choices(np.array([0, 3]), np.array([True, False, False]))
    >>> f = structured(Dense(np.eye(3)), y, Candidates(), LOSSES["log"](), L2(1.0))
    >>> round(f.value(f.initial()), 4)  # three candidates, all alike
    1.0986
    """
    offsets: Longs = y.offsets
    if offsets[-1] != rows.shape[0]:
        raise UsageError(
            f"There are {rows.shape[0]} rows, but the truth is about {offsets[-1]}; give one row for each."
        )
    if isinstance(loss, PointLoss):
        name = type(loss).__name__
        raise UsageError(f"The {name} loss is for numbers; for candidates and sequences take log, hinge or another.")
    shared = getattr(space, "shared", None)
    X = Grouped(rows, offsets, 0 if shared is None else shared(k))
    return Structured(X, y, space, loss, regularizer, np.ones(len(y)), k, "none")
