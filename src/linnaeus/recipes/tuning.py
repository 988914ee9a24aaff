"""What a recipe learns from held-out rows: the regularizer's strength, calibrated probabilities, the evaluation."""

from __future__ import annotations

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass

MAX_FOLDS = 1000
"""Each fold is a training of its own."""
USUAL_FOLDS = 10
"""With fewer rows than that, there are as many folds as rows."""


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Cross-validation: each fold is scored by a model that was not trained on it.

    Training tries `strengths` from strong to weak, each starting from the weights of the one before, and takes the best
    on the held-out rows. If `strengths` is empty, it takes the learner's own. With `folds` 0 the number depends on the
    size of the data: 10 for small data, else fewer; 1 holds out a `share` once. `rows` limits how many rows are scored.
    Rows with the same value in the column `by` (a story, a document) are held out together.

    >>> Tuning(strengths=(1.0, 0.1)).strengths
    (1.0, 0.1)
    """

    strengths: tuple[float, ...] = ()
    folds: int = 0
    rows: int = 20_000
    share: float = 0.2
    by: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "strengths", tuple(sorted(map(float, self.strengths), reverse=True)))
        if any(not strength > 0 for strength in self.strengths):
            raise UsageError("Tuning(strengths=...) takes numbers above zero.")
        for name, least in (("folds", 0), ("rows", 1)):
            expect(f"Tuning({name}=...)", getattr(self, name), int)
            if getattr(self, name) < least:
                raise UsageError(f"Tuning({name}=...) is at least {least}, not {getattr(self, name)}.")
        if not 0 < self.share < 1:
            raise UsageError(f"Tuning(share=...) is a share of the rows between 0 and 1, not {self.share}.")
        if self.folds > MAX_FOLDS:
            raise UsageError(f"Tuning(folds=...) is at most {MAX_FOLDS:,}, not {self.folds:,}; 5 or 10 are usual.")


def refuse_folds(tuning: Tuning | None, rows: int) -> None:
    """Refuse more folds than rows; the small defaults of named recipes are lowered instead."""
    if tuning is not None and tuning.folds > max(rows, USUAL_FOLDS):
        raise UsageError(f"{tuning.folds:,} folds are asked for, but there are {rows:,} rows; 5 or 10 folds are usual.")
