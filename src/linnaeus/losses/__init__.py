"""Losses: how bad scores are for a truth.

*Structured* losses are an upper oracle minus gold and work in every output space; *margin* losses are functions of
m = y s (in joint spaces: gold minus best rival); *point* losses are functions of s - y, for numbers. Each gives
`value_and_grad(space, S, y)`, and `curvature` where second-order solvers can use it.

To add a loss: a class with `value` and `slope` (see `scalar.py` and docs/adding/loss.md), a row in `LOSSES`; the
contract tests then run it over every output space. A loss of your own needs no row: pass the object.
"""

from linnaeus.losses.margin import Exponential, Logistic, ModifiedHuber, SquaredHinge
from linnaeus.losses.point import Absolute, Huber, Squared
from linnaeus.losses.scalar import MarginLoss, PointLoss, ScalarLoss
from linnaeus.losses.structured import Hinge, Log, Perceptron, Probability, SoftMargin, StructuredLoss

LOSSES = {
    "perceptron": Perceptron,
    "hinge": Hinge,
    "log": Log,
    "softmargin": SoftMargin,
    "logistic": Logistic,
    "squared_hinge": SquaredHinge,
    "exponential": Exponential,
    "modified_huber": ModifiedHuber,
    "squared": Squared,
    "absolute": Absolute,
    "huber": Huber,
    "probability": Probability,
}
"""Every loss by its plain name."""

__all__ = [
    "LOSSES",
    "Absolute",
    "Exponential",
    "Hinge",
    "Huber",
    "Log",
    "Logistic",
    "MarginLoss",
    "ModifiedHuber",
    "Perceptron",
    "PointLoss",
    "Probability",
    "ScalarLoss",
    "SoftMargin",
    "Squared",
    "SquaredHinge",
    "StructuredLoss",
]
