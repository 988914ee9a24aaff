"""The sigmoid: scores to probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linnaeus.types import Doubles


def sigmoid(t: Doubles) -> Doubles:
    """1 / (1 + e^-t), without overflow on either side.

    >>> sigmoid(np.array([0.0, -800.0])).tolist()
    [0.5, 0.0]
    """
    small = np.exp(-np.abs(t))
    p: Doubles = np.where(t >= 0, 1.0, small) / (1.0 + small)
    return p
