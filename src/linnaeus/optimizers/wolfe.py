"""A step along a direction that satisfies the strong Wolfe conditions: it goes down enough, and it bends enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from linnaeus.optimizers.certificate import EPS
from linnaeus.optimizers.search import DECREASE

TRIES = 40
FARTHER = 100.0
"""How many times the last stretch a next one may be, where the slope has told nothing yet."""


class Place(NamedTuple):
    """A step, and value and slope there."""

    t: float
    value: float
    slope: float


def search(
    probe: Callable[[float], tuple[float, float]], begin: Place, first: float, flatter: float = 0.9
) -> float | None:
    """The step that was probed last and is good; None where there is none.

        f(t) <= f(0) + 1e-4 t f'(0)    and    |f'(t)| <= flatter |f'(0)|

    It brackets, and goes where a cubic through values and slopes has its minimum (Nocedal and Wright 2006, algorithms
    3.5 and 3.6). Where rounding hides what values say, slopes decide alone (Hager and Zhang 2005). A value that is no
    finite number is one that is too high.

    >>> round(search(lambda t: ((t - 3.0) ** 2, 2.0 * (t - 3.0)), Place(0.0, 9.0, -6.0), 0.1), 6)
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
    """Wolfe's conditions; or, where the value has not changed but by rounding, their form in slopes alone."""
    if here.value <= begin.value + DECREASE * here.t * begin.slope:
        return abs(here.slope) <= -flatter * begin.slope
    same = abs(here.value - begin.value) <= noise
    return same and flatter * begin.slope <= here.slope <= (2 * DECREASE - 1.0) * begin.slope


def _lower(begin: Place, low: Place, here: Place, noise: float) -> bool:
    """Whether this place can be the better end of a bracket; comparisons with NaN are false."""
    down = here.value <= begin.value + DECREASE * here.t * begin.slope + noise
    return down and here.value <= low.value + noise and math.isfinite(here.slope)


def _beyond(before: Place, low: Place) -> float:
    """Where the slope would be zero if it went on to change as it did; it is still negative."""
    stretch = low.t - before.t
    change = low.slope - before.slope
    ahead = -low.slope * stretch / change if change > 0.0 else FARTHER * stretch
    return low.t + min(max(ahead, stretch), FARTHER * stretch)


def _between(low: Place, high: Place, noise: float) -> float:
    """The minimum of the cubic, or of the parabola where values say nothing, not too near to either end."""
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
