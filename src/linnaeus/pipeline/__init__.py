"""The faces: scikit-learn estimators over the engine. Loading this room loads scikit-learn; `import linnaeus` does not.

`LinearClassifier` and `LinearRegressor` take any pieces; the named methods (`named.py`) are documented recipes of
pieces, and their `composed()` shows which. `choose.py` picks what is left "auto"; `weights.py` and `matrices.py`
check what users give; `fitting.py` trains and `warned.py` says how it ended; `progress.py` shows how far it is,
`checkpoint.py` keeps it.

To add a method: a dataclass whose fields are its knobs, with `composed()`, and a row in `FACES`; the checks of
scikit-learn then run over it.
"""

from linnaeus.pipeline.classifier import LinearClassifier
from linnaeus.pipeline.named import (
    AveragedPerceptron,
    LeastSquares,
    LinearSVM,
    LogisticRegression,
    MulticlassSVM,
    PassiveAggressive,
    Perceptron,
)
from linnaeus.pipeline.regressor import LinearRegressor
from linnaeus.pipeline.warned import NotConverged

FACES = {
    "linear-classifier": LinearClassifier,
    "linear-regressor": LinearRegressor,
    "perceptron": Perceptron,
    "averaged-perceptron": AveragedPerceptron,
    "logistic-regression": LogisticRegression,
    "linear-svm": LinearSVM,
    "multiclass-svm": MulticlassSVM,
    "least-squares": LeastSquares,
    "passive-aggressive": PassiveAggressive,
}
"""Every estimator by its plain name."""

__all__ = [
    "FACES",
    "AveragedPerceptron",
    "LeastSquares",
    "LinearClassifier",
    "LinearRegressor",
    "LinearSVM",
    "LogisticRegression",
    "MulticlassSVM",
    "NotConverged",
    "PassiveAggressive",
    "Perceptron",
]
