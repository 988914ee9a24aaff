"""Learners: from rows and labels to a fitted model that gives scores. `Linear` is the engine of `erm`."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from linnaeus.erm.pieces import KINDS, piece
from linnaeus.frozen import dataclass


@dataclass(frozen=True, kw_only=True)
class Linear:
    """Minimizes sum_i weight_i loss(x_i W + b, y_i) + regularizer(W): any pieces, by plain name or as objects.

    `costs` are those of training, l(y', y) in the order of the classes; "auto" leaves a choice to the labels (output)
    and to the pieces (optimizer). `epochs`, `tol` and `seconds` say when to stop.

    >>> Linear(loss="hinge").regularizer
    L2(strength=1.0)
    """

    loss: Any = "log"
    regularizer: Any = "l2"
    optimizer: Any = "auto"
    output: Any = "auto"
    costs: Any = None
    bias: str = "free"
    class_weight: Any = None
    epochs: int | None = None
    tol: float | None = 1e-3
    seconds: float | None = None

    def __post_init__(self) -> None:
        for kind in KINDS:
            given = getattr(self, kind)
            if not (isinstance(given, str) and given == "auto"):
                object.__setattr__(self, kind, piece(kind, given))

    @property
    def strength(self) -> float | None:
        """The strength of the regularizer; None where it has none to tune."""
        found = getattr(self.regularizer, "strength", None)
        return None if found is None else float(found)

    def with_strength(self, strength: float) -> Linear:
        """The same, regularized with another strength."""
        return replace(self, regularizer=replace(self.regularizer, strength=strength))

    def settings(self, seed: int, progress: Any = None) -> Any:
        """What `fitting.solve` reads: the fields, and what a text learner leaves at rest."""
        rest = {"held_out": 0.0, "patience": None, "checkpoint": None, "decision": "score"}
        return SimpleNamespace(**vars(self), **rest, seed=seed, progress=progress)
