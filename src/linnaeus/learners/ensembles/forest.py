"""A decision tree, and a random forest: trees that vote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus import kernels
from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.base import FittedModel, indicators, kind_of
from linnaeus.learners.ensembles.trees import TreeLearner, Trees, foreign, planted, stakes, weighty
from linnaeus.protocols import ModelChances, Rows
from linnaeus.types import Array, Doubles, LabelSets, Lesson, State

if TYPE_CHECKING:
    from sklearn.tree._tree import Tree as SkTree


FLOOR = 1e-3
"""Added to every share before its logarithm is taken, so that a share of zero has a finite score."""


@dataclass(frozen=True, eq=False)
class FittedVotes(FittedModel):
    """A fitted tree or forest. The leaves hold the shares of classes or labels among their rows, or mean numbers (k).

    Scores are log(p + 0.001) for the mean share p over the trees, for label sets log((p + 0.001) / (1 - p + 0.001)),
    and for numbers the mean itself.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("random-forest").fit(texts, labels)
    >>> isinstance(model.model_.body, FittedVotes), model.predict(["good"]).tolist()
    (True, ['pos'])
    """

    provides: ClassVar[tuple[type, ...]] = (ModelChances,)

    trees: Trees
    k: int
    answers: str = "classes"

    def shares(self, X: Rows) -> Doubles:
        """The mean leaf values over the trees (n, k): shares of classes or labels, or numbers."""
        return self.trees.add(X, np.zeros((X.shape[0], self.k))) / len(self.trees)

    def scores(self, X: Rows) -> Doubles:
        """Logarithms of probabilities, log-odds of labels, or numbers (n, k)."""
        P = self.shares(X)
        if self.answers == "numbers":
            return P
        S: Doubles = np.log(P + FLOOR)
        return S if self.answers == "classes" else S - np.log(1.0 - P + FLOOR)

    def chances(self, S: Doubles) -> Doubles:
        """Class probabilities (n, k): the shares."""
        if self.answers == "classes":
            return np.maximum(np.exp(S) - FLOOR, 0.0)
        odds = np.exp(S)
        P: Doubles = (odds * (1.0 + FLOOR) - FLOOR) / (1.0 + odds)
        return np.clip(P, 0.0, 1.0)

    def state(self) -> State:
        """The trees."""
        inside = self.trees.state()
        told = {"kind": "votes", "answers": self.answers, "k": self.k}
        return State({**told, **inside.manifest}, inside.tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedVotes:
        """Restore the model from its stored state."""
        k, answers = state.manifest["k"], state.manifest["answers"]
        if answers not in TreeLearner.answers or not isinstance(k, int) or not 0 < k < 2**31:
            raise damaged("the kind of its labels is unknown")
        trees = Trees.from_state(state, k)
        if not len(trees) or trees.values.shape[1] != k:
            raise damaged("its trees are missing or have other classes")
        if answers != "numbers" and len(trees.values) and not 0 <= trees.values.min() <= trees.values.max() <= 1:
            raise damaged("a leaf of its trees has an invalid share")
        return cls(trees, k, answers)


@dataclass(frozen=True, kw_only=True)
class Tree(TreeLearner):
    """Decision tree: each node tests one feature, and the test is the one that lowers the impurity most.

        Gini impurity  1 - sum_c p_c^2,  of numbers the variance; weighted by the rows on each side

    The tree has at most `depth` levels (None: no limit), and a leaf has at least `leaf` rows. Label sets and several
    numbers share one tree, which lowers the mean impurity. The random seed decides between equally good tests.
    scikit-learn grows the tree (`max_depth`, `min_samples_leaf`) on float32 features.

    Breiman, Friedman, Olshen and Stone, "Classification and regression trees", 1984.

    >>> from linnaeus import Recipe
    >>> from linnaeus.features import Words
    >>> rows = [("not good", "neg"), ("not bad", "pos"), ("good", "pos"), ("bad", "neg")]
    >>> Recipe(features=Words(), learner=Tree()).fit(rows).predict(["not so bad"]).tolist()
    ['pos']
    """

    depth: int | None = 100
    leaf: int = 1

    def learn(self, lesson: Lesson) -> FittedVotes:
        """Grow the tree."""
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        lesson = weighty(lesson)
        classes = kind_of(lesson.y) == "classes"
        kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
        grower = kind(max_depth=self.depth, min_samples_leaf=self.leaf, random_state=lesson.seed)
        grower.fit(foreign(lesson.X), _targets(lesson), sample_weight=stakes(lesson))
        return _votes([grower.tree_], grower.classes_ if classes else None, lesson)


@dataclass(frozen=True, kw_only=True)
class Forest(TreeLearner):
    """Random forest: the mean of many trees, each grown on a bootstrap sample with sqrt(d) random features per test.

    Single trees overfit; their mean does so much less. For numbers, each test may use all features. scikit-learn grows
    the forest (`n_estimators`, `max_depth`, `min_samples_leaf`) on all threads; the trees do not depend on the number
    of threads.

    Breiman, "Random forests", Machine Learning, 2001.

    >>> from linnaeus import Recipe
    >>> from linnaeus.features import Words
    >>> rows = [("good film", "pos"), ("bad film", "neg"), ("a good one", "pos"), ("a bad one", "neg")]
    >>> Recipe(features=Words(), learner=Forest(trees=10)).fit(rows).predict(["so bad"]).tolist()
    ['neg']
    """

    trees: int = 100
    depth: int | None = None
    leaf: int = 1

    def learn(self, lesson: Lesson) -> FittedVotes:
        """Grow the trees."""
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        lesson = weighty(lesson)
        kind = kind_of(lesson.y)
        settings = {
            "n_estimators": self.trees,
            "max_depth": self.depth,
            "min_samples_leaf": self.leaf,
            "random_state": lesson.seed,
            "n_jobs": kernels.thread_count(),
        }
        if kind == "classes":
            grower = RandomForestClassifier(**settings)
        else:  # the mean of 0 and 1 is the share of rows with a label, so these are classification trees
            grower = RandomForestRegressor(**settings, max_features="sqrt" if kind == "sets" else 1.0)
        y = _targets(lesson)
        one = y.ndim == 2 and y.shape[1] == 1
        grower.fit(foreign(lesson.X), y[:, 0] if one else y, sample_weight=stakes(lesson))
        trees = [one.tree_ for one in grower.estimators_]
        return _votes(trees, grower.classes_ if kind == "classes" else None, lesson)


def _targets(lesson: Lesson) -> Array:
    """Classes, numbers (n, k), or 1 for the labels of each row and 0 for the others."""
    return indicators(lesson.y, lesson.k) if isinstance(lesson.y, LabelSets) else lesson.y


def _votes(grown: Sequence[SkTree], present: Array | None, lesson: Lesson) -> FittedVotes:
    """The model from scikit-learn's fitted trees; `present` are the classes with rows."""
    leaves = [_worth(tree, present, lesson.k) for tree in grown]
    return FittedVotes(planted(grown, leaves, [0] * len(grown), lesson.X.shape[1]), lesson.k, kind_of(lesson.y))


def _worth(tree: SkTree, present: Array | None, k: int) -> Doubles:
    """The shares of all k classes in each node, or the means of numbers (nodes, k)."""
    if present is None:
        return tree.value[:, :, 0]
    found = np.zeros((tree.node_count, k))
    found[:, np.asarray(present, np.intp)] = tree.value[:, 0] / tree.value[:, 0].sum(axis=1, keepdims=True)
    return found
