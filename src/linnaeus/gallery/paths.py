"""Gradient descent on a bowl: least squares in two weights, and the way that each optimizer goes."""

from __future__ import annotations

import numpy as np

from linnaeus.estimators.regressor import LinearRegressor
from linnaeus.gallery.drawing import level_lines, pairs, picture
from linnaeus.optimizers import SGD, AdaGrad, Momentum
from linnaeus.protocols import Solver
from linnaeus.render.picture import Layer, Lines, Panel, Points
from linnaeus.types import Doubles

X = np.array([[1.0, 0.0], [0.0, 3.0]])
BEST = np.array([2.0, 1.0])
"""The bowl is ||X w - X BEST||^2: nine times as steep in the second weight."""

STEPS = 40
RUNS = {
    "plain": SGD(rate=0.05, batch=2),
    "momentum": Momentum(rate=0.02, decay=0.8, batch=2),
    "AdaGrad": AdaGrad(rate=0.6, batch=2),
    "too large a rate": SGD(rate=0.2235, batch=2),
}
"""What goes down the bowl; every batch is all of the data."""


def walked(optimizer: Solver, steps: int = STEPS) -> Doubles:
    """The weights after each step (steps + 1, 2), from zero."""
    face = LinearRegressor(regularizer="none", optimizer=optimizer, bias="none")
    seen = [np.zeros(2)]
    for _ in range(steps):
        face.partial_fit(X, X @ BEST)
        seen.append(np.asarray(face.coef_, np.float64).ravel().copy())
    return np.array(seen)


def bowl(w: Doubles) -> Doubles:
    """What is minimized, at rows w (n, 2)."""
    return (((w - BEST) @ X.T) ** 2).sum(axis=1)


@picture(columns=2)
def descent() -> list[Panel]:
    """Gradient-descent paths.

    Forty steps down a bowl that is nine times as steep one way as the other: plain steps creep along its floor,
    momentum overshoots and comes back, AdaGrad scales both directions alike, and too large a rate swings from wall to
    wall and away.
    """
    at = np.linspace(-2, 5, 71)
    rings = [Lines(level_lines(at, bowl(pairs(at)), level), 0, "", 0.5) for level in (0.25, 1.0, 3.0, 7.0, 13.0)]
    panels = []
    for name, optimizer in RUNS.items():
        way = walked(optimizer).tolist()
        steps: list[Layer] = [
            Lines([way], 1, "", 1.2),
            Points(way, 0, "weights after each step"),
            Points([(2, 1)], 1, "minimum"),
        ]
        panels.append(Panel([*rings, *steps], name, (-0.6, 3.4), (-1.0, 3.0), "first weight", "second weight"))
    return panels
