"""Cost matrices: l(y', y) is the cost of predicting y' if y is true; rows are predictions, columns true classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from linnaeus.errors import UsageError
from linnaeus.protocols import CostSpace
from linnaeus.types import CostTable as CostTable
from linnaeus.types import Doubles, Matrix

MAX_COST = 1e50
"""The largest cost of a mistake: sums and squares of such costs are finite."""


def as_costs(costs: Sequence[Sequence[float]] | Matrix | None, k: int | None = None) -> CostTable | None:
    """The cost matrix as nested tuples: square, finite, not negative, zero on the diagonal.

    >>> as_costs([[0, 1], [5, 0]])
    ((0.0, 1.0), (5.0, 0.0))
    """
    if costs is None:
        return None
    try:
        matrix = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError("costs takes a square matrix of numbers, one row and one column for each class.") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UsageError(f"costs must be a square matrix, one row and one column for each class, not {matrix.shape}.")
    if k is not None and len(matrix) != k:
        raise UsageError(
            f"costs is {matrix.shape[0]} by {matrix.shape[1]}, but there are {k} classes; give a {k} by {k} matrix."
        )
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise UsageError("costs must be finite and not negative; 0 is free, 1 is an ordinary mistake.")
    if (matrix > MAX_COST).any():
        raise UsageError(f"costs holds {matrix.max():g}; a mistake costs at most {MAX_COST:g}; scale all.")
    if np.diagonal(matrix).any():
        raise UsageError("costs must be zero on the diagonal: a correct prediction costs nothing.")
    return tuple(tuple(float(c) for c in row) for row in matrix)


def zero_one(k: int) -> Doubles:
    """Every mistake costs 1.

    >>> zero_one(2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return 1.0 - np.eye(k)


def paid(costs: CostTable | None, k: int) -> Doubles:
    """The cost matrix, 0/1 by default; a matrix of another size is refused."""
    if costs is None:
        return zero_one(k)
    return np.asarray(as_costs(costs, k))


class WithCosts:
    """Base class of output spaces that take a cost matrix."""

    costs: CostTable | None
    provides: ClassVar[tuple[type, ...]] = (CostSpace,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "costs", as_costs(self.costs))
