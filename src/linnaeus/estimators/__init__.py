"""scikit-learn estimators: recipes for texts, sentences and candidates, and learners on matrices.

Only estimators change themselves, because their users expect it. `TextClassifier` and `TextRegressor` take texts,
`Tagger` sentences, `CandidateClassifier` and `Ranker` examples with candidates; `LinearClassifier`, `LinearRegressor`
and `MatrixClassifier` take any pieces on matrices. The named methods (`named.py`) are documented recipes of pieces, and
their `composed()` shows which.

To add a method on matrices: a dataclass whose fields are its parameters, with `composed()`, and a row in
`FACES`; the checks of scikit-learn then run over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.estimators.linear import LinearClassifier as LinearClassifier
    from linnaeus.estimators.matrix import MatrixClassifier as MatrixClassifier
    from linnaeus.estimators.named import AveragedPerceptron as AveragedPerceptron
    from linnaeus.estimators.named import LeastSquares as LeastSquares
    from linnaeus.estimators.named import LinearSVM as LinearSVM
    from linnaeus.estimators.named import LogisticRegression as LogisticRegression
    from linnaeus.estimators.named import MulticlassSVM as MulticlassSVM
    from linnaeus.estimators.named import PassiveAggressive as PassiveAggressive
    from linnaeus.estimators.named import Perceptron as Perceptron
    from linnaeus.estimators.ranker import CandidateClassifier as CandidateClassifier
    from linnaeus.estimators.ranker import Ranker as Ranker
    from linnaeus.estimators.regressor import LinearRegressor as LinearRegressor
    from linnaeus.estimators.tagger import Tagger as Tagger
    from linnaeus.estimators.text import TextClassifier as TextClassifier
    from linnaeus.estimators.text import TextRegressor as TextRegressor
    from linnaeus.learners.linear.convergence import NotConverged as NotConverged


FACES = Table(
    __name__,
    {
        "linear-classifier": "linear.LinearClassifier",
        "linear-regressor": "regressor.LinearRegressor",
        "perceptron": "named.Perceptron",
        "averaged-perceptron": "named.AveragedPerceptron",
        "logistic-regression": "named.LogisticRegression",
        "linear-svm": "named.LinearSVM",
        "multiclass-svm": "named.MulticlassSVM",
        "least-squares": "named.LeastSquares",
        "passive-aggressive": "named.PassiveAggressive",
    },
)
"""Every linear estimator on matrices by its plain name."""

__getattr__, __dir__ = room(__name__)
