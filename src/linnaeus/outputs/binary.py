"""Two classes, one score: yes (class 1) when it is positive. Half the parameters of two score columns."""

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
    """Class 1 against class 0 by the sign of one score; y (n,) holds 0 and 1. At score 0 class 0 wins.

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
        """How the scores of classes are made of the one score (1, 2): it speaks for class 1 and against class 0."""
        return np.array([[-1.0, 1.0]])

    def decode(self, S: Doubles) -> NDArray[np.intp]:
        """1 where the score is positive."""
        return (S[:, 0] > 0).astype(np.intp)
