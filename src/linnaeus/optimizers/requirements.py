"""Requirements of batch solvers, and their error messages; `erm.check` adds alternatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linnaeus.protocols import Objective


def refuse_kinks(objective: Objective, name: str) -> str | None:
    """Why a gradient-based solver does not support this loss or penalty; None if it does."""
    loss = type(objective.loss).__name__
    if not getattr(objective.loss, "smooth", False):
        return f"{name} needs a differentiable objective, and the {loss} loss has a kink."
    if not objective.smooth:
        return (
            f"{name} needs a differentiable objective, and the {loss} loss of joint classes has a kink "
            "where two classes have equal scores."
        )
    if getattr(objective.regularizer, "l1", 1.0):
        penalty = type(objective.regularizer).__name__
        return f"{name} needs a differentiable objective, and the {penalty} penalty has a kink."
    return None


def refuse_flat(objective: Objective, name: str) -> str | None:
    """Why a second-order solver does not support this loss; None if it does."""
    said = refuse_kinks(objective, name)
    if said is None and not getattr(objective.loss, "second", False):
        loss = type(objective.loss).__name__
        return f"{name} needs second derivatives, and the {loss} loss has none."
    if said is None and not hasattr(objective.space, "soft_dot"):
        return f"{name} needs second derivatives, and {type(objective.space).__name__} has none."
    return said


def refuse_curved(objective: Objective, name: str) -> str | None:
    """Why a least-squares solver does not support this objective; None if it does."""
    if (said := refuse_rows(objective, name)) is not None:
        return said
    if not getattr(objective.loss, "quadratic", False):
        loss = type(objective.loss).__name__
        return f"{name} solves least squares, and does not support the {loss} loss."
    if getattr(objective.regularizer, "l1", 1.0):
        penalty = type(objective.regularizer).__name__
        return f"{name} takes the L2 penalty or none, not {penalty}."
    return None


def refuse_rows(objective: Objective, name: str) -> str | None:
    """Why a solver for examples with one row of scores does not support candidates and sequences; None if it does."""
    if objective.rowwise:
        return None
    return f"{name} takes one row of scores for each example, and {type(objective.space).__name__} has several."
