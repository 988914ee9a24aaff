"""The current and the next point of a gradient-based solver, with their gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.vectors import combine
from linnaeus.optimizers.wolfe import Place, search

if TYPE_CHECKING:
    from linnaeus.optimizers.flat import Flat
    from linnaeus.optimizers.span import Span
    from linnaeus.types import Doubles

PATIENCE = 20
"""Steps without a lower value or a smaller gradient, after which only rounding is left."""


class Walk:
    """A point x with value and gradient g, and room for one more: the point looked at, which the next step goes to."""

    def __init__(self, flat: Flat | Span) -> None:
        self.flat, self.x = flat, flat.x0
        self.value, self.g = flat.value_and_grad(flat.x0)
        self.there, self.after = np.empty_like(self.x), np.empty_like(self.g)
        self.reached = self.value
        self.squared = float(flat.products([self.g], [self.g])[0, 0])
        self.lowest, self.shortest, self.idle = self.value, self.squared, 0

    def search(self, p: Doubles, first: float, flatter: float = 0.9) -> float | None:
        """A good step along p, looked at but not taken; None where there is none, or p does not go down."""
        slope = self._dot(self.g, p)
        if not slope < 0.0:
            return None

        def probe(t: float) -> tuple[float, float]:
            combine([self.x, p], [1.0, t], self.there)
            self.reached = self.flat.evaluate(self.there, self.after)
            return self.reached, self._dot(self.after, p)

        t = search(probe, Place(0.0, self.value, slope), first, flatter)
        if t is not None:
            self.flat.settle(self.after)
        return t

    def _dot(self, a: Doubles, b: Doubles) -> float:
        return float(self.flat.products([a], [b])[0, 0])

    def take(self, t: float, squared: float) -> None:
        """Go where it looked last, where the gradient has this squared length, and tell of it."""
        self.x, self.there, self.g, self.after = self.there, self.x, self.after, self.g
        self.value, self.squared = self.reached, squared
        better = self.value < self.lowest or squared < self.shortest
        self.idle = 0 if better else self.idle + 1
        self.lowest, self.shortest = min(self.value, self.lowest), min(squared, self.shortest)
        self.flat.say(self.x, self.value, self.flat.length(self.g), rate=t)

    @property
    def done(self) -> bool:
        """Whether there is nothing to follow any more."""
        return not self.squared > 0.0 or self.idle >= PATIENCE

    @property
    def short(self) -> float:
        """A first step along -g of which nothing is known: of length one at most."""
        return min(1.0, 1.0 / max(float(np.sqrt(self.squared)), 1e-300))
