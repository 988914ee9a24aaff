"""Stopping criteria: epochs, certified gap, gradient norm, mistakes, held-out score, time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.erm.trace import Trace


class Enough(Exception):  # noqa: N818 - not an error: the way out of a solver
    """Raised inside a report to end an optimizer; its message is the reason."""


@dataclass(frozen=True)
class Stop:
    """Stopping criteria. The first that holds ends training; None disables a criterion.

    `tol` is the relative tolerance: training ends if the certified gap is at most `tol` times the objective. `gradient`
    is for objectives without a gap (or `tol=None`): the gradient norm relative to that at zero weights. `mistakes` is
    the share of examples that may be wrong in an epoch. `patience` is the number of epochs without a better held-out
    score.

    >>> Stop(epochs=20, seconds=60.0).epochs
    20
    """

    epochs: int | None = 100
    tol: float | None = 1e-4
    gradient: float | None = 1e-6
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
        """The reason to stop now, or None."""
        last = trace.last
        if _within(last.gap, self.tol, last.value):
            return "converged"
        if self._by_gradient(trace) and _within(last.gradient, self.gradient, trace.first_gradient):
            return "small gradient"
        if self.mistakes is not None and last.mistakes is not None and last.mistakes <= self.mistakes * examples:
            return "few mistakes" if self.mistakes else "no mistakes"
        if self.patience is not None and trace.epochs_since_best >= self.patience:
            return "no progress on held-out data"
        if self.seconds is not None and last.seconds >= self.seconds:
            return "time limit"
        if self.epochs is not None and last.epoch >= self.epochs:
            return "epochs"
        return None

    def ending(self, trace: Trace) -> str:
        """The reason if the optimizer ended by itself: "optimum" if the gap or the gradient is small enough."""
        if not len(trace):
            return "no further progress"
        last, tol = trace.last, 1e-6 if self.tol is None else self.tol
        if last.gap is not None:
            return "optimum" if _within(last.gap, tol, last.value) else "no further progress"
        # Values are rounded to 1e-16, so steps stop lowering them when the gradient is about the square root of that.
        small = 1e-6 if self.gradient is None else max(self.gradient, 1e-7)
        return "optimum" if _within(last.gradient, small, trace.first_gradient) else "no further progress"

    def _by_gradient(self, trace: Trace) -> bool:
        """Whether the gradient criterion applies: only if there is no gap."""
        return self.tol is None or all(record.gap is None for record in trace)


def _within(found: float | None, tol: float | None, scale: float | None) -> bool:
    """Whether `found` is at most `tol` times `scale`; False if one of them is unknown."""
    if found is None or tol is None or scale is None:
        return False
    return found <= tol * max(abs(scale), 1e-300)
