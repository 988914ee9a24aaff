"""Gradient boosting: each tree is fitted to the residuals of the trees before it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus.errors import damaged, expect_within
from linnaeus.frozen import dataclass
from linnaeus.learners.base import FittedJoint, kind_of
from linnaeus.learners.ensembles.trees import TreeLearner, Trees, foreign, planted, stakes, weighty
from linnaeus.protocols import Rows
from linnaeus.types import Array, Doubles, Lesson, Longs, State

EPSILON = float(np.finfo(np.float32).eps)


@dataclass(frozen=True, kw_only=True)
class GradientBoosting(TreeLearner):
    """Gradient boosting: small trees, each fitted to the gradient of the log loss at the scores so far.

        S_0 = log p(y),    S_r = S_{r-1} + rate * tree_r,    tree_r fitted to truth - softmax(S_{r-1})

    The values of leaves are one Newton step on the log loss. Each round grows one tree for each class, for two classes
    only one. Numbers use the squared error, with separate trees for each target. There are `rounds` rounds of trees
    with at most `depth` levels and at least `leaf` rows in a leaf; each tree is grown on a new random `share` of the
    rows. scikit-learn grows them (`n_estimators`, `learning_rate`, `max_depth`, `min_samples_leaf`, `subsample`).

    Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics, 2001.

    >>> from linnaeus import Recipe
    >>> from linnaeus.features import Words
    >>> rows = [("good film", "pos"), ("bad film", "neg"), ("a good one", "pos"), ("a bad one", "neg")]
    >>> Recipe(features=Words(), learner=GradientBoosting(rounds=5)).fit(rows).predict(["so bad"]).tolist()
    ['neg']
    """

    answers: ClassVar[tuple[str, ...]] = ("classes", "numbers")

    rounds: int = 100
    rate: float = 0.1
    depth: int | None = 3
    leaf: int = 1
    share: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("rate", "share"):
            expect_within(name, getattr(self, name), float, "(0, 1]")

    def learn(self, lesson: Lesson) -> FittedGradient:
        """Grow the trees, round by round."""
        lesson = weighty(lesson)
        return self._numbers(lesson) if kind_of(lesson.y) == "numbers" else self._classes(lesson)

    def _classes(self, lesson: Lesson) -> FittedGradient:
        from sklearn.ensemble import GradientBoostingClassifier

        y = np.asarray(lesson.y)
        sizes: Doubles = np.bincount(y, lesson.weights, minlength=lesson.k).astype(np.float64)
        present = np.flatnonzero(sizes)
        base = start(sizes, present)
        if len(present) < 2:
            return FittedGradient(none(lesson.X.shape[1]), base)
        grower = GradientBoostingClassifier(**self._settings(lesson))
        grower.fit(foreign(lesson.X), y, sample_weight=stakes(lesson))
        slots = present[1:] if len(present) == 2 else present
        return FittedGradient(self._planted([grower.estimators_], slots, lesson), base)

    def _numbers(self, lesson: Lesson) -> FittedGradient:
        """Train on each target separately."""
        from sklearn.ensemble import GradientBoostingRegressor

        y = np.asarray(lesson.y)
        X, found = foreign(lesson.X), []
        for target in y.T:
            grower = GradientBoostingRegressor(**self._settings(lesson))
            found.append(grower.fit(X, target, sample_weight=stakes(lesson)).estimators_)
        base: Doubles = np.average(y, axis=0, weights=lesson.weights)
        return FittedGradient(self._planted(found, np.arange(lesson.k), lesson), base, "numbers")

    def _settings(self, lesson: Lesson) -> dict[str, float | None]:
        return {
            "n_estimators": self.rounds,
            "learning_rate": self.rate,
            "max_depth": self.depth,
            "min_samples_leaf": self.leaf,
            "subsample": self.share,
            "random_state": lesson.seed,
        }

    def _planted(self, grown: list[Array], slots: Longs, lesson: Lesson) -> Trees:
        """The trees of all rounds; a row of `grown` has the trees of one round."""
        rounds = np.concatenate(grown, axis=1)
        trees = [grower.tree_ for grower in rounds.ravel()]
        leaves = [self.rate * tree.value[:, 0] for tree in trees]
        columns = np.tile(slots, len(rounds)).tolist()
        return planted(trees, leaves, columns, lesson.X.shape[1])


@dataclass(frozen=True, eq=False)
class FittedGradient(FittedJoint):
    """A fitted gradient boosting model: initial scores (k,), and the trees, each of which adds to one column.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("gradient-boosting").fit(texts, labels)
    >>> isinstance(model.model_.body, FittedGradient), model.predict(["good"]).tolist()
    (True, ['pos'])
    """

    trees: Trees
    base: Doubles
    answers: str = "classes"

    def scores(self, X: Rows) -> Doubles:
        """Logarithms of probabilities up to a constant for each row, or numbers (n, k)."""
        return self.trees.add(X, np.tile(self.base, (X.shape[0], 1)))

    def state(self) -> State:
        """The trees and the initial scores."""
        inside = self.trees.state()
        told = {"kind": "gradient_boosting", "answers": self.answers}
        return State({**told, **inside.manifest}, {**inside.tensors, "base": self.base})

    @classmethod
    def from_state(cls, state: State) -> FittedGradient:
        """Restore the model from its stored state."""
        base, answers = state.tensors.get("base"), state.manifest["answers"]
        if answers not in GradientBoosting.answers or base is None or base.ndim != 1 or base.dtype != np.float64:
            raise damaged("the kind of its labels is unknown")
        if not len(base) or not np.isfinite(base).all():
            raise damaged("its initial scores are not finite numbers")
        return cls(Trees.from_state(state, len(base)), base, answers)


def start(sizes: Doubles, present: Longs) -> Doubles:
    """The initial scores of classes (k,): the logarithms of their shares; for two classes, 0 and the log-odds.

    A class without rows counts as half a row.

    >>> start(np.array([1.0, 3.0]), np.array([0, 1])).round(3).tolist()
    [0.0, 1.099]
    """
    shares = np.maximum(sizes, 0.5) / sizes.sum()
    shares[present] = np.clip(shares[present], EPSILON, 1.0 - EPSILON)
    found: Doubles = np.log(shares)
    middle = found[present[:1]] if len(present) == 2 else found[present].mean(keepdims=True)
    found -= middle
    return found


def none(width: int) -> Trees:
    """No trees."""
    no, numbers = np.zeros(0, np.int32), np.zeros(0, np.float32)
    return Trees(width, np.zeros(1, np.int64), no, no, numbers, no, no, np.zeros((0, 1), np.float32))
