"""Any number of labels for each example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.outputs.product import Product
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles, Truth


@dataclass(frozen=True)
class MultiLabel(Product):
    """k independent yes/no scores, every positive one is a label; y is a `LabelSets`.

    >>> MultiLabel().decode(np.array([[0.5, -1.0, 2.0]])).astype(int).tolist()
    [[1, 0, 1]]
    """

    def width(self, k: int) -> int:
        """One score for each label."""
        return k

    def signs(self, y: Truth, w: int) -> Doubles:
        """+1 for the labels of the example, -1 for the others."""
        assert isinstance(y, LabelSets)
        signs = np.full((len(y), w), -1.0)
        signs[np.repeat(np.arange(len(y)), np.diff(y.offsets)), y.labels] = 1.0
        return signs

    def stakes(self, y: Truth, w: int) -> Doubles | None:
        """Every wrong label costs 1: the Hamming cost."""
        return None

    def decode(self, S: Doubles) -> NDArray[np.bool_]:
        """True where the score is positive (n, k)."""
        found: NDArray[np.bool_] = S > 0
        return found
