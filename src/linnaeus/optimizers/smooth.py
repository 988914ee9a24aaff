"""What batch solvers need of an objective, and what to say when it is not there; `erm.check` adds what would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linnaeus.protocols import Objective


def refuse_kinks(objective: Objective, name: str) -> str | None:
    """Why a solver that follows gradients cannot serve a loss or a penalty with kinks."""
    loss = type(objective.loss).__name__
    if not getattr(objective.loss, "smooth", False):
        return f"{name} needs a gradient everywhere, and the {loss} loss has a kink."
    if not objective.smooth:
        return (
            f"{name} needs a gradient everywhere, and the {loss} loss of several classes scored together has a kink "
            "where two rivals are equal."
        )
    if getattr(objective.regularizer, "l1", 1.0):
        penalty = type(objective.regularizer).__name__
        return f"{name} needs a gradient everywhere, and the {penalty} penalty has a kink."
    return None


def refuse_flat(objective: Objective, name: str) -> str | None:
    """Why a solver that uses second derivatives cannot serve a loss that gives none."""
    said = refuse_kinks(objective, name)
    if said is None and not getattr(objective.loss, "second", False):
        loss = type(objective.loss).__name__
        return f"{name} needs second derivatives, and the {loss} loss gives none."
    if said is None and not hasattr(objective.space, "soft_dot"):
        return f"{name} needs second derivatives, and {type(objective.space).__name__} gives none."
    return said


def refuse_curved(objective: Objective, name: str) -> str | None:
    """Why a solver of linear equations cannot serve an objective that is not quadratic."""
    if (said := refuse_rows(objective, name)) is not None:
        return said
    if not getattr(objective.loss, "quadratic", False):
        loss = type(objective.loss).__name__
        return f"{name} solves least squares, and the {loss} loss is not a square."
    if getattr(objective.regularizer, "l1", 1.0):
        penalty = type(objective.regularizer).__name__
        return f"{name} takes the L2 penalty or none, not {penalty}."
    return None


def refuse_rows(objective: Objective, name: str) -> str | None:
    """Why a solver that takes each example for one row of scores cannot serve candidates and sequences."""
    if objective.rowwise:
        return None
    return f"{name} takes one row of scores for each example, and {type(objective.space).__name__} has several."
