"""The objective for structured examples with several rows: tag sequences, and candidates to rank."""

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

    Made by `structured`. The example weights are in y, and the output space multiplies by them. There is no bias: a
    constant feature of each token has that role, and for candidates a bias would not change the ranking.
    """

    def __post_init__(self) -> None:
        if self.bias != "none":
            raise UsageError("Structured outputs have no bias; give every row a constant feature instead.")

    @property
    def rowwise(self) -> bool:
        """False: an example has several rows of scores."""
        return False

    def weighed(self, D: Doubles, weights: Doubles) -> Doubles:
        """Multiply by the common weight; the weights of single examples are in y."""
        return D if weights[0] == 1.0 else D * weights[0]

    def mistakes(self, S: Doubles, y: Any) -> float:
        """The number of examples whose true output is not the single best one."""
        best, gold = self.space.best(S, y), self.space.gold(S, y)
        wrong = np.flatnonzero(np.any(best.parts[: y.offsets[-1]] != gold.parts[: y.offsets[-1]], axis=1))
        return float(len(np.unique(np.searchsorted(y.offsets, wrong, side="right"))))

    def by_columns(self) -> Structured:
        """The same objective, with a column-wise copy of sparse rows, for solvers with many products."""
        X: Any = self.X
        return replace(self, X=X.by_columns())


def structured(rows: Any, y: Tags | Choices, space: Any, loss: Any, regularizer: Regularizer, k: int = 1) -> Structured:
    """The objective of rows (m, d), grouped into examples by y; k is the number of tags, or 1 for candidates.

    >>> from linnaeus.arrays import Dense
    >>> from linnaeus.losses import LOSSES
    >>> from linnaeus.outputs import Candidates
    >>> from linnaeus.regularizers import L2
    >>> from linnaeus.types import Choices
    >>> y = Choices(np.array([0, 3]), np.array([True, False, False]))
    >>> f = structured(Dense(np.eye(3)), y, Candidates(), LOSSES["log"](), L2(1.0))
    >>> round(f.value(f.initial()), 4)  # three equal candidates
    1.0986
    """
    offsets: Longs = y.offsets
    if offsets[-1] != rows.shape[0]:
        raise UsageError(f"There are {rows.shape[0]} rows, but y has {offsets[-1]}; give one row for each.")
    if isinstance(loss, PointLoss):
        name = type(loss).__name__
        raise UsageError(f"The {name} loss is for numbers; for candidates and sequences use log, hinge or another.")
    shared = getattr(space, "shared", None)
    X = Grouped(rows, offsets, 0 if shared is None else shared(k))
    return Structured(X, y, space, loss, regularizer, np.ones(len(y)), k, "none")
