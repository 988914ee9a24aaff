"""The losses of n rows as functions of one score each: phi_i(z) = weight_i loss(sign_i z + offset_i)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.types import Doubles

NEAR = 1e-6
"""Closer to zero than this a secant is rounding, and the second derivative the same."""


@dataclass(frozen=True)
class RowLoss:
    """One column of scores z (n,) and what it costs.

    The loss looks at m = sign z + offset: margins have the sign of the truth and no offset, residuals sign 1 and offset
    -y. A sign of 0 is a row that is not asked.
    """

    loss: Any
    sign: Doubles
    offset: Doubles
    weights: Doubles

    def value(self, z: Doubles) -> float:
        """The sum of the losses."""
        return inner(self.weights, self.loss.value(self.sign * z + self.offset))

    def slope(self, z: Doubles) -> Doubles:
        """The derivative of each row's loss in its score."""
        slope: Doubles = self.weights * self.sign * self.loss.slope(self.sign * z + self.offset)
        return slope

    def curve(self, z: Doubles) -> Doubles:
        """The second derivative."""
        curve: Doubles = self.weights * self.loss.curve(self.sign * z + self.offset)
        return curve

    def model(self, z: Doubles) -> tuple[Doubles, Doubles]:
        """Slope, and a curvature that does not overshoot: never below the second derivative.

        A loss that is linear far out has next to no curvature there, and a Newton step from there goes far too far. On
        the wrong side (m < 0, or any residual) the secant of the slope between m and its mirror -m stands in: for the
        logistic loss it is the bound of Jaakkola and Jordan (2000), for the Huber loss the weight of iteratively
        reweighted least squares. On the right side the second derivative is kept, so that the end game is Newton's.
        """
        m = self.sign * z + self.offset
        slope, curve = self.loss.slope(m), np.array(self.loss.curve(m))
        has_sides = getattr(self.loss, "decreasing", hasattr(self.loss, "upper"))
        far = np.flatnonzero(m < -NEAR) if has_sides else np.flatnonzero(np.abs(m) > NEAR)
        if len(far):
            there = m[far]
            secant = (slope[far] - self.loss.slope(-there)) / (2.0 * there)
            curve[far] = np.maximum(curve[far], secant)
        return self.weights * self.sign * slope, self.weights * np.abs(self.sign) * curve

    def conjugate(self, alpha: Doubles) -> float | None:
        """sum_i phi_i*(alpha_i) for slopes alpha between those the losses have and 0; None where it is not known."""
        used = (self.weights > 0) & (self.sign != 0)
        a = self.sign[used] * alpha[used]
        found = self.loss.conjugate(a / self.weights[used]) if hasattr(self.loss, "conjugate") else None
        return None if found is None else inner(self.weights[used], found) - inner(a, self.offset[used])


def inner(a: Doubles, b: Doubles) -> float:
    """The inner product, not by BLAS: that may use threads, and then its bits depend on how many.

    >>> inner(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(np.einsum("i,i->", a, b))
