"""What a training leaves to be said: not converged, no minimum, worse than nothing."""

from __future__ import annotations

import math
import sys
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

from linnaeus.erm.check import at_zero, decided, vanishing
from linnaeus.erm.choose import mistake_driven, rated, stepwise
from linnaeus.errors import LinnaeusWarning

if TYPE_CHECKING:
    from linnaeus.erm import Fit, Objective, Trace

UNFINISHED = ("epochs", "time limit", "no further progress")
"""Reasons to end that leave a solver short of its tolerance."""


class NotConverged(LinnaeusWarning):
    """A solver stopped before it was certified to be near the optimum.

    Where scikit-learn is loaded, what is given is its `ConvergenceWarning` too.

    >>> issubclass(NotConverged, UserWarning)
    True
    """


@cache
def _for_scikit() -> type[NotConverged]:
    from sklearn.exceptions import ConvergenceWarning

    return type("NotConverged", (NotConverged, ConvergenceWarning), {"__module__": __name__})


def category() -> type[NotConverged]:
    """What a warning is, without loading scikit-learn for it."""
    return _for_scikit() if "sklearn" in sys.modules else NotConverged


def warn(fit: Fit, objective: Objective, optimizer: Any) -> None:
    """Say what the user should know about how it ended, if anything.

    Weights that decide every example without a penalty prove that there is no minimum, where the loss is never zero:
    that is the reason then, though the optimizer did not know it.
    """
    trace, name = fit.trace, type(optimizer).__name__
    if trace.reason in UNFINISHED and vanishing(objective) is not None and decided(objective, fit.params):
        trace.reason = "no minimum"
    if trace.reason == "no minimum":
        said = (
            "The objective has no minimum: these weights already decide every example, and without a penalty larger "
            "ones always lower the loss; give a regularizer such as L2(strength=1e-3)."
        )
    elif stepwise(optimizer):
        said = worse_than_nothing(fit, objective, optimizer)
    elif trace.converged or trace.reason not in UNFINISHED:
        return
    else:
        done = f"after {trace.last.epoch} iterations " if len(trace) else ""
        said = (
            f"{name} stopped ({trace.reason}) {done}before it converged{known(trace)}; allow more epochs or seconds, "
            "raise tol, scale the features, or regularize more strongly."
        )
    if said:
        warnings.warn(said, category(), stacklevel=4)


def known(trace: Trace) -> str:
    """Gap or gradient and objective of the last record, as far as they are known, in parentheses.

    >>> from linnaeus.erm import Record, Trace
    >>> known(Trace([Record(1, 0.1, value=5.0, gap=0.25)])), known(Trace([Record(1, 0.1)]))
    (' (gap 0.25, objective 5)', '')
    """
    if not len(trace):
        return ""
    last = trace.last
    distance = ("gap", last.gap) if _finite(last.gap) else ("gradient", last.gradient)
    parts = (*distance, 2), ("objective", last.value, 6)
    found = [f"{name} {value:.{digits}g}" for name, value, digits in parts if _finite(value)]
    return f" ({', '.join(found)})" if found else ""


def worse_than_nothing(fit: Fit, objective: Objective, optimizer: Any) -> str:
    """What to do about steps that led above the objective of zero weights; nothing where they did not.

    The trace has a running estimate, which is asked first: only where it looks bad the objective itself is evaluated.
    """
    solver = rated(optimizer)
    if solver is None or mistake_driven(objective.loss) or not len(fit.trace):
        return ""
    last, nothing = fit.trace.last.value, at_zero(objective)
    if last is None or last <= nothing:
        return ""
    value = objective.value(fit.params)
    if value <= nothing:
        return ""
    return (
        f"{type(optimizer).__name__} ended worse than it began: the objective is {value:.6g}, and {nothing:.6g} with "
        f"all weights zero; take a smaller rate than {solver.rate:g}, or scale the features."
    )


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
