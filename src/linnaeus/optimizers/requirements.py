"""What solvers ask of an objective, and the sentences by which they refuse; `erm.check` adds alternatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.protocols import (
    CostSpace,
    CurvedSpace,
    GroupedSpace,
    LossShape,
    MarginForm,
    NewtonLoss,
    PointForm,
    ProductSpace,
    SeparablePenalty,
    SquaredForm,
    capability,
    has,
)

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective


def is_smooth(objective: Objective) -> bool:
    """Whether the sum of losses has a gradient everywhere: no kinks, and no maximum over several rivals."""
    shape = capability(objective.loss, LossShape)
    return shape is not None and shape.smooth and not _rivals(objective)


def is_convex(objective: Objective) -> bool:
    """Whether the sum of losses is known to be convex in the parameters; the loss declares it.

    A margin to the best rival is concave: a decreasing function of it stays convex, unless rivals differ in cost.
    """
    margin, shape = capability(objective.loss, MarginForm), capability(objective.loss, LossShape)
    if margin is not None and _rivals(objective) and (not margin.decreasing or has_costs(objective)):
        return False
    return shape is not None and shape.convex


def _rivals(objective: Objective) -> bool:
    """Whether the margin is taken to the best of several rivals: it has a kink where two of them are equal."""
    joint = has(objective.loss, MarginForm) and not has(objective.space, ProductSpace)
    return joint and objective.space.width(objective.k) > 2


def has_costs(objective: Objective) -> bool:
    """Whether mistakes differ in cost."""
    space = capability(objective.space, CostSpace)
    return space is not None and space.costs is not None


def ridge(objective: Objective) -> float | None:
    """The strength of a pure L2 penalty, strength / 2 ||w||^2, or zero; None for other penalties."""
    penalty = capability(objective.regularizer, SeparablePenalty)
    return float(penalty.l2) if penalty is not None and not penalty.l1 else None


def single_rows(objective: Objective) -> bool:
    """Whether each example is one row of scores; sequences and candidates have several."""
    return not has(objective.space, GroupedSpace)


def refuse_kinks(objective: Objective, name: str) -> str | None:
    """Why a gradient-based solver does not support this loss or penalty; None if it does."""
    loss, shape = type(objective.loss).__name__, capability(objective.loss, LossShape)
    if shape is None or not shape.smooth:
        return f"{name} needs a differentiable objective, and the {loss} loss has a kink."
    if not is_smooth(objective):
        return (
            f"{name} needs a differentiable objective, and the {loss} loss of joint classes has a kink "
            "where two classes have equal scores."
        )
    if ridge(objective) is None:
        penalty = type(objective.regularizer).__name__
        return f"{name} needs a differentiable objective, and the {penalty} penalty has a kink."
    return None


def refuse_flat(objective: Objective, name: str) -> str | None:
    """Why a second-order solver does not support this loss; None if it does."""
    said = refuse_kinks(objective, name)
    if said is None and not has(objective.loss, NewtonLoss):
        loss = type(objective.loss).__name__
        return f"{name} needs second derivatives, and the {loss} loss has none."
    known = capability(objective.space, CurvedSpace) or capability(objective.loss, PointForm)
    if said is None and known is None:
        return f"{name} needs second derivatives, and {type(objective.space).__name__} has none."
    return said


def refuse_curved(objective: Objective, name: str) -> str | None:
    """Why a least-squares solver does not support this objective; None if it does."""
    if (said := refuse_rows(objective, name)) is not None:
        return said
    if not has(objective.loss, SquaredForm):
        loss = type(objective.loss).__name__
        return f"{name} solves least squares, and does not support the {loss} loss."
    if ridge(objective) is None:
        penalty = type(objective.regularizer).__name__
        return f"{name} takes the L2 penalty or none, not {penalty}."
    return None


def refuse_rows(objective: Objective, name: str) -> str | None:
    """Why a solver for examples with one row of scores does not support those with several; None if it does."""
    if single_rows(objective):
        return None
    return f"{name} takes one row of scores for each example, and {type(objective.space).__name__} has several."
