"""One binary problem for each class: this class against the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.kernels.online import SPACES, LabelLists, one_each
from linnaeus.outputs.costs import CostTable, as_costs, paid
from linnaeus.outputs.product import Product, rows_where

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles, Ints, Truth


@dataclass(frozen=True)
class OneVsRest(Product):
    """One-vs-rest: k independent binary scores, the largest wins (the lowest index in a tie).

    With costs, a false positive of class j costs l(j, y), and a false negative of the true class costs the mean of l(j,
    y) over its mistakes.

    >>> OneVsRest().decode(np.array([[0.1, 0.3, 0.3]])).tolist()
    [1]
    """

    costs: CostTable | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "costs", as_costs(self.costs))

    def width(self, k: int) -> int:
        """One score for each class."""
        return k

    def signs(self, y: Truth, w: int) -> Doubles:
        """+1 in the column of the class, -1 elsewhere."""
        signs = np.full((len(y), w), -1.0)
        signs[np.arange(len(y)), np.asarray(y)] = 1.0
        return signs

    def sides(self, y: Truth, which: range, w: int) -> list[tuple[Ints, Ints]]:
        """The rows of a class, and all others."""
        y = np.asarray(y)
        return [(rows_where(y == j), rows_where(y != j)) for j in which]

    def stakes(self, y: Truth, w: int) -> Doubles | None:
        """l(j, y) for the wrong classes, their mean for the true one."""
        if self.costs is None:
            return None
        matrix = paid(self.costs, w)
        table = matrix + np.diag(matrix.sum(axis=0) / max(w - 1, 1))
        stakes: Doubles = table.T[np.asarray(y)]
        return stakes

    def label_lists(self, y: Truth, w: int) -> LabelLists:
        """The true classes in the form of the kernels, with costs by true class."""
        stakes = self.stakes(np.arange(w), w)
        return LabelLists(
            SPACES["product"], *one_each(np.asarray(y)), np.zeros(0) if stakes is None else stakes.ravel()
        )

    def decode(self, S: Doubles) -> NDArray[np.intp]:
        """The class with the largest score."""
        found: NDArray[np.intp] = np.argmax(S, axis=1)
        return found
