"""From probabilities to the prediction with the lowest expected cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles


def expected_costs(P: Doubles, costs: Sequence[Sequence[float]] | Any) -> Doubles:
    """The expected cost of each prediction (n, k): sum over y of P(y) l(y', y).

    >>> expected_costs(np.array([[0.7, 0.3]]), [[0, 5], [1, 0]]).round(2).tolist()
    [[1.5, 0.7]]
    """
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (P.shape[1], P.shape[1]):
        raise UsageError(
            f"costs is {matrix.shape}, but there are {P.shape[1]} classes; give a square matrix of that size."
        )
    return P @ matrix.T


def cheapest(P: Doubles, costs: Sequence[Sequence[float]] | Any) -> NDArray[np.intp]:
    """The prediction with the lowest expected cost; among equals, the lowest class index.

    >>> cheapest(np.array([[0.7, 0.3]]), [[0, 5], [1, 0]]).tolist()
    [1]
    """
    found: NDArray[np.intp] = np.argmin(expected_costs(P, costs), axis=1)
    return found
