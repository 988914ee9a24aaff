"""Numbers whose squares no float can hold: said before a solver trips over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.arrays.vectors import dot
from linnaeus.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.pipeline.fitting import Problem

LARGEST = 1e76
"""Of a sum of squares: float32, which models are stored in, ends at 3e38. Solvers multiply such sums."""


def refuse_large(problem: Problem) -> None:
    """Refuse features, targets and weights that would overflow."""
    rows = problem.rows
    _refuse("X", rows.data[: rows.nnz] if isinstance(rows, CSR) else rows.values, "features")
    _refuse("sample_weight", problem.weights, "weights")
    if isinstance(problem.y, np.ndarray) and problem.y.dtype.kind == "f":
        _refuse("y", problem.y, "targets")


def _refuse(name: str, values: NDArray[Any], what: str) -> None:
    if values.dtype == np.float32:  # squares of all of them fit into float64
        return
    flat = np.ascontiguousarray(values, np.float64).reshape(-1)  # no copy of what lies so already
    if not dot(flat, flat) <= LARGEST:
        largest = float(np.abs(flat).max())
        raise DataError(f"{name} holds values so large ({largest:.3g}) that their squares overflow; scale the {what}.")
