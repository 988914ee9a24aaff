"""One of k classes, scored together: the joint space of the multiclass perceptron, SVM and softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus import kernels
from linnaeus.frozen import dataclass
from linnaeus.kernels.online import SPACES, LabelLists, one_each
from linnaeus.outputs.costs import CostTable, WithCosts, paid
from linnaeus.protocols import ChanceSpace, CurvedSpace, JointSpace, ListedSpace
from linnaeus.types import Answer, Doubles, Margins, Truth

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Multiclass(WithCosts):
    """Multiclass classification: k scores, the largest wins (the lowest index in a tie); takes a cost matrix l(y', y).

    >>> S, y = np.array([[2.4, 1.3, 0.0]]), np.array([0])
    >>> space = Multiclass(costs=[[0, 1, 1], [3, 0, 1], [1, 1, 0]])
    >>> space.best(S + space.cost(S, y).parts, y).value.round(2).tolist()  # the second class, at 1.3 + 3
    [4.3]
    """

    costs: CostTable | None = None
    provides: ClassVar[tuple[type, ...]] = (JointSpace, CurvedSpace, ChanceSpace, ListedSpace)

    def width(self, k: int) -> int:
        """One score for each class."""
        return k

    def gold(self, S: Doubles, y: Truth) -> Answer:
        """The score of the true class."""
        at = np.asarray(y)
        return Answer(S[np.arange(len(S)), at], _one_hot(at, S.shape[1]))

    def best(self, S: Doubles, y: Truth) -> Answer:
        """The largest score; in a tie a wrong class wins over the true one."""
        top = np.argmax(S, axis=1)
        value = S[np.arange(len(S)), top]
        rival = _rivals(S, np.asarray(y))
        top = np.where(S[np.arange(len(S)), rival] == value, rival, top)
        return Answer(value, _one_hot(top, S.shape[1]))

    def soft(self, S: Doubles, y: Truth) -> Answer:
        """Log sum e^s and the softmax."""
        S = np.ascontiguousarray(S, np.float64)
        parts, values = np.empty_like(S), np.empty(len(S))
        kernels.soft_rows(S, parts, values, kernels.thread_count())
        return Answer(values, parts)

    def soft_dot(self, S: Doubles, V: Doubles, y: Truth) -> Doubles:
        """P (V - p.V): the covariance of the class indicators times V."""
        p = self.soft(S, y).parts
        return p * (V - np.einsum("ij,ij->i", p, V)[:, None])

    def cost(self, S: Doubles, y: Truth) -> Answer:
        """The column of the cost matrix that belongs to the truth."""
        return Answer(np.zeros(len(S)), paid(self.costs, S.shape[1]).T[np.asarray(y)])

    def head_starts(self, k: int) -> Doubles:
        """The cost matrix with a row for each true class (k, k), for solvers that take all classes together."""
        return np.ascontiguousarray(paid(self.costs, k).T)

    def margins(self, S: Doubles, y: Truth) -> Margins:
        """The score of the true class minus that of its best rival; with costs, a mistake has the rival's cost."""
        at, rows = np.asarray(y), np.arange(len(S))
        rival = _rivals(S, at)
        stakes = np.ones(len(S)) if self.costs is None else paid(self.costs, S.shape[1])[rival, at]

        def pull(slopes: Doubles) -> Doubles:
            G = np.zeros_like(S)
            G[rows, at] = slopes[:, 0]
            G[rows, rival] = -slopes[:, 0]
            return G

        def push(V: Doubles) -> Doubles:
            return (V[rows, at] - V[rows, rival])[:, None]

        return Margins(push(S), stakes[:, None], push, pull)

    def residuals(self, S: Doubles, y: Truth) -> Margins:
        """Scores minus +1 for the true class and -1 for the others: regression on indicators."""
        R = S + 1.0
        R[np.arange(len(S)), np.asarray(y)] -= 2.0
        return Margins(R, np.ones_like(R), lambda V: V, lambda slopes: slopes)

    def label_lists(self, y: Truth, w: int) -> LabelLists:
        """The true classes in the form of the kernels, with costs by true class."""
        costs = np.zeros(0) if self.costs is None else paid(self.costs, w).T.ravel()
        return LabelLists(SPACES["joint"], *one_each(np.asarray(y)), costs)

    def probabilities(self, S: Doubles, chance: Callable[[Doubles], Doubles]) -> Doubles:
        """The softmax."""
        return self.soft(S, np.zeros(len(S), np.intp)).parts

    def decode(self, S: Doubles) -> NDArray[np.intp]:
        """The class with the largest score."""
        return np.argmax(S, axis=1)


def _rivals(S: Doubles, y: NDArray[np.integer]) -> NDArray[np.intp]:
    """The best class that is not the true one."""
    others = S.copy()
    others[np.arange(len(S)), y] = -np.inf
    return np.argmax(others, axis=1)


def _one_hot(at: NDArray[np.integer], k: int) -> Doubles:
    parts = np.zeros((len(at), k))
    parts[np.arange(len(at)), at] = 1.0
    return parts
