"""The model of a decision tree or a random forest: the mean of the leaf values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.ensembles.trees import Trees
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles

FLOOR = 1e-3
"""Added to every share before its logarithm is taken, so that a share of zero has a finite score."""

ANSWERS = ("classes", "sets", "numbers")


@dataclass(frozen=True, eq=False)
class FittedVotes:
    """A fitted tree or forest. The leaves hold the shares of classes or labels among their rows, or mean numbers (k).

    Scores are log(p + 0.001) for the mean share p over the trees, for label sets log((p + 0.001) / (1 - p + 0.001)),
    and for numbers the mean itself.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("random-forest").fit(texts, labels)
    >>> isinstance(model.model_.body, FittedVotes), model.predict(["good"]).tolist()
    (True, ['pos'])
    """

    trees: Trees
    k: int
    answers: str = "classes"

    def linear(self) -> None:
        """None: the effect of a feature depends on the other features."""
        return

    def shares(self, X: Rows) -> Doubles:
        """The mean leaf values over the trees (n, k): shares of classes or labels, or numbers."""
        found: Doubles = self.trees.add(X, np.zeros((X.shape[0], self.k))) / len(self.trees)
        return found

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
        if answers not in ANSWERS or not isinstance(k, int) or not 0 < k < 2**31:
            raise damaged("the kind of its labels is unknown")
        trees = Trees.from_state(state, k)
        if not len(trees) or trees.values.shape[1] != k:
            raise damaged("its trees are missing or have other classes")
        if answers != "numbers" and len(trees.values) and not 0 <= trees.values.min() <= trees.values.max() <= 1:
            raise damaged("a leaf of its trees has an invalid share")
        return cls(trees, k, answers)
