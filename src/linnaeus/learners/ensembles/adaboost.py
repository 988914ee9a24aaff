"""AdaBoost with stumps on the presence of a word: its model is linear."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus.arrays import CSR, Transposed
from linnaeus.arrays.numerics import sigmoid
from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.ensembles.trees import TreeLearner, weighty
from linnaeus.protocols import ModelChances, Rows
from linnaeus.types import Doubles, Floats, LabelSets, Lesson, Longs, State, Truth

CHANCE = 1e-9
"""If all edges are below this, no stump is better than chance."""

PERFECT = 1e-12
"""An error rate below this counts as zero."""


def boost(X: CSR, Y: Doubles, weights: Doubles, rounds: int) -> Doubles:
    """The steps (d + 1, c) of c boosted votes on presence X (n, d) for signs Y (n, c); the last row is the constant.

    With D_i = weight_i e^(-y_i F_i), scaled to sum 1, the edge of stump j is r_j = sum_i D_i y_i h_j(x_i) = 1 - 2 err.
    The best step along it multiplies the loss by sqrt(1 - r_j^2), so the stump with the largest |r_j| is chosen, the
    first in a tie. Each round computes X.T (D y), in one pass over the columns for all votes.

    >>> X = CSR(np.arange(4), np.array([0, 0, 1], np.int32), np.ones(3, np.float32), 2)
    >>> boost(X, np.array([[1.0], [-1.0], [-1.0]]), np.ones(3), 1).round(3).tolist()  # wrong on one row of three
    [[0.347], [0.0], [0.0]]
    """
    held, F = Transposed(X), np.zeros_like(Y)
    steps, going = np.zeros((X.width + 1, Y.shape[1])), np.arange(Y.shape[1])
    most = 0.5 * np.log(max(2.0 * len(Y) - 1.0, 3.0))
    for _ in range(rounds):
        E = _edges(held, Y[:, going] * _shares(Y[:, going] * F[:, going], weights))
        best = np.abs(E).argmax(axis=0)
        r = E[best, np.arange(len(going))]
        useful = np.abs(r) > CHANCE
        with np.errstate(divide="ignore"):
            a = np.where(useful, np.clip(0.5 * (np.log1p(r) - np.log1p(-r)), -most, most), 0.0)
        steps[best, going] += a
        _move(held.columns, F, (best, going), a)
        going = going[useful & (1.0 - np.abs(r) > PERFECT)]
        if not len(going):
            break
    return steps


def _shares(margins: Doubles, weights: Doubles) -> Doubles:
    """The boosting weights of the rows at these margins (n, c), scaled to sum 1 in each column."""
    D: Doubles = weights[:, None] * np.exp(margins.min(axis=0) - margins)
    D /= D.sum(axis=0)
    return D


def _edges(held: Transposed, G: Doubles) -> Doubles:
    """Sum_i G_i h_j(x_i) of each stump, and of the constant (d + 1, c), limited to 1 against rounding."""
    total: Doubles = G.sum(axis=0)
    edges: Doubles = np.vstack([2.0 * held.tdot(G) - total, total])
    return edges.clip(-1.0, 1.0)


def _move(columns: CSR, F: Doubles, chosen: tuple[Longs, Longs], a: Doubles) -> None:
    """F += a h, for the chosen stump of each vote."""
    d = len(columns)
    for j, vote, step in zip(*chosen, a, strict=True):
        if j == d:
            F[:, vote] += step
            continue
        F[:, vote] -= step
        F[columns.indices[columns.indptr[j] : columns.indptr[j + 1]], vote] += 2.0 * step


CELLS = 1 << 23
"""Rows times classes that are boosted at the same time."""


@dataclass(frozen=True, kw_only=True)
class AdaBoost(TreeLearner):
    """AdaBoost with stumps: each round adds the test "is the feature present?" that lowers the exponential loss most.

        F(x) = sum_j a_j h_j(x),   h_j(x) = +1 where x_j > 0, else -1;   a constant h = 1 is among them
        loss  sum_i weight_i e^(-y_i F(x_i)),    step  a = 1/2 log((1 - err) / err)

    `err` is the weighted error rate of the stump, and the step is the exact minimum along its coordinate. The step of a
    perfect stump is limited to that of a stump that is wrong on half a row of n, a = 1/2 log(2n - 1). Training of a
    class ends before `rounds` after a perfect stump, or if no stump is better than chance.

    More than two classes, and label sets, are one-vs-rest problems. F is half the log-odds, so the scores are 2 F, and
    for two classes -F and F. On rows of 0 and 1 (values="binary") the model is linear; for other rows only the presence
    of a feature counts. The model expects rows of 0 and 1 if all training rows were so.

    Freund and Schapire, "A decision-theoretic generalization of on-line learning", 1997; Friedman, Hastie and
    Tibshirani, "Additive logistic regression", Annals of Statistics, 2000.

    >>> from linnaeus import Recipe
    >>> from linnaeus.features import Words
    >>> recipe = Recipe(features=Words(values="binary"), learner=AdaBoost(rounds=3))
    >>> recipe.fit([("good film", "pos"), ("bad film", "neg")]).predict(["a good one"]).tolist()
    ['pos']
    """

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets")

    rounds: int = 500

    def learn(self, lesson: Lesson) -> FittedAdaBoost:
        """Boost some classes at a time, each independently."""
        lesson = weighty(lesson)
        X, n = presence(lesson.X), len(lesson.weights)
        plain = bool((lesson.X.to_csr().data == 1).all())
        sets = isinstance(lesson.y, LabelSets)
        votes = lesson.k if sets or lesson.k > 2 else 1
        found, step = np.zeros((X.width + 1, votes), np.float32), max(1, CELLS // n)
        for at in range(0, votes, step):
            columns: Longs = np.arange(at, min(votes, at + step), dtype=np.int64) + (lesson.k - votes)
            found[:, at : at + step] = boost(X, _signs(lesson.y, columns), lesson.weights, self.rounds)
        return FittedAdaBoost(found, "sets" if sets else "classes", plain)


@dataclass(frozen=True, eq=False)
class FittedAdaBoost:
    """A fitted AdaBoost model: the steps of the stumps (d + 1, votes), zero for unused ones; the last is the constant.

    Two classes have one column of votes, for the second class; otherwise each class or label has one. `plain` means
    that rows hold 0 and 1.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("adaboost").fit(texts, labels)
    >>> isinstance(model.model_.body, FittedAdaBoost), model.predict(["good"]).tolist()
    (True, ['pos'])
    """

    provides: ClassVar[tuple[type, ...]] = (ModelChances,)

    steps: Floats
    answers: str = "classes"
    plain: bool = True

    def weights(self) -> tuple[Doubles, Doubles]:
        """W (d, k) and b (k,) for rows of 0 and 1: a h = 2 a x - a."""
        a = self.steps.astype(np.float64)
        W, b = 2.0 * a[:-1], a[-1] - a[:-1].sum(axis=0)
        if self._pair:
            return np.hstack([-W, W]), np.hstack([-b, b])
        return 2.0 * W, 2.0 * b

    @property
    def _pair(self) -> bool:
        """Whether there is one column of votes for two classes."""
        return self.answers == "classes" and self.steps.shape[1] == 1

    def linear(self) -> tuple[Doubles, Doubles] | None:
        """The weights, if rows hold 0 and 1; else None."""
        return self.weights() if self.plain else None

    def scores(self, X: Rows) -> Doubles:
        """Log-odds of each class or label against the rest (n, k); for two classes, minus and plus one half of it."""
        W, b = self.weights()
        return (X if self.plain else presence(X)).dot(W) + b

    def chances(self, S: Doubles) -> Doubles:
        """1 / (1 + e^-2F); of classes, divided by their sum."""
        if self.answers == "sets":
            return sigmoid(S)
        P = sigmoid(2.0 * S if self._pair else S)
        return P / np.maximum(P.sum(axis=1, keepdims=True), 1e-300)

    def state(self) -> State:
        """The steps."""
        return State({"kind": "adaboost", "answers": self.answers, "plain": self.plain}, {"steps": self.steps})

    @classmethod
    def from_state(cls, state: State) -> FittedAdaBoost:
        """Restore the model from its stored state."""
        steps, answers, plain = state.tensors.get("steps"), state.manifest["answers"], state.manifest["plain"]
        if answers not in AdaBoost.answers or not isinstance(plain, bool):
            raise damaged("the kind of its labels is unknown")
        if steps is None or steps.dtype != np.float32 or steps.ndim != 2 or not all(steps.shape):
            raise damaged("the steps of its stumps are not a matrix")
        if not np.isfinite(steps).all():
            raise damaged("a step of its stumps is not finite")
        return cls(steps, answers, plain)


def presence(X: Rows) -> CSR:
    """1 where a value is above zero; other values are left out.

    >>> from linnaeus.arrays import Dense
    >>> presence(Dense(np.array([[0.5, -1.0, 3.0]]))).data.tolist()
    [1.0, 1.0]
    """
    rows = X.to_csr()
    there = rows.data[: rows.nnz] > 0
    if there.all():
        return CSR(rows.indptr, rows.indices, np.ones(rows.nnz, np.float32), rows.width)
    counts = np.concatenate([[0], np.cumsum(there)])
    indices = rows.indices[: rows.nnz][there]
    return CSR(counts[rows.indptr], indices, np.ones(len(indices), np.float32), rows.width)


def _signs(y: Truth, columns: Longs) -> Doubles:
    """+1 where a row has the class or label of a column, else -1 (n, columns)."""
    if not isinstance(y, LabelSets):
        return np.where(np.asarray(y)[:, None] == columns, 1.0, -1.0)
    found = np.full((len(y), len(columns)), -1.0)
    rows = np.repeat(np.arange(len(y)), np.diff(y.offsets))
    inside = (y.labels >= columns[0]) & (y.labels <= columns[-1])
    found[rows[inside], y.labels[inside] - columns[0]] = 1.0
    return found
