"""Scores that are numbers: weights that are finite each can still add up to more than a number can hold."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from linnaeus.errors import ModelFileError

Scores = TypeVar("Scores", bound=NDArray[np.floating])


def finite_scores(S: Scores) -> Scores:
    """The same scores (n, ...); an error in a sentence where one of them is infinite or not a number.

    >>> finite_scores(np.array([[1.0, 2.0]])).tolist()
    [[1.0, 2.0]]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(S.sum()):  # a sum needs no memory, and is finite where it matters
            return S
    odd = ~np.isfinite(S.reshape(len(S), -1)).all(axis=1)
    if not odd.any():
        return S
    raise ModelFileError(
        f"The scores of row {int(odd.argmax())} are not finite: the weights of the model are too large; restore it "
        "from a copy, or train it again with smaller values or more regularization."
    )
