"""Soft margins: how far points stand on the wrong side of their rim, and what a strength does about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.estimators.named import LinearSVM
from linnaeus.gallery.boundary import CELLS, boundaries, lattice
from linnaeus.gallery.toys import overlapping
from linnaeus.render.picture import Lines, Panel, Picture, Points, Regions

if TYPE_CHECKING:
    from linnaeus.types import Doubles

STRENGTHS = (0.1, 5.0)


def fitted(strength: float) -> LinearSVM:
    """The support vector machine of the two clouds."""
    toy = overlapping()
    return LinearSVM(strength=strength, tol=1e-6).fit(toy.X, toy.y)


def slack_lines(model: LinearSVM) -> tuple[Doubles, Doubles]:
    """Slacks max(0, 1 - y s) of the points that have one (m,), and lines from each to its rim (m, 2, 2)."""
    toy = overlapping()
    sign = 2.0 * toy.y - 1
    slacks = np.maximum(0.0, 1 - sign * model.decision_function(toy.X))
    late = slacks > 1e-3
    w = np.asarray(model.coef_, np.float64).ravel()
    ends = toy.X[late] + (sign * slacks)[late, None] * w / (w @ w)
    return slacks[late], np.stack([toy.X[late], ends], axis=1)


def slack() -> Picture:
    """A narrow strip with little slack, a wide one with more."""
    toy = overlapping()
    at, grid = lattice(toy.limits)
    panels = []
    for strength in STRENGTHS:
        model = fitted(strength)
        slacks, lines = slack_lines(model)
        layers: list[Any] = [Regions(np.asarray(model.predict(grid)).reshape(CELLS, CELLS).tolist())]
        layers += boundaries(model.decision_function(grid).reshape(CELLS, CELLS), at, (-1.0, 0.0, 1.0))
        layers.append(Lines([[tuple(end) for end in line] for line in lines.tolist()], 4, "slack", 2.6))
        layers += [Points([tuple(x) for x in toy.X[toy.y == c].tolist()], c, f"class {c + 1}") for c in (0, 1)]
        title = f"strength {strength:g}: slack {slacks.sum():.1f} in all"
        panels.append(Panel(layers, title, toy.limits, toy.limits, "first feature", "second feature"))
    said = (
        "No line separates these points, so some must stand on the wrong side of their rim, where the score is 1 or "
        "-1. The pink line is the way back to the rim, and the slack is its length times the length of the weights. A "
        "larger strength makes the strip wider and allows more slack."
    )
    return Picture("Slack of a soft margin", said, panels)
