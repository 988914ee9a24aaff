"""How a recipe learns from held-out rows: the strength of its regularizer, probabilities, an honest account."""

from __future__ import annotations

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Cross-fitting: each fold is scored by a model that has not seen it.

    `strengths` are tried from strong to weak, each from where the one before it ended; the best on the held-out rows is
    taken (without any, the learner's own). `folds` 0 leaves it by the size of the data: 10 where it is small, else
    fewer; 1 holds out a fifth once. `rows` bounds how many rows are scored.

    >>> Tuning(strengths=(1.0, 0.1)).strengths
    (1.0, 0.1)
    """

    strengths: tuple[float, ...] = ()
    folds: int = 0
    rows: int = 20_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "strengths", tuple(sorted(map(float, self.strengths), reverse=True)))
        if any(not strength > 0 for strength in self.strengths):
            raise UsageError("Tuning(strengths=...) takes numbers above zero.")
        for name, least in (("folds", 0), ("rows", 1)):
            expect(f"Tuning({name}=...)", getattr(self, name), int)
            if getattr(self, name) < least:
                raise UsageError(f"Tuning({name}=...) is at least {least}, not {getattr(self, name)}.")
