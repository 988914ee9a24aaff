"""Base class of output spaces with independent binary parts: the sign of each score is a yes or a no.

The output "yes" of a part has score s and "no" has score 0, so a part has one parameter vector, not two. Sums over all
2^w outputs are products of sums over the parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.sigmoid import sigmoid
from linnaeus.types import Answer, Margins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles, Ints, Truth


class Product(ABC):
    """Base class of spaces with independent binary parts. A subclass gives the sign and the cost of each part.

    >>> from linnaeus.outputs import Binary, OneVsRest
    >>> issubclass(Binary, Product), issubclass(OneVsRest, Product)
    (True, True)
    """

    @abstractmethod
    def signs(self, y: Truth, w: int) -> Doubles:
        """+1 for yes, -1 for no, 0 if the part is ignored (n, w)."""

    @abstractmethod
    def stakes(self, y: Truth, w: int) -> Doubles | None:
        """The cost of a mistake in each part (n, w); None if all cost 1."""

    def sides(self, y: Truth, which: range, w: int) -> list[tuple[Ints, Ints]]:
        """The positive and the negative rows of some of the w parts; each part is a separate binary problem."""
        signs = self.signs(y, w)
        return [(rows_where(signs[:, j] > 0), rows_where(signs[:, j] < 0)) for j in which]

    def gold(self, S: Doubles, y: Truth) -> Answer:
        """Sum of the scores of the true parts."""
        parts = (self.signs(y, S.shape[1]) > 0).astype(np.float64)
        return Answer(np.einsum("ij,ij->i", S, parts), parts)

    def best(self, S: Doubles, y: Truth) -> Answer:
        """Every part with a positive score; a score of zero counts as a mistake."""
        signs = self.signs(y, S.shape[1])
        parts = (((S > 0) | ((S == 0) & (signs < 0))) & (signs != 0)).astype(np.float64)
        return Answer(np.einsum("ij,ij->i", S, parts), parts)

    def soft(self, S: Doubles, y: Truth) -> Answer:
        """Sum log(1 + e^s), and the probabilities of the parts."""
        asked = self.signs(y, S.shape[1]) != 0
        return Answer((np.logaddexp(0.0, S) * asked).sum(axis=1), sigmoid(S) * asked)

    def soft_dot(self, S: Doubles, V: Doubles, y: Truth) -> Doubles:
        """P (1 - p) V, part by part."""
        p = sigmoid(S)
        moved: Doubles = p * (1.0 - p) * V * (self.signs(y, S.shape[1]) != 0)
        return moved

    def cost(self, S: Doubles, y: Truth) -> Answer:
        """A false positive costs its stake; for a false negative the stake is a constant, less the stake if yes."""
        signs = self.signs(y, S.shape[1])
        stakes = self._stakes(y, S.shape[1])
        return Answer((stakes * (signs > 0)).sum(axis=1), -signs * stakes)

    def margins(self, S: Doubles, y: Truth) -> Margins:
        """Y s for each part."""
        signs = self.signs(y, S.shape[1])
        stakes = self._stakes(y, S.shape[1]) * (signs != 0)
        return Margins(signs * S, stakes, lambda V: V * signs, lambda slopes: slopes * signs)

    def residuals(self, S: Doubles, y: Truth) -> Margins:
        """S - y for each part, with y = +1 or -1: its square is that of 1 - y s."""
        signs = self.signs(y, S.shape[1])
        stakes = self._stakes(y, S.shape[1]) * (signs != 0)
        return Margins(S - signs, stakes, lambda V: V, lambda slopes: slopes)

    def _stakes(self, y: Truth, w: int) -> Doubles:
        stakes = self.stakes(y, w)
        return np.ones((len(y), w)) if stakes is None else stakes


def rows_where(mask: NDArray[np.bool_]) -> Ints:
    """The rows where the mask is true."""
    return np.flatnonzero(mask).astype(np.int32)
