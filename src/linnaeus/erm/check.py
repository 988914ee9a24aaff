"""Checks of combinations of loss, output space, regularizer and optimizer, and their error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays import linear
from linnaeus.erm.choose import willing
from linnaeus.errors import UsageError
from linnaeus.protocols import Loss, LossShape, NumberSpace, PointForm, ScalarForm, Solver, capability, has
from linnaeus.types import Params

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective


def check(objective: Objective, optimizer: Solver) -> None:
    """Refuse an invalid combination, with an error message that names alternatives."""
    loss = _name(objective.loss)
    if has(objective.space, NumberSpace) and not has(objective.loss, PointForm):
        raise UsageError(
            f"The {loss} loss compares classes, but the targets are numbers; use squared, absolute or huber."
        )
    check_loss(objective.loss)
    said = optimizer.refuse(objective)
    if said is not None:
        # The solver gives only the reason; the alternatives are added here, because they depend on the objective.
        raise UsageError(f"{said.rstrip('.')}; use {' or '.join(willing(objective))}.")


def check_loss(loss: Loss) -> None:
    """Refuse a user-defined loss whose values or slopes at zero are not finite or have the wrong shape."""
    scalar = capability(loss, ScalarForm)
    if scalar is None:
        return
    zeros = np.zeros((2, 3))
    for name, formula in (("value", scalar.value), ("slope", scalar.slope)):
        with np.errstate(all="ignore"):
            found = formula(zeros)
        if np.shape(found) != zeros.shape:
            raise UsageError(
                f"{name} of the {_name(loss)} loss must return an array of the shape of its argument, but for shape "
                f"{zeros.shape} it returned {np.shape(found)}; compute it element by element."
            )
        if not np.isfinite(found).all():
            raise UsageError(
                f"{name} of the {_name(loss)} loss is not finite at 0, where training begins; correct its formula."
            )


def vanishing(objective: Objective) -> float | None:
    """The value below which the objective has no minimum, because every example is classified correctly.

    Losses that are positive everywhere but tend to zero (logistic, exponential) have no minimum without a penalty if
    some weights classify every example correctly: doubling these weights always lowers the loss. None if there is a
    minimum.
    """
    shape, scalar = capability(objective.loss, LossShape), capability(objective.loss, ScalarForm)
    if shape is None or shape.attained or scalar is None or objective.regularizer.value(np.ones((1, 1))) != 0:
        return None
    lightest = objective.weights[objective.weights > 0].min(initial=np.inf)
    return float(scalar.value(np.zeros(1))[0] * lightest)


def at_zero(objective: Objective) -> float:
    """The objective with all weights zero; all scores are zero, so the rows are not read."""
    total = objective.penalty(objective.initial())
    for rows, X in objective.chunks():
        S = np.zeros((X.shape[0], objective.width))
        values, _ = objective.loss.value_and_grad(objective.space, S, objective.y[rows])
        total += float(values @ objective.weights[rows])
    return total


def decided(objective: Objective, params: Params) -> bool:
    """Whether these weights classify every example correctly."""
    for rows, X in objective.chunks():
        S, y = linear.scores(X, params), objective.y[rows]
        if np.any(objective.space.best(S, y).parts != objective.space.gold(S, y).parts):
            return False
    return True


def _name(piece: object) -> str:
    return type(piece).__name__
