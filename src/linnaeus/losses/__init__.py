"""Losses: functions of the scores and the true output that training minimizes.

*Structured* losses are `upper - gold`, see `structured.py`, and work in every output space; *margin* losses are
functions of m = y s (in joint spaces: the score of the truth minus that of its best rival); *point* losses are
functions of s - y, for numbers. Each gives `value_and_grad(space, S, y)`, and `curvature` if second-order solvers can
use it.

To add a loss: a class with `value` and `slope` (see `scalar.py` and docs/adding/loss.md), an import below and a
row in `LOSSES`; the contract tests then run it over every output space. Your own loss needs no row: pass the object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.losses.margin import Exponential as Exponential
    from linnaeus.losses.margin import Logistic as Logistic
    from linnaeus.losses.margin import ModifiedHuber as ModifiedHuber
    from linnaeus.losses.margin import SquaredHinge as SquaredHinge
    from linnaeus.losses.point import Absolute as Absolute
    from linnaeus.losses.point import Huber as Huber
    from linnaeus.losses.point import Squared as Squared
    from linnaeus.losses.scalar import MarginLoss as MarginLoss
    from linnaeus.losses.scalar import PointLoss as PointLoss
    from linnaeus.losses.scalar import ScalarLoss as ScalarLoss
    from linnaeus.losses.structured import Hinge as Hinge
    from linnaeus.losses.structured import Log as Log
    from linnaeus.losses.structured import Perceptron as Perceptron
    from linnaeus.losses.structured import Probability as Probability
    from linnaeus.losses.structured import SoftMargin as SoftMargin
    from linnaeus.losses.structured import StructuredLoss as StructuredLoss


LOSSES = Table(
    __name__,
    {
        "perceptron": "structured.Perceptron",
        "hinge": "structured.Hinge",
        "log": "structured.Log",
        "softmargin": "structured.SoftMargin",
        "logistic": "margin.Logistic",
        "squared_hinge": "margin.SquaredHinge",
        "exponential": "margin.Exponential",
        "modified_huber": "margin.ModifiedHuber",
        "squared": "point.Squared",
        "absolute": "point.Absolute",
        "huber": "point.Huber",
        "probability": "structured.Probability",
    },
)
"""Every loss by name."""


__getattr__, __dir__ = room(__name__)
