"""Which pieces go together, and what to say when they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.errors import UsageError
from linnaeus.losses import PointLoss
from linnaeus.outputs import Real

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective
    from linnaeus.protocols import Solver


def check(objective: Objective, optimizer: Solver) -> None:
    """Refuse a combination that has no meaning, in a sentence that names what would work."""
    loss = _name(objective.loss)
    if isinstance(objective.space, Real) and not isinstance(objective.loss, PointLoss):
        raise UsageError(
            f"The {loss} loss compares classes, but the targets are numbers; use squared, absolute or huber."
        )
    said = optimizer.refuse(objective)
    if said is not None:
        raise UsageError(said)


def _name(piece: object) -> str:
    return type(piece).__name__
