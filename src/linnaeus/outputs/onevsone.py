"""One binary problem for each pair of classes, combined by votes or by sums of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.outputs.costs import CostTable, as_costs, paid
from linnaeus.outputs.product import Product, rows_where

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles, Ints, Truth


@dataclass(frozen=True)
class OneVsOne(Product):
    """One-vs-one: k (k - 1) / 2 scores; a positive score of the pair (a, b), a < b, means class a.

    Each pair is trained on the rows of its two classes. `reconcile` is "votes" (one vote for each pair won; ties are
    broken by the sums of scores) or "sums".

    >>> OneVsOne().decode(np.array([[1.0, -1.0, -2.0]])).tolist()  # 0 beats 1, 2 beats 0, 2 beats 1
    [2]
    """

    costs: CostTable | None = None
    reconcile: Literal["votes", "sums"] = "votes"

    def __post_init__(self) -> None:
        object.__setattr__(self, "costs", as_costs(self.costs))
        if self.reconcile not in ("votes", "sums"):
            raise UsageError(f"reconcile takes 'votes' or 'sums', not {self.reconcile!r}.")

    def width(self, k: int) -> int:
        """One score for each pair."""
        return k * (k - 1) // 2

    def signs(self, y: Truth, w: int) -> Doubles:
        """+1 for the first class of the pair, -1 for the second, 0 for the others."""
        first, second = pairs(classes_of(w))
        y = np.asarray(y)[:, None]
        signs: Doubles = (y == first).astype(np.float64) - (y == second)
        return signs

    def sides(self, y: Truth, which: range, w: int) -> list[tuple[Ints, Ints]]:
        """The rows of the first class of each pair, and those of the second."""
        first, second = pairs(classes_of(w))
        y = np.asarray(y)
        return [(rows_where(y == first[j]), rows_where(y == second[j])) for j in which]

    def stakes(self, y: Truth, w: int) -> Doubles | None:
        """The cost of predicting the other class of the pair."""
        if self.costs is None:
            return None
        k = classes_of(w)
        first, second = pairs(k)
        y = np.asarray(y)[:, None]
        other = np.where(y == first, second, first)
        return paid(self.costs, k)[other, y]

    def decode(self, S: Doubles) -> NDArray[np.intp]:
        """The class with the most votes, or the largest sum."""
        found: NDArray[np.intp] = np.argmax(self.class_scores(S), axis=1)
        return found

    def readout(self, k: int) -> Doubles:
        """The matrix (w, k) from pair scores to class sums: +1 for the first class of the pair, -1 for the second.

        >>> OneVsOne().readout(3).tolist()
        [[1.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0]]
        """
        first, second = pairs(k)
        R, rows = np.zeros((len(first), k)), np.arange(len(first))
        R[rows, first], R[rows, second] = 1.0, -1.0
        return R

    def class_scores(self, S: Doubles) -> Doubles:
        """Scores of the classes (n, k): the number of votes plus a confidence below one half, or sums."""
        k = classes_of(S.shape[1])
        first, second = pairs(k)
        sums = _gather(S, -S, (first, second), k)
        if self.reconcile == "sums":
            return sums
        votes = _gather((S > 0) + 0.5 * (S == 0), (S < 0) + 0.5 * (S == 0), (first, second), k)
        return votes + sums / (3.0 * (np.abs(sums) + 1.0))


def pairs(k: int) -> tuple[Ints, Ints]:
    """The pairs (a, b) with a < b, in order.

    >>> [p.tolist() for p in pairs(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    first, second = np.triu_indices(k, 1)
    return first.astype(np.int32), second.astype(np.int32)


def classes_of(w: int) -> int:
    """The number of classes with this many pairs.

    >>> classes_of(10)
    5
    """
    return int((1 + np.sqrt(1 + 8 * w)) / 2 + 0.5)


def _gather(won: Doubles, lost: Doubles, pair: tuple[Ints, Ints], k: int) -> Doubles:
    scores = np.zeros((len(won), k))
    for column, (a, b) in enumerate(zip(*pair, strict=True)):
        scores[:, a] += won[:, column]
        scores[:, b] += lost[:, column]
    return scores
