"""Dual ascent for objectives whose classes are scored together: hinge, log and softmargin losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.optimizers.dual.climb import Climb, Plan, climb
from linnaeus.optimizers.dual.crammer import CRAMMER
from linnaeus.optimizers.dual.joint import Family, Joint
from linnaeus.optimizers.dual.softmax import SOFTMAX
from linnaeus.types import Step

if TYPE_CHECKING:
    from linnaeus.protocols import Objective
    from linnaeus.types import Doubles, Params, Start

MOST = 1 << 28
"""Numbers of a dual, n x k: two gigabytes."""

FAMILIES: dict[str, tuple[Family, Callable[[Any, int], Doubles | None]]] = {
    "hinge": (CRAMMER, lambda space, k: None if space.costs is None else space.head_starts(k)),
    "log": (SOFTMAX, lambda _, __: None),
    "softmargin": (SOFTMAX, lambda space, k: space.head_starts(k)),
}
"""By the name a loss gives itself in `joint`: the kernels, and the costs of an output space."""


def refuse_joint(objective: Objective) -> str | None:
    """Refuse losses without an exact step, penalties other than L2, and problems that do not fit into memory."""
    if _name(objective.loss) is None:
        loss = type(objective.loss).__name__
        return f"DualAscent has no dual step for the {loss} loss in Multiclass."
    penalty = objective.regularizer
    if getattr(penalty, "l1", 1.0) or not getattr(penalty, "l2", 0.0) > 0:
        return f"DualAscent needs an L2 penalty with a positive strength, not {type(penalty).__name__}."
    n, k = objective.X.shape[0], objective.k
    if n * k > MOST:
        return f"DualAscent keeps {n:,} x {k:,} dual variables for joint classes, which is too many."
    return None


def minimize_joint(objective: Objective, tol: float, start: Start, report: Callable[[Step], float | None]) -> None:
    """Until the gap is `tol` of the objective, the planned epochs are over, or `report` raises.

    The objective is the strength times that of the joint problem with C_i = weight_i / strength.
    """
    strength = float(objective.regularizer.l2)
    name = _name(objective.loss)
    assert name is not None
    family, costs = FAMILIES[name]
    X: Any = objective.X
    X = X.to_csr() if hasattr(X, "to_csr") else X
    strengths = np.asarray(objective.weights, np.float64) / strength
    labels = np.asarray(objective.y, np.int32)
    table, bias = costs(objective.space, objective.k), objective.bias
    joint = Joint(X.arrays, X.shape[1], labels, strengths, objective.k, table, bias)  # type: ignore[arg-type]
    before = 0 if start.state else start.epoch  # a state of its own counts the epochs before it
    plan = Plan(tol, start.epochs, start.seed)
    climb(family, joint, plan, lambda work: report(_step(work, strength, before)), (start.state or None, start.warm))


def _name(loss: Any) -> str | None:
    """The name of the loss in `FAMILIES`, if its own class says so: a subclass may have changed the formula."""
    name = vars(type(loss)).get("joint")
    return name if name in FAMILIES else None


def _step(work: Climb, strength: float, before: int) -> Step:
    """What an epoch has come to. The parameters are those being worked on, not copies."""

    def params() -> Params:
        W = {"W": work.arrays["W"]}
        return W if work.joint.bias == "none" else W | {"b": work.arrays["b"]}

    return Step(
        epoch=before + work.epoch,
        params=params,
        state=lambda: {name: value.copy() for name, value in work.arrays.items()},
        value=strength * work.primal if work.fresh else None,
        gap=strength * (work.primal - work.dual) if work.fresh else None,
    )
