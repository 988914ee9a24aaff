"""Output spaces with independent binary parts: the sign of each score is a yes or a no.

The output "yes" of a part has score s and "no" has score 0, so a part has one parameter vector, not two. Sums over all
2^w outputs are products of sums over the parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from linnaeus.arrays.numerics import sigmoid
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.kernels.online import SPACES, LabelLists, one_each
from linnaeus.outputs.costs import CostTable, WithCosts, paid
from linnaeus.protocols import (
    ChanceSpace,
    ClassScores,
    CurvedSpace,
    ListedSpace,
    OneScore,
    ProductSpace,
    Readout,
    SetSpace,
)
from linnaeus.types import Answer, Bools, Doubles, Ints, LabelSets, Margins, Truth

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Product(ABC):
    """Base class of spaces with independent binary parts. A subclass gives the sign and the cost of each part.

    >>> from linnaeus.outputs import Binary, OneVsRest
    >>> issubclass(Binary, Product), issubclass(OneVsRest, Product)
    (True, True)
    """

    provides: ClassVar[tuple[type, ...]] = (ProductSpace, CurvedSpace, ChanceSpace)

    def width(self, k: int) -> int:
        """One score for each class or label."""
        return k

    @abstractmethod
    def signs(self, y: Truth, w: int) -> Doubles:
        """+1 for yes, -1 for no, 0 if the part is ignored (n, w)."""

    def stakes(self, y: Truth, w: int) -> Doubles | None:
        """The cost of a mistake in each part (n, w); None if all cost 1: the Hamming cost."""
        return None

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
        return p * (1.0 - p) * V * (self.signs(y, S.shape[1]) != 0)

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

    def probabilities(self, S: Doubles, chance: Callable[[Doubles], Doubles]) -> Doubles:
        """The chances of the classes, normalized; all equal where all are zero."""
        return _normalized(np.asarray(chance(S), np.float64))

    def _stakes(self, y: Truth, w: int) -> Doubles:
        stakes = self.stakes(y, w)
        return np.ones((len(y), w)) if stakes is None else stakes


def _normalized(P: Doubles) -> Doubles:
    """Chances (n, k) divided by their sum; all equal where all are zero."""
    total = P.sum(axis=1, keepdims=True)
    return np.where(total > 0, P, 1.0) / np.where(total > 0, total, P.shape[1])


def rows_where(mask: Bools) -> Ints:
    """The rows where the mask is true."""
    return np.flatnonzero(mask).astype(np.int32)


@dataclass(frozen=True)
class Binary(WithCosts, Product):
    """Binary classification by the sign of one score; y (n,) holds 0 and 1. A score of 0 predicts class 0.

    >>> Binary().decode(np.array([[2.0], [-1.0], [0.0]])).tolist()
    [1, 0, 0]
    """

    costs: CostTable | None = None
    provides: ClassVar[tuple[type, ...]] = (ListedSpace, OneScore, Readout)

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
        return paid(self.costs, 2)[1 - y, y][:, None]

    def label_lists(self, y: Truth, w: int) -> LabelLists:
        """The truth for kernels: class 1 has the one label, class 0 none."""
        stakes = self.stakes(np.arange(2), w)
        offsets = np.concatenate([[0], np.cumsum(np.asarray(y), dtype=np.int64)])
        labels = np.zeros(offsets[-1], np.int32)
        return LabelLists(SPACES["product"], offsets, labels, np.zeros(0) if stakes is None else stakes.ravel())

    def readout(self, k: int) -> Doubles:
        """The matrix (1, 2) from the score to class scores: minus for class 0, plus for class 1."""
        return np.array([[-1.0, 1.0]])

    def probabilities(self, S: Doubles, chance: Callable[[Doubles], Doubles]) -> Doubles:
        """Those of class 0 and of class 1."""
        P = np.asarray(chance(S), np.float64)
        return np.hstack([1.0 - P, P])

    def decode(self, S: Doubles) -> NDArray[np.intp]:
        """1 where the score is positive."""
        return (S[:, 0] > 0).astype(np.intp)


@dataclass(frozen=True)
class OneVsRest(WithCosts, Product):
    """One-vs-rest: k independent binary scores, the largest wins (the lowest index in a tie).

    With costs, a false positive of class j costs l(j, y), and a false negative of the true class costs the mean of l(j,
    y) over its mistakes.

    >>> OneVsRest().decode(np.array([[0.1, 0.3, 0.3]])).tolist()
    [1]
    """

    costs: CostTable | None = None
    provides: ClassVar[tuple[type, ...]] = (ListedSpace,)

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
        return table.T[np.asarray(y)]

    def label_lists(self, y: Truth, w: int) -> LabelLists:
        """The true classes in the form of the kernels, with costs by true class."""
        stakes = self.stakes(np.arange(w), w)
        return LabelLists(
            SPACES["product"], *one_each(np.asarray(y)), np.zeros(0) if stakes is None else stakes.ravel()
        )

    def decode(self, S: Doubles) -> NDArray[np.intp]:
        """The class with the largest score."""
        return np.argmax(S, axis=1)


@dataclass(frozen=True)
class OneVsOne(WithCosts, Product):
    """One-vs-one: k (k - 1) / 2 scores; a positive score of the pair (a, b), a < b, means class a.

    Each pair is trained on the rows of its two classes. `reconcile` is "votes" (one vote for each pair won; ties are
    broken by the sums of scores) or "sums".

    >>> OneVsOne().decode(np.array([[1.0, -1.0, -2.0]])).tolist()  # 0 beats 1, 2 beats 0, 2 beats 1
    [2]
    """

    costs: CostTable | None = None
    provides: ClassVar[tuple[type, ...]] = (ClassScores, Readout)
    reconcile: Literal["votes", "sums"] = "votes"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reconcile not in ("votes", "sums"):
            raise UsageError(f"reconcile takes 'votes' or 'sums', not {self.reconcile!r}.")

    def width(self, k: int) -> int:
        """One score for each pair."""
        return k * (k - 1) // 2

    def signs(self, y: Truth, w: int) -> Doubles:
        """+1 for the first class of the pair, -1 for the second, 0 for the others."""
        first, second = pairs(classes_of(w))
        y = np.asarray(y)[:, None]
        return (y == first).astype(np.float64) - (y == second)

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
        return np.argmax(self.class_scores(S), axis=1)

    def probabilities(self, S: Doubles, chance: Callable[[Doubles], Doubles]) -> Doubles:
        """The mean of a class's chances against the others, p_i = 2/(k(k-1)) sum_j r_ij.

        That is the start of the pairwise coupling of Hastie and Tibshirani (1998).
        """
        R, k = np.asarray(chance(S), np.float64), classes_of(S.shape[1])
        return _normalized(_gather(R, 1.0 - R, pairs(k), k))

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


@dataclass(frozen=True)
class MultiLabel(Product):
    """Multi-label classification: k independent scores, one for each label; positive means yes. y is a `LabelSets`.

    >>> MultiLabel().decode(np.array([[0.5, -1.0, 2.0]])).astype(int).tolist()
    [[1, 0, 1]]
    """

    provides: ClassVar[tuple[type, ...]] = (SetSpace, ListedSpace)

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

    def label_lists(self, y: Truth, w: int) -> LabelLists:
        """The label sets in the form of the kernels."""
        assert isinstance(y, LabelSets)
        return LabelLists(SPACES["product"], y.offsets, y.labels, np.zeros(0))

    def probabilities(self, S: Doubles, chance: Callable[[Doubles], Doubles]) -> Doubles:
        """The chance of each label."""
        return np.asarray(chance(S), np.float64)

    def decode(self, S: Doubles) -> Bools:
        """True where the score is positive (n, k)."""
        return S > 0
