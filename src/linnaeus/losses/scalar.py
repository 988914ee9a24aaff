"""Losses that are a function of one number: the margin m = y s, or the residual r = s - y.

A subclass gives `value` and `slope`; your own loss needs no more to train in every output space that has margins or
residuals. One that also gives `curve`, the second derivative, names `NewtonLoss` in `provides`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from linnaeus.errors import UsageError
from linnaeus.protocols import LossShape, MarginForm, OutputSpace, PointForm, ScalarForm
from linnaeus.types import Doubles, Margins, Truth


class ShapedLoss:
    """Base class of all losses here: what is known of their shape. Most have no second derivative and no conjugate."""

    convex: ClassVar[bool] = True
    smooth: ClassVar[bool] = True
    attained: ClassVar[bool] = True
    decreasing: ClassVar[bool] = False
    provides: ClassVar[tuple[type, ...]] = (LossShape,)

    def curve(self, m: Doubles) -> Doubles:
        """The second derivative of `value`; a loss that has one provides `NewtonLoss`."""
        raise UsageError(f"The {type(self).__name__} loss has no second derivative; use a first-order optimizer.")

    def conjugate(self, a: Doubles) -> Doubles | None:
        """Sup over m of a m - value(m), for slopes a, used for duality gaps. None: not known in closed form."""
        return None


class ScalarLoss(ShapedLoss, ABC):
    """Base class: `value`, `slope` and `curve` of one number as a loss of scores; see `MarginLoss` and `PointLoss`.

    >>> from linnaeus.losses import Absolute, Logistic
    >>> issubclass(Absolute, ScalarLoss), issubclass(Logistic, ScalarLoss)
    (True, True)
    """

    provides: ClassVar[tuple[type, ...]] = (ScalarForm,)

    @abstractmethod
    def value(self, m: Doubles) -> Doubles:
        """The loss of each number."""

    @abstractmethod
    def slope(self, m: Doubles) -> Doubles:
        """The derivative of `value`; at a kink, any number between the slopes of the two sides."""

    @abstractmethod
    def view(self, space: OutputSpace, S: Doubles, y: Truth) -> Margins:
        """The margins or residuals of these scores."""

    def value_and_grad(self, space: OutputSpace, S: Doubles, y: Truth) -> tuple[Doubles, Doubles]:
        """Values (n,), and their gradient in the scores (n, w)."""
        seen = self.view(space, S, y)
        values = (seen.stakes * self.value(seen.values)).sum(axis=1)
        return values, seen.pull(seen.stakes * self.slope(seen.values))

    def curvature(self, space: OutputSpace, S: Doubles, y: Truth) -> Callable[[Doubles], Doubles]:
        """The product of the Hessian in the scores with V (n, w), as a function of V."""
        seen = self.view(space, S, y)
        h = seen.stakes * self.curve(seen.values)
        return lambda V: seen.pull(h * seen.push(V))


class MarginLoss(ScalarLoss):
    """Base class of losses that are a function of the margin, which is positive if the prediction is correct.

    Products of binaries: m = y s for each part; joint spaces: the score of the truth minus that of its best rival.

    >>> from linnaeus.losses import Logistic
    >>> issubclass(Logistic, MarginLoss)
    True
    """

    decreasing: ClassVar[bool] = True
    provides: ClassVar[tuple[type, ...]] = (MarginForm,)

    def view(self, space: OutputSpace, S: Doubles, y: Truth) -> Margins:
        """The margins."""
        return space.margins(S, y)


class PointLoss(ScalarLoss):
    """Base class of losses that are a function of the residual r = s - y; labels count as +1 and -1.

    >>> from linnaeus.losses import Squared
    >>> issubclass(Squared, PointLoss)
    True
    """

    provides: ClassVar[tuple[type, ...]] = (PointForm,)

    def view(self, space: OutputSpace, S: Doubles, y: Truth) -> Margins:
        """The residuals."""
        return space.residuals(S, y)
