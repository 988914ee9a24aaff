"""What dual ascent decides between the epochs of binary problems, whichever way they are laid out.

Facts come with their names first: (8, ...), one number of each problem behind each name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.optimizers.dual.problems import BETA, CENTER, DUAL, ESTIMATE, TOTAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles

PATIENCE = 20
"""A gap is computed at least every so many epochs."""
STUCK, STILL, FASTER, LOOSEST = 0.7, 0.1, 2.0, 1e6
"""When sum y alpha keeps its sign and this part of its size while all else stands still, the bias is let go faster."""
SMOOTH_FLOOR, KINKED_FLOOR = 1e-12, 1e-15
"""A gap of this part of the objective at zero weights is no gap for dual ascent: sums of that size are rounded.

From there Newton's method goes on where the loss is smooth; no other does for a loss with a kink.
"""
FLOORS = {"hinge": KINKED_FLOOR, "squared_hinge": SMOOTH_FLOOR, "logistic": SMOOTH_FLOOR}
"""By the name of a loss of binary problems."""


def move_centers(facts: Doubles, going: NDArray[np.bool_], before: Doubles, loosest: float) -> None:
    """The method of multipliers: the center of a free bias goes to where the bias is.

    Where the sum of y alpha, `before` an epoch ago, has hardly come down, the bias is tied more loosely.
    """
    center, beta, total = facts[CENTER], facts[BETA], facts[TOTAL]
    slow = going & (total * before > 0)
    slow &= np.abs(total) > STUCK * np.abs(before)
    slow &= facts[ESTIMATE] < STILL * beta * total**2
    center[going] += (beta * total)[going]
    beta[slow] = np.minimum(beta[slow] * FASTER, loosest)


def looks_solved(facts: Doubles, before: Doubles, tol: float) -> NDArray[np.bool_]:
    """Whose estimate of the gap, falling as fast as in the last epoch, is now below the tolerance."""
    known = np.where(np.isfinite(before), before, facts[ESTIMATE])
    falling = np.minimum(facts[ESTIMATE] / np.maximum(known, 1e-300), 1.0)
    near: NDArray[np.bool_] = facts[ESTIMATE] * falling <= tol * np.abs(facts[DUAL])
    return near


def with_bias(primal: Doubles, dual: Doubles, facts: Doubles) -> tuple[Doubles, Doubles]:
    """Primal and dual values with the square of a regularized bias."""
    square = 0.5 * facts[BETA] * facts[TOTAL] ** 2
    return primal + square, dual - square


def is_solved(primal: Doubles, dual: Doubles, tol: float, floor: Doubles) -> NDArray[np.bool_]:
    """Whether the gap is within the tolerance, or so small that rounding hides it."""
    solved: NDArray[np.bool_] = primal - dual <= np.maximum(tol * primal, floor)
    return solved


def growth(loss: str, larger: float) -> float:
    """By what duals are multiplied when costs are so many times larger: those at a bound grow with it.

    The squared hinge has no bounds to be at.
    """
    return 1.0 if loss == "squared_hinge" else larger


def warm_facts(facts: Doubles, before: Doubles, factor: float, bias: str) -> None:
    """Sums of y alpha that grow with the duals, and free biases that stay where they were."""
    facts[TOTAL] = factor * before[TOTAL]
    if bias == "free":
        facts[CENTER] = before[CENTER] + before[BETA] * before[TOTAL]
        facts[CENTER] -= facts[BETA] * facts[TOTAL]
