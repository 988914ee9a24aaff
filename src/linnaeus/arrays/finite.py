"""Checks for sums that overflow, although each number is finite."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from linnaeus.arrays.vectors import dot
from linnaeus.errors import DataError, ModelFileError

LARGEST = 1e76
"""Of a sum of squares: float32, which models are stored in, ends at 3e38. Solvers multiply such sums."""

Scores = TypeVar("Scores", bound=NDArray[np.floating])


def finite_scores(S: Scores) -> Scores:
    """Return the scores (n, ...) unchanged; raise an error if one of them is infinite or not a number.

    >>> finite_scores(np.array([[1.0, 2.0]])).tolist()
    [[1.0, 2.0]]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(S.sum()):  # a sum needs no memory; if it is finite, all scores are
            return S
    odd = ~np.isfinite(S.reshape(len(S), -1)).all(axis=1)
    if not odd.any():
        return S
    raise ModelFileError(
        f"The scores of row {int(odd.argmax())} are not finite: the weights of the model are too large; restore it "
        "from a copy, or train it again with smaller values or more regularization."
    )


def refuse_overflow(name: str, values: NDArray[Any], what: str) -> None:
    """Refuse numbers whose squares add up to more than solvers can work with."""
    if values.dtype == np.float32:  # squares of all of them fit into float64
        return
    flat = np.ascontiguousarray(values, np.float64).reshape(-1)  # no copy of what lies so already
    with np.errstate(over="ignore", invalid="ignore"):
        if dot(flat, flat) <= LARGEST:
            return
    largest = float(np.abs(flat).max())
    raise DataError(f"{name} holds values so large ({largest:.3g}) that their squares overflow; scale the {what}.")
