"""Score intervals: all values of a metric that lie within z standard errors of the estimate.

    |estimate - v| <= z * sd(v),   sd(v)^2 = variance of resamples * V(v) / V(estimate)

V says how the variance of a metric depends on its value: v (1 - v) for shares, v for errors that have no upper bound,
1 - v for R2, and constant for differences. For accuracy this is Wilson's interval (1927): the variance of resamples is
that of a binomial. Other shares have the interval of an accuracy that varies as much. An interval always contains its
estimate and stays in the range of its metric; where all rows and so all resamples are right, it still has a length.
"""

from __future__ import annotations

from math import erf, exp, pi, sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

from linnaeus.errors import UsageError, expect

if TYPE_CHECKING:
    from linnaeus.types import Doubles

Scale: TypeAlias = Literal["share", "error", "explained", "free"]
"""The range of a metric: 0 to 1, 0 and above, 1 and below, any number."""

METHOD = "confidence intervals: score method, standard errors by bootstrap"
"""The note on pages that show intervals."""


def interval(estimate: float, drawn: Doubles, level: float, scale: Scale, rows: float) -> tuple[float, float]:
    """The interval of an estimate, given its values in resamples and its number of rows.

    >>> import numpy as np
    >>> low, high = interval(1.0, np.ones(1000), 0.95, "share", 20)
    >>> round(low, 3), high
    (0.839, 1.0)
    """
    z, variance = normal_quantile(level), 0.0 if drawn.min() == drawn.max() else float(drawn.var())
    if scale == "explained":
        low, high = interval(1 - estimate, drawn, level, "error", rows)
        return min(1 - high, estimate), max(1 - low, estimate)
    if scale == "share":
        low, high = _share(estimate, variance, z, rows)
    elif scale == "error" and estimate > 0:
        spread = z * z * variance / estimate
        half = sqrt(spread * estimate + spread * spread / 4)
        low, high = estimate + spread / 2 - half, estimate + spread / 2 + half
    else:
        low, high = estimate - z * sqrt(variance), estimate + z * sqrt(variance)
    return min(low, estimate), max(high, estimate)


def _share(estimate: float, variance: float, z: float, rows: float) -> tuple[float, float]:
    """Wilson's interval of as many rows as would give this variance; at 0 and 1, of the rows there are."""
    at_end = not 0 < estimate < 1
    if variance == 0 and not at_end:
        return estimate, estimate
    count = rows if at_end else estimate * (1 - estimate) / variance
    middle = (estimate + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * sqrt(estimate * (1 - estimate) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def normal_quantile(level: float) -> float:
    """The number of standard deviations around the mean that contain this share of a normal distribution.

    >>> round(normal_quantile(0.95), 4)
    1.96
    """
    expect("level", level, float)
    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, such as 0.95, not {level!r}.")
    z = 0.0
    for _ in range(60):  # from below, as the error function is concave there
        z += (level - erf(z / sqrt(2))) * sqrt(pi / 2) * exp(min(z * z / 2, 700.0))
    return z
