"""Which pieces go together, and what to say when they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.erm.choose import willing
from linnaeus.errors import UsageError
from linnaeus.losses import PointLoss, ScalarLoss
from linnaeus.outputs import Real

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective
    from linnaeus.protocols import Solver
    from linnaeus.types import Params


def check(objective: Objective, optimizer: Solver) -> None:
    """Refuse a combination that has no meaning, in a sentence that names what would work."""
    loss = _name(objective.loss)
    if isinstance(objective.space, Real) and not isinstance(objective.loss, PointLoss):
        raise UsageError(
            f"The {loss} loss compares classes, but the targets are numbers; use squared, absolute or huber."
        )
    check_loss(objective.loss)
    said = optimizer.refuse(objective)
    if said is not None:
        # The solver gives the reason alone: what it would name may refuse this very objective, too.
        raise UsageError(f"{said.rstrip('.')}; use {' or '.join(willing(objective))}.")


def check_loss(loss: Any) -> None:
    """Refuse a loss of one's own whose values or slopes are not one finite number for each number, at zero."""
    if not isinstance(loss, ScalarLoss):
        return
    zeros = np.zeros((2, 3))
    for name in ("value", "slope"):
        with np.errstate(all="ignore"):
            found = getattr(loss, name)(zeros)
        if np.shape(found) != zeros.shape:
            raise UsageError(
                f"{name} of the {_name(loss)} loss takes an array and gives one of the same shape, but for shape "
                f"{zeros.shape} it gave {np.shape(found)}; compute it element by element."
            )
        if not np.isfinite(found).all():
            raise UsageError(
                f"{name} of the {_name(loss)} loss is not finite at 0, where training begins; mend its formula there."
            )


def vanishing(objective: Objective) -> float | None:
    """The value below which the objective proves that it has no minimum: every example is then right.

    Losses that are positive everywhere but tend to zero (logistic, exponential) have no minimum without a penalty when
    some weights decide every example rightly: doubling these weights always helps. None where there is a minimum.
    """
    if getattr(objective.loss, "attained", True) or objective.regularizer.value(np.ones((1, 1))) != 0:
        return None
    lightest = objective.weights[objective.weights > 0].min(initial=np.inf)
    return float(objective.loss.value(np.zeros(1))[0] * lightest)


def at_zero(objective: Objective) -> float:
    """The objective with all weights zero: scores are zero too, so that the rows need not be read."""
    total = objective.penalty(objective.initial())
    for rows, X in objective.chunks():
        S = np.zeros((X.shape[0], objective.width))
        total += float(
            objective.loss.value_and_grad(objective.space, S, objective.y[rows])[0] @ objective.weights[rows]
        )
    return total


def decided(objective: Objective, params: Params) -> bool:
    """Whether these weights decide every example rightly."""
    for rows, X in objective.chunks():
        S, y = objective.scores(X, params), objective.y[rows]
        if np.any(objective.space.best(S, y).parts != objective.space.gold(S, y).parts):
            return False
    return True


def _name(piece: object) -> str:
    return type(piece).__name__
