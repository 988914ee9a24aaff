"""Learning rate schedules, as factors of the rate of an optimizer. Steps are counted from 1."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus.errors import expect, expect_within
from linnaeus.frozen import dataclass
from linnaeus.protocols import HeldOutSchedule, meant
from linnaeus.types import Doubles


class Schedule:
    """Base class of learning rate schedules: a factor for each step. `adapt` can use held-out scores.

    >>> from linnaeus.optimizers import SCHEDULES
    >>> all(issubclass(SCHEDULES[name], Schedule) for name in SCHEDULES)
    True
    """

    def factors(self, first: int, count: int, total: int) -> Doubles:
        """The factors of the `count` steps first, first + 1, ...; `total` steps are planned. Ones by default."""
        return np.ones(count)

    def adapt(self, factor: float, score: float | None, before: float | None) -> float:
        """The factor for the next epoch, from the held-out scores of this one and the one before."""
        return factor


@dataclass(frozen=True)
class Constant(Schedule):
    """Constant learning rate.

    >>> Constant().factors(1, 3, 10).tolist()
    [1.0, 1.0, 1.0]
    """


@dataclass(frozen=True)
class InverseTime(Schedule):
    """Inverse time decay: 1 / (offset + t).

    >>> InverseTime(offset=1.0).factors(1, 3, 3).round(3).tolist()
    [0.5, 0.333, 0.25]
    """

    offset: float = 1.0

    def __post_init__(self) -> None:
        expect("offset", self.offset, float, 0)

    def factors(self, first: int, count: int, total: int) -> Doubles:
        """1 / (offset + t)."""
        return 1.0 / (self.offset + np.arange(first, first + count, dtype=np.float64))


@dataclass(frozen=True)
class InverseSqrt(Schedule):
    """Inverse square root decay: 1 / sqrt(t).

    >>> InverseSqrt().factors(1, 4, 10).round(3).tolist()
    [1.0, 0.707, 0.577, 0.5]
    """

    def factors(self, first: int, count: int, total: int) -> Doubles:
        """1 / sqrt(t)."""
        return 1.0 / np.sqrt(np.arange(first, first + count, dtype=np.float64))


@dataclass(frozen=True)
class LinearDecay(Schedule):
    """Linear decay from 1 to 0 over the planned steps.

    >>> LinearDecay().factors(1, 4, 4).tolist()
    [1.0, 0.75, 0.5, 0.25]
    """

    def factors(self, first: int, count: int, total: int) -> Doubles:
        """1 - (t - 1) / total, never below 0."""
        return np.maximum(0.0, 1.0 - (np.arange(first, first + count) - 1) / max(total, 1))


@dataclass(frozen=True)
class HeldOut(Schedule):
    """The bold driver: grow while the held-out score rises, shrink when it falls. Needs held-out data.

    >>> HeldOut().adapt(1.0, score=0.9, before=0.8), HeldOut().adapt(1.0, score=0.7, before=0.8)
    (1.05, 0.5)
    """

    provides: ClassVar[tuple[type, ...]] = (HeldOutSchedule,)
    grow: float = 1.05
    shrink: float = 0.5

    def __post_init__(self) -> None:
        expect("grow", self.grow, float, 1)
        expect_within("shrink", self.shrink, float, "(0, 1)")

    def adapt(self, factor: float, score: float | None, before: float | None) -> float:
        """Larger after a better epoch, smaller after a worse one."""
        if score is None or before is None:
            return factor
        return factor * (self.grow if score >= before else self.shrink)


SCHEDULES: dict[str, type[Schedule]] = {
    "constant": Constant,
    "inverse": InverseTime,
    "inverse_sqrt": InverseSqrt,
    "linear": LinearDecay,
    "held_out": HeldOut,
}
"""Every schedule by name."""


def as_schedule(value: object) -> Schedule:
    """Return the schedule: an object unchanged, or the schedule with this name and its default settings.

    >>> as_schedule("inverse")
    InverseTime(offset=1.0)
    """
    return meant("schedule", value, SCHEDULES, "factors", "adapt")
