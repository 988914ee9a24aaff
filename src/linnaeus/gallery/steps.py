"""AdaBoost on numbers: its stumps ask whether a feature is there, so each number becomes the thresholds it passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.estimators.matrix import MatrixClassifier
from linnaeus.learners.ensembles import AdaBoost

if TYPE_CHECKING:
    from linnaeus.types import Doubles


class Steps:
    """AdaBoost on indicators [x_j > c], for cuts c between neighboring values of the training rows."""

    def __init__(self, rounds: int) -> None:
        self.model = MatrixClassifier(learner=AdaBoost(rounds=rounds))
        self.cuts: list[Doubles] = []

    def fit(self, X: Doubles, y: Any) -> Steps:
        """Learn where to cut and how much each cut counts."""
        self.cuts = [(column[1:] + column[:-1]) / 2 for column in np.sort(X, axis=0).T]
        self.model.fit(self._passed(X), y)
        return self

    def predict(self, X: Doubles) -> Any:
        """Classes."""
        return self.model.predict(self._passed(X))

    def decision_function(self, X: Doubles) -> Any:
        """The weighted sum of the stumps."""
        return self.model.decision_function(self._passed(X))

    def _passed(self, X: Doubles) -> Doubles:
        passed = [X[:, [j]] > cuts for j, cuts in enumerate(self.cuts)]
        return np.hstack(passed).astype(np.float64)
