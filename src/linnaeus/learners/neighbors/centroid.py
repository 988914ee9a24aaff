"""Nearest centroid: a row gets the class whose mean is nearest. A linear classifier."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.base import RowLearner, indicators
from linnaeus.learners.neighbors.learner import refuse_metric
from linnaeus.protocols import Rows
from linnaeus.types import Doubles, Floats, LabelSets, Lesson, State


@dataclass(frozen=True, kw_only=True)
class Centroid(RowLearner):
    """Nearest centroid: a row gets the class whose mean c_y is nearest. The scores are linear in the row.

        euclidean   2 x.c_y - |c_y|^2, which is |x|^2 minus the squared distance to c_y
        cosine      x.c_y / |c_y|, which is |x| times the cosine (Rocchio 1971, Han and Karypis 2000)
        inner       x.c_y

    For label sets, the score of a label is the score of the rows with it minus the score of the rows without it.

    >>> from linnaeus import MatrixClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 2.0], [4.0, 1.0]], ["a", "a", "b"]
    >>> MatrixClassifier(learner=Centroid(metric="euclidean")).fit(X, y).decision_function([[2.0, 9.0]]).tolist()
    [0.0]
    """

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets")

    metric: str = "cosine"

    def __post_init__(self) -> None:
        refuse_metric(self.metric)

    def learn(self, lesson: Lesson) -> FittedCentroid:
        """Compute the class means and their weights."""
        D = indicators(lesson.y, lesson.k) * lesson.weights[:, None]
        inside, sizes = lesson.X.tdot(D), D.sum(axis=0)
        W, b = self._scoring(inside, sizes)
        if isinstance(lesson.y, LabelSets):
            whole, count = lesson.X.tdot(lesson.weights), lesson.weights.sum()
            others, bias = self._scoring(whole[:, None] - inside, count - sizes)
            W, b = W - others, b - bias
        return FittedCentroid(W.astype(np.float32), b)

    def _scoring(self, sums: Doubles, sizes: Doubles) -> tuple[Doubles, Doubles]:
        """Weights and biases of the centers, from sums over rows (d, k) and total row weights (k,)."""
        C = sums / np.where(sizes > 0, sizes, 1.0)
        squares = np.einsum("dk,dk->k", C, C)
        if self.metric == "euclidean":
            return 2 * C, -squares
        if self.metric == "cosine":
            C = C / np.where(squares > 0, np.sqrt(squares), 1.0)
        return C, np.zeros(len(sizes))


@dataclass(frozen=True, eq=False)
class FittedCentroid:
    """A fitted nearest-centroid model: weights (d, k) and biases (k,).

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("nearest-centroid").fit(texts, labels)
    >>> isinstance(model.model_.body, FittedCentroid), model.predict(["good"]).tolist()
    (True, ['pos'])
    """

    W: Floats
    b: Doubles

    def linear(self) -> tuple[Doubles, Doubles]:
        """The weights and biases."""
        return self.W.astype(np.float64), self.b

    def scores(self, X: Rows) -> Doubles:
        """How near each row is to each center (n, k)."""
        return X.dot(self.W) + self.b

    def state(self) -> State:
        """The weights."""
        return State({"kind": "centroid"}, {"W": self.W, "b": self.b})

    @classmethod
    def from_state(cls, state: State) -> FittedCentroid:
        """Restore the model from its stored state."""
        W, b = state.tensors["W"], state.tensors["b"]
        if W.ndim != 2 or W.dtype != np.float32 or b.shape != W.shape[1:] or b.dtype != np.float64:
            raise damaged("the shapes of its centers do not match")
        return cls(W, b)
