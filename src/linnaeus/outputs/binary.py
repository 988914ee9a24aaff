"""Two classes with one score, which is positive for class 1. Half the parameters of two score columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.kernels.online import SPACES, LabelLists
from linnaeus.outputs.costs import CostTable, as_costs, paid
from linnaeus.outputs.product import Product

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles, Truth


@dataclass(frozen=True)
class Binary(Product):
    """Binary classification by the sign of one score; y (n,) holds 0 and 1. A score of 0 predicts class 0.

    >>> Binary().decode(np.array([[2.0], [-1.0], [0.0]])).tolist()
    [1, 0, 0]
    """

    costs: CostTable | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "costs", as_costs(self.costs))

    def width(self, k: int) -> int:
        """One score."""
        if k != 2:
            raise UsageError(f"The binary output needs 2 classes, not {k}; use multiclass, onevsrest or onevsone.")
        return 1

    def signs(self, y: Truth, w: int) -> Doubles:
        """+1 for class 1, -1 for class 0."""
        return (2.0 * np.asarray(y) - 1.0)[:, None]

    def stakes(self, y: Truth, w: int) -> Doubles | None:
        """The cost of the other class."""
        if self.costs is None:
            return None
        y = np.asarray(y)
        stakes: Doubles = paid(self.costs, 2)[1 - y, y][:, None]
        return stakes

    def label_lists(self, y: Truth, w: int) -> LabelLists:
        """The truth for kernels: class 1 has the one label, class 0 none."""
        stakes = self.stakes(np.arange(2), w)
        offsets = np.concatenate([[0], np.cumsum(np.asarray(y), dtype=np.int64)])
        labels = np.zeros(offsets[-1], np.int32)
        return LabelLists(SPACES["product"], offsets, labels, np.zeros(0) if stakes is None else stakes.ravel())

    def readout(self, k: int) -> Doubles:
        """The matrix (1, 2) from the score to class scores: minus for class 0, plus for class 1."""
        return np.array([[-1.0, 1.0]])

    def decode(self, S: Doubles) -> NDArray[np.intp]:
        """1 where the score is positive."""
        return (S[:, 0] > 0).astype(np.intp)
