"""Where a cost matrix goes: into the output space, for losses that look there, or into the decision."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.erm.pieces import piece
from linnaeus.errors import UsageError
from linnaeus.learners.linear.probabilities import has_chances
from linnaeus.outputs.costs import as_costs, zero_one
from linnaeus.protocols import CostSpace, OneScore, capability, has

if TYPE_CHECKING:
    from linnaeus.estimators.linear import LinearClassifier

DECISIONS = ("score", "expected_cost")


def with_costs(spec: LinearClassifier, space: Any, k: int) -> Any:
    """The output space to train in: with the costs, unless the decision has them."""
    if spec.decision not in DECISIONS:
        raise UsageError(f"decision takes {' or '.join(map(repr, DECISIONS))}, not {spec.decision!r}.")
    costs, loss = as_costs(spec.costs, k), piece("loss", spec.loss)
    if spec.decision == "expected_cost":
        if costs is None:
            raise UsageError("decision='expected_cost' needs costs, a square matrix l(y', y) over the classes.")
        if not has_chances(loss, space):
            raise UsageError("decision='expected_cost' needs probabilities; use a loss that has them, such as log.")
        return space
    if costs is not None:
        if "costs" not in {field.name for field in fields(space)}:
            raise UsageError(f"costs needs one class for each row; the output {type(space).__name__} has none.")
        space = replace(space, costs=costs)
    own = capability(space, CostSpace)
    if own is not None and as_costs(own.costs, k) is not None and not minds_costs(loss, space):
        _refuse(loss, space)
    return space


def minds_costs(loss: Any, space: Any) -> bool:
    """Whether the loss is another one when mistakes cost twice as much: asked on scores of one row for each class.

    >>> from linnaeus.losses import Hinge, Log
    >>> from linnaeus.outputs import Binary
    >>> minds_costs(Hinge(), Binary()), minds_costs(Log(), Binary())
    (True, False)
    """
    k = 2 if has(space, OneScore) else 3
    y, S = np.arange(k), np.linspace(-0.3, 0.4, k * space.width(k)).reshape(k, -1)
    twice = tuple(map(tuple, (2.0 * zero_one(k)).tolist()))
    plain, dear = (loss.value_and_grad(replace(space, costs=costs), S, y)[0] for costs in (None, twice))
    return not np.array_equal(plain, dear)


def _refuse(loss: Any, space: Any) -> None:
    ways = ["a loss that takes costs, such as hinge, softmargin or squared_hinge"]
    if has_chances(loss, space):
        ways.insert(0, "decision='expected_cost' (in a recipe: decision.costs)")
    name, output = type(loss).__name__, type(space).__name__
    raise UsageError(f"The {name} loss has no place for costs in {output} output; use {', or '.join(ways)}.")
