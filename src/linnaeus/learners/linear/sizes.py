"""Numbers whose squares no float can hold: said before a solver trips over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.arrays.numerics import refuse_overflow

if TYPE_CHECKING:
    from linnaeus.learners.linear.solving import Problem


def refuse_large(problem: Problem) -> None:
    """Refuse features, targets and weights that would overflow."""
    rows = problem.rows
    refuse_overflow("X", rows.data[: rows.nnz] if isinstance(rows, CSR) else rows.values, "features")
    refuse_overflow("sample_weight", problem.weights, "weights")
    if isinstance(problem.y, np.ndarray) and problem.y.dtype.kind == "f":
        refuse_overflow("y", problem.y, "targets")
