"""Twin of dual_losses.hpp: what dual ascent has to know about a loss, for one variable a and its margin m.

q is the curvature of the quadratic part, C the cost of the row. All formulas are those of the C++ header; the
logarithms and exponentials are Python's, so the two agree to rounding, not to the bit.
"""

from __future__ import annotations

import math

TINY_STEP, MOST, END = 0.01, 60, 750.0


class Hinge:
    """phi = max(0, 1 - m), a in [0, C]."""

    @staticmethod
    def top(C: float) -> float:
        """The largest value of the variable."""
        return C

    @staticmethod
    def slope(a: float, m: float, C: float) -> float:
        """Derivative of the dual, as something to be minimized."""
        del a, C
        return m - 1.0

    @staticmethod
    def step(a: float, slope: float, m: float, q: float, C: float) -> float:
        """The variable's minimum, all others fixed, from its slope."""
        del m
        if not q > 0:
            return C if slope < 0 else (0.0 if slope > 0 else a)
        return min(max(a - slope / q, 0.0), C)

    @staticmethod
    def value(m: float) -> float:
        """The loss."""
        return max(0.0, 1.0 - m)

    @staticmethod
    def conjugate(a: float, C: float) -> float:
        """What the variable adds to the dual value."""
        del C
        return a

    @staticmethod
    def slack(a: float, slope: float, m: float, C: float) -> float:
        """Its part of the duality gap, from its slope."""
        del m
        return a * slope if slope > 0 else (a - C) * slope


class SquaredHinge:
    """phi = max(0, 1 - m)^2, a >= 0."""

    @staticmethod
    def top(C: float) -> float:
        """No bound."""
        del C
        return math.inf

    @staticmethod
    def slope(a: float, m: float, C: float) -> float:
        """With a diagonal 1 / (2 C)."""
        return m - 1.0 + a * (0.5 / C)

    @staticmethod
    def step(a: float, slope: float, m: float, q: float, C: float) -> float:
        """The minimum, at least 0."""
        del m
        return max(a - slope / (q + 0.5 / C), 0.0)

    @staticmethod
    def value(m: float) -> float:
        """The loss."""
        return max(0.0, 1.0 - m) ** 2

    @staticmethod
    def conjugate(a: float, C: float) -> float:
        """A - a^2 / (4 C)."""
        return a - a * a * (0.25 / C)

    @staticmethod
    def slack(a: float, slope: float, m: float, C: float) -> float:
        """Its part of the duality gap."""
        del slope
        off = max(0.0, 1.0 - m) - a * (0.5 / C)
        return C * off * off + a * max(0.0, m - 1.0)


class Logistic:
    """phi = log(1 + e^-m), a = C / (1 + e^-t)."""

    @staticmethod
    def top(C: float) -> float:
        """Never reached."""
        del C
        return math.inf

    @staticmethod
    def logit(a: float, C: float) -> float:
        """log(a / (C - a)), finite at both ends."""
        if not a > 0:
            return -END
        return math.log(a / (C - a)) if a < C else END

    @staticmethod
    def slope(a: float, m: float, C: float) -> float:
        """M + log(a / (C - a))."""
        return m + Logistic.logit(a, C)

    @staticmethod
    def step(a: float, slope: float, m: float, q: float, C: float) -> float:
        """Newton's method for q (C sigma(t) - a) + m + t = 0, halving the bounds where it leaves them."""
        low, high = -m - q * (C - a), -m + q * a
        inside = 0 < a < C
        t = slope - m if inside else math.copysign(math.log1p(q * C), a - 0.5 * C)
        s, h = a / C, slope
        if not inside or t < low or t > high:
            t = min(max(t, low), high)
            s = _sigmoid(t)
            h = q * (C * s - a) + m + t
        enough = TINY_STEP * abs(h)
        for _ in range(MOST):
            if abs(h) <= enough:
                break
            low, high = (low, t) if h > 0 else (t, high)
            t -= h / (1.0 + q * C * s * (1.0 - s))
            if not low < t < high:
                t = low + 0.5 * (high - low)
            s = _sigmoid(t)
            h = q * (C * s - a) + m + t
        return C * s

    @staticmethod
    def value(m: float) -> float:
        """The loss."""
        return max(0.0, -m) + math.log1p(math.exp(-abs(m)))

    @staticmethod
    def conjugate(a: float, C: float) -> float:
        """C times the entropy of a / C."""
        return C * (_entropy(a / C) + _entropy(1.0 - a / C))

    @staticmethod
    def slack(a: float, slope: float, m: float, C: float) -> float:
        """Its part of the duality gap, to second order; a bound at the ends."""
        if 0 < a < C:
            return 0.5 * slope * slope * a * (C - a) / C
        z = -m if a > 0 else m
        return C * (math.exp(-z) if z > 0 else 1.0 - z)


def _sigmoid(t: float) -> float:
    e = math.exp(-abs(t))
    return (1.0 if t >= 0 else e) / (1.0 + e)


def _entropy(p: float) -> float:
    return -p * math.log(p) if p > 0 else 0.0
