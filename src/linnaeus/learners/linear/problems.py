"""From checked data and the parameters of a learner to the problem they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linnaeus.arrays.labels import Labels, refuse_one_class
from linnaeus.arrays.weights import class_weights
from linnaeus.erm.pieces import piece
from linnaeus.errors import DataError, UsageError
from linnaeus.learners.linear.costs import with_costs
from linnaeus.learners.linear.output_choice import choose_output
from linnaeus.learners.linear.solving import Problem
from linnaeus.protocols import NumberSpace, SetSpace, has

if TYPE_CHECKING:
    from linnaeus.types import Doubles


def posed(spec: Any, rows: Any, labels: Labels, weights: Doubles) -> Problem:
    """The problem these parameters make of these data; costs go into the output space, unless the decision has them."""
    k = len(labels.classes)
    if not labels.sets:
        refuse_one_class(labels.classes)
    if not k:
        raise DataError("The lists of labels are all empty; at least one row must have a label.")
    space = choose_output(spec.output, piece("loss", spec.loss), k, labels.sets)
    if has(space, NumberSpace) or has(space, SetSpace) != labels.sets:
        wanted = "multilabel" if labels.sets else "one of binary, multiclass, onevsrest and onevsone"
        raise UsageError(f"The output {type(space).__name__} does not fit these labels; use {wanted}, or 'auto'.")
    space = with_costs(spec, space, k)
    space.width(k)
    return Problem(rows, labels.y, class_weights(spec.class_weight, labels, weights), space, k)
