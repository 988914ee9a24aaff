"""Any number of labels for each example."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.kernels.online import SPACES, LabelLists
from linnaeus.outputs.product import Product
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles, Ints, Truth


@dataclass(frozen=True)
class MultiLabel(Product):
    """Multi-label classification: k independent scores, one for each label; positive means yes. y is a `LabelSets`.

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

    def sides(self, y: Truth, which: range, w: int) -> list[tuple[Ints, Ints]]:
        """The rows with and without each of these labels, in one pass over the label sets."""
        assert isinstance(y, LabelSets)
        wanted = (y.labels >= which.start) & (y.labels < which.stop)
        rows = np.repeat(np.arange(len(y), dtype=np.int32), np.diff(y.offsets))[wanted]
        labels, everyone = y.labels[wanted], np.arange(len(y), dtype=np.int32)
        found = [rows[labels == j] for j in which]
        return [(yes, np.delete(everyone, yes)) for yes in found]

    def stakes(self, y: Truth, w: int) -> Doubles | None:
        """Every wrong label costs 1: the Hamming cost."""
        return None

    def label_lists(self, y: Truth, w: int) -> LabelLists:
        """The label sets in the form of the kernels."""
        assert isinstance(y, LabelSets)
        return LabelLists(SPACES["product"], y.offsets, y.labels, np.zeros(0))

    def decode(self, S: Doubles) -> NDArray[np.bool_]:
        """True where the score is positive (n, k)."""
        found: NDArray[np.bool_] = S > 0
        return found
