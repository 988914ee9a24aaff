"""Losses of the residual r = s - y, for real targets; a label counts as +1 or -1."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.kernels.online import LOSSES
from linnaeus.losses.scalar import PointLoss
from linnaeus.protocols import NewtonLoss, OnlineLoss, SquaredForm
from linnaeus.types import Doubles


@dataclass(frozen=True)
class Squared(PointLoss):
    """(s - y)^2: least squares. For labels it is (1 - m)^2, which also penalizes margins above 1.

    >>> Squared().value(np.array([-1.0])).tolist()
    [1.0]
    """

    provides: ClassVar[tuple[type, ...]] = (NewtonLoss, SquaredForm, OnlineLoss)
    online: ClassVar[int] = LOSSES["squared"]

    def value(self, m: Doubles) -> Doubles:
        """r^2."""
        return m * m

    def slope(self, m: Doubles) -> Doubles:
        """2 r."""
        return 2.0 * m

    def curve(self, m: Doubles) -> Doubles:
        """2."""
        return np.full_like(m, 2.0)

    def conjugate(self, a: Doubles) -> Doubles:
        """a^2 / 4."""
        return 0.25 * a * a


@dataclass(frozen=True)
class Absolute(PointLoss):
    """|s - y|: least absolute deviations; it predicts the median.

    >>> import numpy as np
    >>> Absolute().value(np.array([-2.0, 0.5])).tolist()
    [2.0, 0.5]
    """

    provides: ClassVar[tuple[type, ...]] = (OnlineLoss,)
    online: ClassVar[int] = LOSSES["absolute"]
    smooth: ClassVar[bool] = False

    def value(self, m: Doubles) -> Doubles:
        """|r|."""
        return np.abs(m)

    def slope(self, m: Doubles) -> Doubles:
        """The sign of r."""
        return np.sign(m)


@dataclass(frozen=True)
class Huber(PointLoss):
    """r^2 up to |r| = width, and 2 width |r| - width^2 beyond: squared for small residuals, linear for outliers.

    >>> import numpy as np
    >>> Huber(width=1.0).value(np.array([0.5, 3.0])).tolist()
    [0.25, 5.0]
    """

    width: float = 1.0
    provides: ClassVar[tuple[type, ...]] = (NewtonLoss,)

    def __post_init__(self) -> None:
        expect("width", self.width, float)
        if not self.width > 0:
            raise UsageError(f"The width of the Huber loss must be positive, not {self.width}.")

    def value(self, m: Doubles) -> Doubles:
        """Squared inside, linear outside."""
        a = np.abs(m)
        return np.where(a <= self.width, a * a, self.width * (2.0 * a - self.width))

    def slope(self, m: Doubles) -> Doubles:
        """2 r, kept between -2 width and 2 width."""
        return 2.0 * np.clip(m, -self.width, self.width)

    def curve(self, m: Doubles) -> Doubles:
        """2 inside, 0 outside."""
        return np.where(np.abs(m) <= self.width, 2.0, 0.0)

    def conjugate(self, a: Doubles) -> Doubles:
        """a^2 / 4 for a between -2 width and 2 width."""
        a = np.clip(a, -2.0 * self.width, 2.0 * self.width)
        return 0.25 * a * a
