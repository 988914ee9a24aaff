"""`FastText`: what a fastText file says about the training of its classifier."""

from __future__ import annotations

from typing import NoReturn

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.base import RowLearner
from linnaeus.learners.fasttext.heads import HEADS
from linnaeus.types import Lesson


@dataclass(frozen=True)
class FastText(RowLearner):
    """A classifier of fastText; `linnaeus import` reads it, and it is not learned here.

    `loss` is fastText's: "softmax", "hs", "ova" or "ns". `width` is the number of dimensions; `epochs`, `min_count` and
    `negatives` are what it was trained with.

    >>> FastText("hs", width=10).loss
    'hs'
    """

    loss: str = "softmax"
    width: int = 100
    epochs: int = 5
    min_count: int = 1
    negatives: int = 5

    def __post_init__(self) -> None:
        if self.loss not in HEADS:
            raise UsageError(f"FastText(loss=...) must be one of {', '.join(HEADS)}, not {self.loss!r}.")
        expect("FastText(width=...)", self.width, int, 1)
        for name in ("epochs", "min_count", "negatives"):
            expect(f"FastText({name}=...)", getattr(self, name), int)

    def learn(self, lesson: Lesson) -> NoReturn:
        """Refused: the weights are those of a file."""
        raise UsageError(
            "FastText is read from a file of fastText by `linnaeus import`, and does not learn; use another learner."
        )
