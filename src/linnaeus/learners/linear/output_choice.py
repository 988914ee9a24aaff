"""The output space that fits best, where the user leaves it open; `erm.choose` does the same for optimizers."""

from __future__ import annotations

from typing import Any

from linnaeus.erm.pieces import piece
from linnaeus.losses import StructuredLoss
from linnaeus.outputs import Binary, Multiclass, MultiLabel, OneVsOne, OneVsRest


def choose_output(output: Any, loss: Any, k: int, sets: bool) -> Any:
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
