"""Losses of the margin m = y s of a binary decision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus.arrays.numerics import sigmoid
from linnaeus.frozen import dataclass
from linnaeus.kernels.online import LOSSES
from linnaeus.losses.scalar import MarginLoss
from linnaeus.protocols import Chances, DualLoss, NewtonLoss, OnlineLoss
from linnaeus.types import Doubles


@dataclass(frozen=True)
class Logistic(MarginLoss):
    """log(1 + e^-m): logistic regression. The probability of class 1 is 1 / (1 + e^-s).

    >>> Logistic().value(np.zeros(1)).round(4).tolist()
    [0.6931]
    """

    provides: ClassVar[tuple[type, ...]] = (NewtonLoss, Chances, OnlineLoss, DualLoss)
    online: ClassVar[int] = LOSSES["logistic"]
    attained: ClassVar[bool] = False
    dual: ClassVar[str] = "logistic"

    def value(self, m: Doubles) -> Doubles:
        """log(1 + e^-m), without overflow."""
        return np.logaddexp(0.0, -m)

    def slope(self, m: Doubles) -> Doubles:
        """-1 / (1 + e^m)."""
        return -sigmoid(-m)

    def curve(self, m: Doubles) -> Doubles:
        """P (1 - p)."""
        p = sigmoid(m)
        return p * (1.0 - p)

    def conjugate(self, a: Doubles) -> Doubles:
        """P log p + (1 - p) log(1 - p) with p = -a between 0 and 1."""
        p = np.clip(-a, 0.0, 1.0)
        return xlogx(p) + xlogx(1.0 - p)

    def chance(self, s: Doubles) -> Doubles:
        """The probability of class 1 at score s."""
        return sigmoid(s)


@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """max(0, 1 - m)^2: the L2-loss SVM. `curve` is the generalized second derivative, 0 or 2.

    >>> import numpy as np
    >>> SquaredHinge().value(np.array([-1.0, 0.0, 2.0])).tolist()
    [4.0, 1.0, 0.0]
    """

    provides: ClassVar[tuple[type, ...]] = (NewtonLoss, OnlineLoss, DualLoss)
    online: ClassVar[int] = LOSSES["squared_hinge"]
    dual: ClassVar[str] = "squared_hinge"

    def value(self, m: Doubles) -> Doubles:
        """max(0, 1 - m)^2."""
        return np.maximum(0.0, 1.0 - m) ** 2

    def slope(self, m: Doubles) -> Doubles:
        """-2 max(0, 1 - m)."""
        return -2.0 * np.maximum(0.0, 1.0 - m)

    def curve(self, m: Doubles) -> Doubles:
        """2 below margin 1, else 0."""
        return np.where(m < 1.0, 2.0, 0.0)

    def conjugate(self, a: Doubles) -> Doubles:
        """A + a^2 / 4 for a up to 0."""
        a = np.minimum(a, 0.0)
        return a + 0.25 * a * a


@dataclass(frozen=True)
class Exponential(MarginLoss):
    """e^-m: the loss of AdaBoost. The probability of class 1 is 1 / (1 + e^-2s).

    >>> Exponential().value(np.zeros(1)).tolist()
    [1.0]
    """

    provides: ClassVar[tuple[type, ...]] = (NewtonLoss, Chances, OnlineLoss)
    online: ClassVar[int] = LOSSES["exponential"]
    attained: ClassVar[bool] = False

    def value(self, m: Doubles) -> Doubles:
        """e^-m, capped at the largest float."""
        return np.exp(np.minimum(-m, 700.0))

    def slope(self, m: Doubles) -> Doubles:
        """-e^-m."""
        return -self.value(m)

    def curve(self, m: Doubles) -> Doubles:
        """e^-m."""
        return self.value(m)

    def conjugate(self, a: Doubles) -> Doubles:
        """P log p - p with p = -a at least 0."""
        p = np.maximum(-a, 0.0)
        return xlogx(p) - p

    def chance(self, s: Doubles) -> Doubles:
        """Half the log-odds: the minimizer of the expected exponential loss."""
        return sigmoid(2.0 * s)


@dataclass(frozen=True)
class ModifiedHuber(MarginLoss):
    """max(0, 1 - m)^2 for m >= -1, else -4m: a squared hinge that is linear for outliers (Zhang, 2004).

    >>> import numpy as np
    >>> ModifiedHuber().value(np.array([-2.0, 0.0, 2.0])).tolist()
    [8.0, 1.0, 0.0]
    """

    provides: ClassVar[tuple[type, ...]] = (NewtonLoss, Chances, OnlineLoss)
    online: ClassVar[int] = LOSSES["modified_huber"]

    def value(self, m: Doubles) -> Doubles:
        """Squared hinge, linear below -1."""
        return np.where(m >= -1.0, np.maximum(0.0, 1.0 - m) ** 2, -4.0 * m)

    def slope(self, m: Doubles) -> Doubles:
        """-2 max(0, 1 - m), at least -4."""
        return np.maximum(-2.0 * np.maximum(0.0, 1.0 - m), -4.0)

    def curve(self, m: Doubles) -> Doubles:
        """2 between -1 and 1, else 0."""
        return np.where((m > -1.0) & (m < 1.0), 2.0, 0.0)

    def conjugate(self, a: Doubles) -> Doubles:
        """A + a^2 / 4 for a between -4 and 0."""
        a = np.clip(a, -4.0, 0.0)
        return a + 0.25 * a * a

    def chance(self, s: Doubles) -> Doubles:
        """(s + 1) / 2, kept between 0 and 1."""
        return (np.clip(s, -1.0, 1.0) + 1.0) / 2.0


def xlogx(p: Doubles) -> Doubles:
    """P log p, 0 at 0.

    >>> xlogx(np.array([0.0, 1.0])).tolist()
    [0.0, 0.0]
    """
    return p * np.log(np.where(p > 0, p, 1.0))
