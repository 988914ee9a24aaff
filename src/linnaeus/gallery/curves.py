"""Functions of one number: losses of the margin, which of them are convex, the sigmoid of a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.sigmoid import sigmoid
from linnaeus.losses import LOSSES
from linnaeus.outputs import Binary
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

STEP = "0-1: a mistake"
"""What the step from 1 to 0 is called in the legend."""

CHORD = (20, 140)
"""Numbers of the points of each curve between which a chord is drawn."""


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
        drawn = [Lines([[(-3.0, 1.0), (0.0, 1.0), (0.0, 0.0), (3.0, 0.0)]], 0, STEP, 1.2, "3 3")]
        drawn += [
            Lines([_path(m, loss_of_margin(name, m))], 1 + i, name, 2.0, "7 6" if name in HIDDEN else "")
            for i, name in enumerate(names)
        ]
        panels.append(Panel(drawn, title, (-3.0, 3.0), (0.0, 8.0), "margin", "loss"))
    said = (
        "What a loss charges for a margin m = y s. The dotted step counts mistakes: 1 up to m = 0, then 0. A loss "
        "that runs above the step bounds the number of mistakes. With two classes log and logistic are one curve."
    )
    return Picture("Losses of the margin", said, panels)


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


def convexity() -> Picture:
    """Chords above and below three losses."""
    m = np.linspace(-4, 4, 161)
    step = (m <= 0).astype(np.float64)
    curves = {"logistic": loss_of_margin("logistic", m), "probability": loss_of_margin("probability", m), "0-1": step}
    said = {"logistic": "logistic: convex", "probability": "probability: not convex", "0-1": "0-1: flat but for a step"}
    panels = []
    for name, values in curves.items():
        ends = [(m[i], values[i]) for i in CHORD]
        chord = Lines([ends], 2, "chord between two points", 1.6, "6 4")
        layers: list[Lines | Points] = [Lines([_path(m, values)], 1, "loss"), chord, Points(ends, 1)]
        panels.append(
            Panel(layers, said[name], (-4.0, 4.0), (0.0, 4.2 if name == "logistic" else 1.4), "margin", "loss")
        )
    caption = (
        "The chord between two points of a convex loss never runs below the curve, so that every local minimum is the "
        "global one. The probability of the wrong class is not convex, and the 0-1 loss is flat: no slope says which "
        "way to go. Convex losses stand in for it."
    )
    return Picture("Convex or not", caption, panels)


def _path(x: Doubles, y: Doubles) -> list[tuple[float, float]]:
    return list(zip(x.tolist(), np.asarray(y).tolist(), strict=True))
