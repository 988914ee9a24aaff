"""Functions of one number: losses of the margin, the sigmoid of a score, polynomials of degree nine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.sigmoid import sigmoid
from linnaeus.losses import LOSSES
from linnaeus.outputs import Binary
from linnaeus.pipeline import LinearRegressor
from linnaeus.regularizers import L2
from linnaeus.render.picture import Lines, Panel, Picture, Points

if TYPE_CHECKING:
    from linnaeus.types import Doubles

GROUPS = {
    "zero once the margin is kept": ("perceptron", "hinge", "squared_hinge", "modified_huber"),
    "never quite zero": ("log", "logistic", "softmargin", "exponential", "probability"),
    "losses of numbers: too right is wrong": ("squared", "absolute", "huber"),
}
"""Which losses are drawn together."""

HIDDEN = ("logistic", "modified_huber")
"""Those that cover another one, wholly or down to m = -1: they are dashed."""

STRENGTHS = (1e-8, 1e-2, 10.0)
DEGREE = 9


def loss_of_margin(name: str, m: Doubles) -> Doubles:
    """A loss of the table, of scores m for the positive one of two classes."""
    truth = np.ones(len(m), np.int64)
    values: Doubles = LOSSES[name]().value_and_grad(Binary(), m[:, None], truth)[0]
    return values


def losses() -> Picture:
    """Every loss of the table."""
    m = np.linspace(-3, 3, 121)
    panels = []
    for title, names in GROUPS.items():
        drawn = [
            Lines([_path(m, loss_of_margin(name, m))], 1 + i, name, 2.0, "7 6" if name in HIDDEN else "")
            for i, name in enumerate(names)
        ]
        panels.append(Panel(drawn, title, (-3.0, 3.0), (0.0, 8.0), "margin", "loss"))
    said = (
        "Losses as functions of the margin m = y s: those that pass above the step from 1 to 0 at m = 0 bound the "
        "number of mistakes; with two classes log and logistic are one curve."
    )
    return Picture("Losses of the margin", said, panels, columns=3, side=260)


def scaling() -> Picture:
    """What calibration by a sigmoid can say: steeper or flatter, and moved."""
    s = np.linspace(-6, 6, 121)
    pairs = ((0.5, 0.0), (1.0, 0.0), (4.0, 0.0), (1.0, 2.0))
    drawn = [Lines([_path(s, sigmoid(a * s + b))], 1 + i, f"a = {a:g}, b = {b:g}") for i, (a, b) in enumerate(pairs)]
    said = (
        "From a score s to a probability by sigmoid(a s + b): a larger a is surer of the same score, and b moves the "
        "score that means one half."
    )
    return Picture("Sigmoid scaling", said, [Panel(drawn, "", (-6.0, 6.0), (0.0, 1.0), "score", "probability")])


def overfitting() -> Picture:
    """One polynomial, three strengths."""
    x, y = noisy()
    grid = np.linspace(-1, 1, 201)
    points = Points(_path(x, y), 0, "training points")
    panels = [
        Panel(
            [Lines([_path(grid, fitted(strength).predict(powers(grid)))], 2, "polynomial of degree 9"), points],
            f"strength {strength:g}",
            (-1.0, 1.0),
            (-2.0, 2.0),
            "x",
            "y",
        )
        for strength in STRENGTHS
    ]
    said = (
        "Least squares on powers of x up to nine: without a penalty the curve goes through the noise, with too much of "
        "it the curve goes flat, and between the two it follows what made the points."
    )
    return Picture("Overfitting against regularization", said, panels, columns=3, side=240)


def noisy() -> tuple[Doubles, Doubles]:
    """Twelve points of a sine wave with noise."""
    x = np.linspace(-0.95, 0.95, 12)
    return x, np.sin(np.pi * x) + np.random.default_rng(2).normal(size=12) * 0.3


def powers(x: Doubles) -> Doubles:
    """The features x, x^2, ..., x^9 (n, 9)."""
    return x[:, None] ** np.arange(1, DEGREE + 1)


def fitted(strength: float) -> LinearRegressor:
    """The polynomial with this penalty."""
    x, y = noisy()
    penalized = LinearRegressor(regularizer=L2(strength=strength), optimizer="normal_equations")
    return penalized.fit(powers(x), y)  # type: ignore[no-any-return]


def _path(x: Doubles, y: Doubles) -> list[tuple[float, float]]:
    return list(zip(x.tolist(), np.asarray(y).tolist(), strict=True))
