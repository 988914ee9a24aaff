"""Warnings about a training: not converged, no minimum, worse than zero weights."""

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
"""The reasons of a training that ended before its tolerance was reached."""


class NotConverged(LinnaeusWarning):
    """A solver stopped before it was certified to be near the optimum.

    If scikit-learn is loaded, the warning is also a `ConvergenceWarning` of scikit-learn.

    >>> issubclass(NotConverged, UserWarning)
    True
    """


@cache
def _for_scikit() -> type[NotConverged]:
    from sklearn.exceptions import ConvergenceWarning

    return type("NotConverged", (NotConverged, ConvergenceWarning), {"__module__": __name__})


def category() -> type[NotConverged]:
    """The class of the warning; scikit-learn is not imported for it."""
    return _for_scikit() if "sklearn" in sys.modules else NotConverged


def warn(fit: Fit, objective: Objective, optimizer: Any) -> None:
    """Warn the user if the training did not end well.

    If the loss is never zero and there is no penalty, weights that classify every example correctly prove that there is
    no minimum; the reason in the trace is then changed to that.
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
    """The gap or the gradient, and the objective of the last record, if they are known, in parentheses.

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
    """A sentence if the objective is larger than that of zero weights; else empty.

    The running estimate of the trace is checked first; the objective is evaluated only if the estimate is too large.
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
