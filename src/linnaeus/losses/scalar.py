"""Losses that are one function of a number: of the margin m = y s, or of the residual r = s - y.

A subclass gives `value` and `slope` (and `curve`, the second derivative, for second-order solvers); this is all a loss
of one's own needs to train under every output space that has such numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from linnaeus.errors import UsageError

if TYPE_CHECKING:
    from linnaeus.protocols import OutputSpace
    from linnaeus.types import Doubles, Margins, Truth


class ScalarLoss(ABC):
    """value, slope and curve of a number, made into a loss of scores; see `MarginLoss` and `PointLoss`.

    >>> from linnaeus.losses import Absolute, Logistic
    >>> issubclass(Absolute, ScalarLoss), issubclass(Logistic, ScalarLoss)
    (True, True)
    """

    convex: ClassVar[bool] = True
    smooth: ClassVar[bool] = True
    second: ClassVar[bool] = False
    """Whether `curve` is given."""
    quadratic: ClassVar[bool] = False
    """Whether it is the square of its number, so that linear equations give the optimum."""
    attained: ClassVar[bool] = True
    """Whether the loss is least at some number; if it only tends to zero, separable data leave it without a minimum."""

    @abstractmethod
    def value(self, m: Doubles) -> Doubles:
        """The loss of each number."""

    @abstractmethod
    def slope(self, m: Doubles) -> Doubles:
        """The derivative of `value`; at a kink, any number between the slopes of the two sides."""

    def curve(self, m: Doubles) -> Doubles:
        """The second derivative of `value`; a loss that gives none says `second = False`."""
        raise UsageError(f"The {type(self).__name__} loss has no second derivative; use a first-order optimizer.")

    def conjugate(self, a: Doubles) -> Doubles | None:
        """Sup over m of a m - value(m), for slopes a: what certifies a gap. None: not known in closed form."""
        return None

    @abstractmethod
    def view(self, space: OutputSpace, S: Doubles, y: Truth) -> Margins:
        """The numbers of these scores that the loss is a function of."""

    def value_and_grad(self, space: OutputSpace, S: Doubles, y: Truth) -> tuple[Doubles, Doubles]:
        """Values (n,), and their gradient in the scores (n, w)."""
        seen = self.view(space, S, y)
        values = (seen.stakes * self.value(seen.values)).sum(axis=1)
        return values, seen.pull(seen.stakes * self.slope(seen.values))

    def curvature(self, space: OutputSpace, S: Doubles, y: Truth) -> Callable[[Doubles], Doubles]:
        """The Hessian in the scores, as a function of a move V (n, w)."""
        seen = self.view(space, S, y)
        h = seen.stakes * self.curve(seen.values)
        return lambda V: seen.pull(h * seen.push(V))


class MarginLoss(ScalarLoss):
    """A function of the margin: how far on the right side a score is.

    Products of binaries: m = y s for each part; joint spaces: the score of the truth minus that of its best rival.

    >>> from linnaeus.losses import Logistic
    >>> issubclass(Logistic, MarginLoss)
    True
    """

    decreasing: ClassVar[bool] = True

    def view(self, space: OutputSpace, S: Doubles, y: Truth) -> Margins:
        """The margins."""
        return space.margins(S, y)


class PointLoss(ScalarLoss):
    """A function of the residual r = s - y, for real targets; labels count as +1 and -1.

    >>> from linnaeus.losses import Squared
    >>> issubclass(Squared, PointLoss)
    True
    """

    def view(self, space: OutputSpace, S: Doubles, y: Truth) -> Margins:
        """The residuals."""
        return space.residuals(S, y)
