"""Line searches: backtracking by Armijo, the strong Wolfe conditions, and the points of a solver that uses them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.arrays.numerics import combine, dot
from linnaeus.optimizers.certificate import EPS
from linnaeus.types import Doubles

if TYPE_CHECKING:
    from linnaeus.optimizers.flat_objective import Flat

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


def descend(flat: Flat, direction: Callable[[Doubles, Doubles], Doubles]) -> None:
    """Step along `direction(x, g)` with the step size of `armijo`, until no step lowers the objective."""
    x: Doubles | None = flat.x0
    while x is not None:
        x = armijo(flat, x, direction(x, flat.value_and_grad(x)[1]))
        if x is not None:
            flat.tell(x)
    flat.finish()


TRIES = 40
FARTHER = 100.0
"""The largest ratio of two steps in a row while no upper end of the bracket is known."""


class Place(NamedTuple):
    """A step, and value and slope there."""

    t: float
    value: float
    slope: float


def wolfe_search(
    probe: Callable[[float], tuple[float, float]], begin: Place, first: float, flatter: float = 0.9
) -> float | None:
    """A step that satisfies the strong Wolfe conditions, which is the last one probed; None if none is found.

        f(t) <= f(0) + 1e-4 t f'(0)    and    |f'(t)| <= flatter |f'(0)|

    It finds a bracket, and moves to the minimum of a cubic through values and slopes (Nocedal and Wright 2006,
    algorithms 3.5 and 3.6). If values differ only by rounding, it uses the slopes alone (Hager and Zhang 2005). A value
    that is not finite counts as too high.

    >>> round(wolfe_search(lambda t: ((t - 3.0) ** 2, 2.0 * (t - 3.0)), Place(0.0, 9.0, -6.0), 0.1), 6)
    3.0
    """
    noise = 8 * EPS * abs(begin.value)
    low, before, high = begin, begin, None
    t = first
    for _ in range(TRIES):
        here = Place(t, *probe(t))
        if _good(begin, here, flatter, noise):
            return t
        if not _lower(begin, low, here, noise):
            high = here
        elif here.slope * (1.0 if high is None else high.t - low.t) >= 0.0:
            low, high = here, low
        else:
            low, before = here, low
        after = _beyond(before, low) if high is None else _between(low, high, noise)
        if not math.isfinite(after) or after in (t, low.t):
            break
        t = after
    if low.t > 0.0 and low.value < begin.value - noise:
        probe(low.t)
        return low.t
    return None


def _good(begin: Place, here: Place, flatter: float, noise: float) -> bool:
    """Wolfe's conditions; or, if the value has changed only by rounding, the conditions on the slopes alone."""
    if here.value <= begin.value + DECREASE * here.t * begin.slope:
        return abs(here.slope) <= -flatter * begin.slope
    same = abs(here.value - begin.value) <= noise
    return same and flatter * begin.slope <= here.slope <= (2 * DECREASE - 1.0) * begin.slope


def _lower(begin: Place, low: Place, here: Place, noise: float) -> bool:
    """Whether this place can be the lower end of a bracket; comparisons with NaN are false."""
    down = here.value <= begin.value + DECREASE * here.t * begin.slope + noise
    return down and here.value <= low.value + noise and math.isfinite(here.slope)


def _beyond(before: Place, low: Place) -> float:
    """The step at which the slope, which is still negative, would be zero if it continues to change at this rate."""
    stretch = low.t - before.t
    change = low.slope - before.slope
    ahead = -low.slope * stretch / change if change > 0.0 else FARTHER * stretch
    return low.t + min(max(ahead, stretch), FARTHER * stretch)


def _between(low: Place, high: Place, noise: float) -> float:
    """The minimum of the cubic, or of the parabola if values differ only by rounding, not too close to either end."""
    wide = high.t - low.t
    if not (math.isfinite(high.value) and math.isfinite(high.slope)):
        return low.t + 0.1 * wide
    share = 0.5
    if abs(high.value - low.value) <= noise:
        if high.slope != low.slope:
            share = -low.slope / (high.slope - low.slope)
    else:
        middle = low.slope + high.slope - 3.0 * (high.value - low.value) / wide
        inside = middle * middle - low.slope * high.slope
        if inside >= 0.0:
            root = math.copysign(math.sqrt(inside), wide)
            below = high.slope - low.slope + 2.0 * root
            share = 1.0 - (high.slope + root - middle) / below if below else 0.5
    return low.t + min(max(share, 0.1), 0.9) * wide


PATIENCE = 20
"""The number of steps without a lower value or a smaller gradient after which only rounding is left."""


class Walk:
    """The current point x of a solver with its value and gradient g, and the point of the next step, `there`."""

    def __init__(self, flat: Flat) -> None:
        self.flat, self.x = flat, flat.x0
        self.value, self.g = flat.value_and_grad(flat.x0)
        self.there, self.after = np.empty_like(self.x), np.empty_like(self.g)
        self.reached = self.value
        self.squared = float(flat.products([self.g], [self.g])[0, 0])
        self.lowest, self.shortest, self.idle = self.value, self.squared, 0

    def search(self, p: Doubles, first: float, flatter: float = 0.9) -> float | None:
        """A step along p, which is evaluated but not taken; None if there is none, or the slope is not negative."""
        slope = self._dot(self.g, p)
        if not slope < 0.0:
            return None

        def probe(t: float) -> tuple[float, float]:
            combine([self.x, p], [1.0, t], self.there)
            self.reached = self.flat.evaluate(self.there, self.after)
            return self.reached, self._dot(self.after, p)

        t = wolfe_search(probe, Place(0.0, self.value, slope), first, flatter)
        if t is not None:
            self.flat.settle(self.after)
        return t

    def _dot(self, a: Doubles, b: Doubles) -> float:
        return float(self.flat.products([a], [b])[0, 0])

    def take(self, t: float, squared: float) -> None:
        """Move to the point that was evaluated last, whose gradient has this squared length, and report it."""
        self.x, self.there, self.g, self.after = self.there, self.x, self.after, self.g
        self.value, self.squared = self.reached, squared
        better = self.value < self.lowest or squared < self.shortest
        self.idle = 0 if better else self.idle + 1
        self.lowest, self.shortest = min(self.value, self.lowest), min(squared, self.shortest)
        self.flat.say(self.x, self.value, self.flat.length(self.g), rate=t)

    @property
    def done(self) -> bool:
        """Whether the gradient is zero, or only rounding is left."""
        return not self.squared > 0.0 or self.idle >= PATIENCE

    @property
    def short(self) -> float:
        """A first step along -g, of length one at most."""
        return min(1.0, 1.0 / max(float(np.sqrt(self.squared)), 1e-300))
