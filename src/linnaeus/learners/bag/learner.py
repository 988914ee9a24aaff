"""`EmbeddingBag`: the settings of a bag of embeddings, as a learner of rows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import ClassVar

import numpy as np

from linnaeus.erm.pieces import piece
from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.bag.fitted import POOLS, FittedBag
from linnaeus.learners.base import RowLearner, counted
from linnaeus.learners.early_stopping import check_early_stopping
from linnaeus.learners.step_settings import one_of
from linnaeus.protocols import LearnsRows, MinimizesLoss, OnlineLoss, capability
from linnaeus.types import Lesson, Piece

LOOKUPS = ("dynamic", "static", "started", "both")
LEAST = {"width": 1, "epochs": 1, "batch": 1, "least": 1, "negatives": 0}


@dataclass(frozen=True, kw_only=True)
class EmbeddingBag(RowLearner):
    """A vector for each feature, pooled over the text, and a linear classifier of the pooled vector (fastText).

    Minimizes sum_i weight_i loss(pool_i O + b, y_i) in O and the vectors, of `width` numbers, by AdaGrad in batches;
    the `rate` falls in a straight line to zero over `epochs`. The `pool` is "mean", "sum" or "max". Features that occur
    in fewer than `least` rows have no vector. `decay` shrinks all vectors and O (weight decay, apart from the loss).

    The `lookup` of vectors is "dynamic": learned; "static": those of `vectors`, a file of word vectors or a
    `WordTable`, stay as they are; "started": learned from there on; "both": static and learned ones, side by side.
    With `negatives`, an example looks at its classes and so many others that are drawn, for outputs of many yes or no.
    With `held_out`, a share of the rows is held out, and the epoch that is best on them is kept; training ends after
    `patience` epochs that are no better. `quantized` stores so many numbers of a vector in one byte, and `most` keeps
    only so many features, those that matter most.

    >>> import numpy as np
    >>> from linnaeus.arrays import as_rows
    >>> from linnaeus.types import Lesson
    >>> X, y = as_rows([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 3.0]]).to_csr(), np.array([0, 1, 0, 1])
    >>> bag = EmbeddingBag(width=4).learn(Lesson(X, y, np.ones(4), 2))
    >>> (bag.scores(X)[:, 0] > 0).tolist()
    [False, True, False, True]
    """

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets")
    provides: ClassVar[tuple[type, ...]] = (LearnsRows, MinimizesLoss)
    tuned: ClassVar[str | None] = "decay"

    width: int = 15
    pool: str = "mean"
    lookup: str = "dynamic"
    vectors: Piece = None
    loss: Piece = "log"
    output: Piece = "auto"
    costs: Piece = None
    class_weight: Piece = None
    negatives: int = 0
    decay: float = 0.0
    rate: float = 0.3
    smoothing: float = 1e-5
    epochs: int = 10
    batch: int = 32
    least: int = 1
    held_out: float = 0.0
    patience: int = 3
    quantized: int | None = None
    most: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", piece("loss", self.loss))
        if not (isinstance(self.output, str) and self.output == "auto"):
            object.__setattr__(self, "output", piece("output", self.output))
        one_of("pool", self.pool, tuple(POOLS))
        one_of("lookup", self.lookup, LOOKUPS)
        if (self.vectors is None) != (self.lookup == "dynamic"):
            raise UsageError('vectors are given, the name of a file or a WordTable, where lookup is not "dynamic".')
        check_early_stopping(self.held_out, self.patience)
        for name, least in LEAST.items():
            expect(f"EmbeddingBag({name}=...)", getattr(self, name), int, least=least)
        for name in ("decay", "rate", "smoothing"):
            _check_number(name, getattr(self, name), zero=name == "decay")
        for name in ("quantized", "most"):
            if getattr(self, name) is not None:
                expect(f"EmbeddingBag({name}=...)", getattr(self, name), int, least=1)
        if capability(self.loss, OnlineLoss) is None:
            raise UsageError(
                f"An embedding bag takes the losses that its kernel knows, not {type(self.loss).__name__}."
            )

    def settings(self, seed: int) -> SimpleNamespace:
        """The fields, as the problem is posed with them."""
        return SimpleNamespace(**vars(self), decision="score", seed=seed)

    def learn(self, lesson: Lesson) -> FittedBag:
        """Learn from rows and labels."""
        from linnaeus.learners.bag.training import train

        return train(self, counted(lesson))


def _check_number(name: str, value: float, *, zero: bool) -> None:
    expect(f"EmbeddingBag({name}=...)", value, float)
    if not (0 <= value < np.inf and (value > 0 or zero)):
        raise UsageError(f"EmbeddingBag({name}=...) is a {'' if zero else 'positive '}number, not {value}.")
