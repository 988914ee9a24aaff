"""The table of matrix faces. Loading it loads scikit-learn."""

from linnaeus.estimators.linear import LinearClassifier
from linnaeus.estimators.named import (
    AveragedPerceptron,
    LeastSquares,
    LinearSVM,
    LogisticRegression,
    MulticlassSVM,
    PassiveAggressive,
    Perceptron,
)
from linnaeus.estimators.regressor import LinearRegressor

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
"""Every estimator on matrices by its plain name."""
