"""The problem that checked data and the parameters of a learner define, and its output space.

`choose_output` chooses the space if the user has not, as `erm.choose` does for optimizers. A cost matrix is part of the
output space, for losses that use costs, or of the decision.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linnaeus.arrays.labels import Labels, refuse_one_class
from linnaeus.arrays.weights import class_weights
from linnaeus.erm.pieces import piece, refuse_unfit
from linnaeus.errors import DataError, UsageError
from linnaeus.learners.linear.probabilities import has_chances
from linnaeus.learners.linear.solving import Problem
from linnaeus.losses import StructuredLoss
from linnaeus.outputs import Binary, Multiclass, MultiLabel, OneVsOne, OneVsRest
from linnaeus.outputs.costs import as_costs, zero_one
from linnaeus.protocols import CostSpace, FrequencySpace, Loss, OneScore, OutputSpace, Rows, capability, has
from linnaeus.types import Doubles, Piece

if TYPE_CHECKING:
    from types import SimpleNamespace

    from linnaeus.estimators.linear import LinearClassifier

    Spec: TypeAlias = LinearClassifier | SimpleNamespace

DECISIONS = ("score", "expected_cost")


def posed(spec: Spec, rows: Rows | None, labels: Labels, weights: Doubles) -> Problem:
    """The problem of these parameters and data; costs are part of the output space, unless the decision uses them."""
    k = len(labels.classes)
    refuse_few_classes(labels)
    space = choose_output(spec.output, piece("loss", spec.loss), k, labels.sets)
    refuse_unfit(space, labels.sets)
    own = None if labels.sets else capability(space, FrequencySpace)
    if own is not None:
        space = own.with_counts(np.bincount(labels.y, minlength=k))
    space = with_costs(spec, space, k)
    space.width(k)
    return Problem(rows, labels.y, class_weights(spec.class_weight, labels, weights), space, k)


def refuse_few_classes(labels: Labels) -> None:
    """Refuse labels that are all of one class, and lists of labels that are all empty."""
    if not labels.sets:
        refuse_one_class(labels.classes)
    elif not len(labels.classes):
        raise DataError("The lists of labels are all empty; at least one row must have a label.")


def choose_output(output: Piece, loss: Loss, k: int, sets: bool) -> Piece:
    """The output space of k classes, or of label sets.

    One-vs-rest and one-vs-one of two classes are one binary problem; one-vs-rest of label sets is multi-label.

    >>> from linnaeus.losses import Hinge, SquaredHinge
    >>> choose_output("auto", Hinge(), k=2, sets=False), choose_output("auto", SquaredHinge(), k=3, sets=False)
    (Binary(costs=None), OneVsRest(costs=None))
    """
    if isinstance(output, str) and output == "auto":
        if sets:
            return MultiLabel()
        if k == 2:
            return Binary()
        return Multiclass() if isinstance(loss, StructuredLoss) else OneVsRest()
    space = piece("output", output)
    if sets and isinstance(space, OneVsRest):
        return MultiLabel()
    if k == 2 and isinstance(space, OneVsRest | OneVsOne):
        return Binary(space.costs)
    return space


def with_costs(spec: Spec, space: Piece, k: int) -> Piece:
    """The output space for training: with the costs, unless the decision uses them."""
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


def minds_costs(loss: Loss, space: Piece) -> bool:
    """Whether the loss depends on costs: its values are compared for plain and doubled costs, on a few scores.

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


def _refuse(loss: Loss, space: OutputSpace) -> None:
    ways = ["a loss that takes costs, such as hinge, softmargin or squared_hinge"]
    if has_chances(loss, space):
        ways.insert(0, "decision='expected_cost' (in a recipe: decision.costs)")
    name, output = type(loss).__name__, type(space).__name__
    raise UsageError(f"The {name} loss has no place for costs in {output} output; use {', or '.join(ways)}.")
