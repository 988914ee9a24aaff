"""When is it enough: epochs, a certified gap, a small gradient, few mistakes, no progress on held-out data, time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linnaeus.errors import UsageError, expect

if TYPE_CHECKING:
    from linnaeus.erm.trace import Trace


class Enough(Exception):  # noqa: N818 - not an error: the way out of a solver
    """Raised inside a report to end an optimizer; its message is the reason."""


@dataclass(frozen=True)
class Stop:
    """The first of these that holds ends training. None switches one off.

    `tol` is relative: the certified gap, at most `tol` times the objective. `gradient` is relative to the norm of the
    first gradient. `mistakes` is the share of examples that may be wrong in an epoch. `patience` counts epochs without
    a better held-out score.
    """

    epochs: int | None = 100
    tol: float | None = 1e-4
    gradient: float | None = None
    mistakes: float | None = None
    patience: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("tol", "gradient", "mistakes", "seconds"):
            value = getattr(self, name)
            if value is not None:
                expect(name, value, float)
                if not value >= 0:
                    raise UsageError(f"{name} must be at least 0, not {value}.")
        for name in ("epochs", "patience"):
            value = getattr(self, name)
            if value is not None:
                expect(name, value, int)
                if value < 1:
                    raise UsageError(f"{name} must be at least 1, not {value}.")

    def reason(self, trace: Trace, examples: int) -> str | None:
        """Why to stop now, or None."""
        last = trace.last
        if _within(last.gap, self.tol, last.value) or _within(last.gradient, self.gradient, trace.first_gradient):
            return "converged"
        if self.mistakes is not None and last.mistakes is not None and last.mistakes <= self.mistakes * examples:
            return "few mistakes" if self.mistakes else "no mistakes"
        if self.patience is not None and trace.epochs_since_best >= self.patience:
            return "no progress on held-out data"
        if self.seconds is not None and last.seconds >= self.seconds:
            return "time limit"
        if self.epochs is not None and last.epoch >= self.epochs:
            return "epochs"
        return None


def _within(found: float | None, tol: float | None, scale: float | None) -> bool:
    """Whether a number that is known is at most `tol` of a scale that is known."""
    if found is None or tol is None or scale is None:
        return False
    return found <= tol * max(abs(scale), 1e-300)
