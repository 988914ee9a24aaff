"""Backtracking line search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.vectors import combine, dot

if TYPE_CHECKING:
    from linnaeus.optimizers.flat import Flat
    from linnaeus.types import Doubles

DECREASE = 1e-4
"""Armijo's constant: the share of the predicted decrease that a step must achieve."""


def armijo(flat: Flat, x: Doubles, step: Doubles) -> Doubles | None:
    """X + t step with the first t = 1, 1/2, 1/4 ... that lowers the objective enough; None if there is none."""
    value, g = flat.value_and_grad(x)
    promise, t = dot(g, step), 1.0
    while promise < 0.0:
        there = combine([x, step], [1.0, t])
        if np.array_equal(there, x):
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            reached, after = flat.value_and_grad(there)
        if reached <= value + DECREASE * t * promise and reached < value and np.isfinite(after).all():
            return there
        t /= 2.0
    return None
