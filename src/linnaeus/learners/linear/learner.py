"""`Linear`: the settings of a linear model, as a learner."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, ClassVar

from linnaeus.erm.pieces import KINDS, piece
from linnaeus.frozen import dataclass
from linnaeus.protocols import LearnsCandidates
from linnaeus.types import GroupedLesson, Piece

if TYPE_CHECKING:
    from linnaeus.erm.progress import Watching
    from linnaeus.learners.candidates import FittedCandidates
    from linnaeus.store.parts import Part


def strength_of(regularizer: Piece) -> float | None:
    """The strength of a regularizer; None if it has none."""
    tuned = is_dataclass(regularizer) and "strength" in {field.name for field in fields(regularizer)}
    return float(regularizer.strength) if tuned else None


@dataclass(frozen=True, kw_only=True)
class Linear:
    """Minimizes sum_i weight_i loss(x_i W + b, y_i) + regularizer(W): any pieces, by plain name or as objects.

    `costs` are those of training, l(y', y) in the order of the classes. "auto" chooses the output by the labels, the
    optimizer by the other pieces. `epochs`, `tol` and `seconds` are the stopping criteria. With `held_out`, this share
    of the rows is held out, and training stops after `patience` epochs without a better score on them.

    >>> Linear(loss="hinge").regularizer
    L2(strength=1.0)
    """

    provides: ClassVar[tuple[type, ...]] = (LearnsCandidates,)

    loss: Piece = "log"
    regularizer: Piece = "l2"
    optimizer: Piece = "auto"
    output: Piece = "auto"
    costs: Piece = None
    bias: str = "free"
    class_weight: Piece = None
    epochs: int | None = None
    tol: float | None = 1e-3
    seconds: float | None = None
    held_out: float = 0.0
    patience: int | None = 5

    def __post_init__(self) -> None:
        for kind in KINDS:
            given = getattr(self, kind)
            if not (isinstance(given, str) and given == "auto"):
                object.__setattr__(self, kind, piece(kind, given))

    @property
    def strength(self) -> float | None:
        """The strength of the regularizer; None if it has none."""
        return strength_of(self.regularizer)

    def with_strength(self, strength: float) -> Linear:
        """A copy with another strength of the regularizer."""
        return replace(self, regularizer=replace(self.regularizer, strength=strength))

    def settings(self, seed: int, progress: Watching | None = None, checkpoint: Part | None = None) -> SimpleNamespace:
        """The settings for `solving.solve`: the fields, and those of one training."""
        return SimpleNamespace(**vars(self), decision="score", seed=seed, progress=progress, checkpoint=checkpoint)

    def learn_candidates(self, lesson: GroupedLesson, start: FittedCandidates | None = None) -> FittedCandidates:
        """One weight for each feature of candidates."""
        from linnaeus.learners.candidates import FittedCandidates
        from linnaeus.learners.linear.solving import solve_candidates

        fit = solve_candidates(self, lesson, None if start is None else start.params)
        return FittedCandidates(fit.params, None, fit.trace)
