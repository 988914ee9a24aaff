"""Curves: losses, convexity, sigmoids, densities and posteriors of two Gaussians."""

from __future__ import annotations

import numpy as np

from linnaeus.arrays.numerics import sigmoid
from linnaeus.estimators.matrix import MatrixClassifier
from linnaeus.gallery.drawing import picture
from linnaeus.learners.bayes import LinearDiscriminant, QuadraticDiscriminant
from linnaeus.losses import LOSSES
from linnaeus.outputs import Binary
from linnaeus.render.picture import Lines, Panel, Points, path
from linnaeus.types import Array, Doubles

GROUPS = {
    "zero once the margin is kept": ("perceptron", "hinge", "squared_hinge", "modified_huber"),
    "never quite zero": ("log", "logistic", "softmargin", "exponential", "probability"),
    "losses of numbers: too right is wrong": ("squared", "absolute", "huber"),
}
"""Which losses are drawn together."""

HIDDEN = ("logistic", "modified_huber")
"""Losses that lie on another curve, everywhere or from m = -1 on, and are drawn dashed."""

STEP = "0-1: a mistake"
"""What the step from 1 to 0 is called in the legend."""

CHORD = (20, 140)
"""Numbers of the points of each curve between which a chord is drawn."""


def loss_of_margin(name: str, m: Doubles) -> Doubles:
    """A loss of the table, of scores m for the positive one of two classes."""
    truth = np.ones(len(m), np.int64)
    return LOSSES[name]().value_and_grad(Binary(), m[:, None], truth)[0]


@picture()
def losses() -> list[Panel]:
    """Losses of the margin.

    What a loss charges for a margin m = y s. The dotted step counts mistakes: 1 up to m = 0, then 0. A loss that runs
    above the step bounds the number of mistakes. With two classes log and logistic are one curve.
    """
    m = np.linspace(-3, 3, 121)
    panels = []
    for title, names in GROUPS.items():
        drawn = [Lines([[(-3.0, 1.0), (0.0, 1.0), (0.0, 0.0), (3.0, 0.0)]], 0, STEP, 1.2, "3 3")]
        drawn += [
            Lines([path(m, loss_of_margin(name, m))], 1 + i, name, 2.0, "7 6" if name in HIDDEN else "")
            for i, name in enumerate(names)
        ]
        panels.append(Panel(drawn, title, (-3.0, 3.0), (0.0, 8.0), "margin", "loss"))
    return panels


@picture()
def scaling() -> list[Panel]:
    """Sigmoid scaling.

    From a score s to a probability by sigmoid(a s + b): a larger a is surer of the same score, and b moves the score
    that means one half.
    """
    s = np.linspace(-6, 6, 121)
    pairs = ((0.5, 0.0), (1.0, 0.0), (4.0, 0.0), (1.0, 2.0))
    drawn = [Lines([path(s, sigmoid(a * s + b))], 1 + i, f"a = {a:g}, b = {b:g}") for i, (a, b) in enumerate(pairs)]
    return [Panel(drawn, "", (-6.0, 6.0), (0.0, 1.0), "score", "probability")]


@picture()
def convexity() -> list[Panel]:
    """Convex or not.

    The chord between two points of a convex loss never runs below the curve, so that every local minimum is the global
    one. The probability of the wrong class is not convex, and the 0-1 loss is flat: no slope says which way to go.
    Convex losses stand in for it.
    """
    m = np.linspace(-4, 4, 161)
    curves = {
        "logistic: convex": (loss_of_margin("logistic", m), 4.2),
        "probability: not convex": (loss_of_margin("probability", m), 1.4),
        "0-1: flat but for a step": ((m <= 0).astype(np.float64), 1.4),
    }
    panels = []
    for title, (values, top) in curves.items():
        ends = [(m[i], values[i]) for i in CHORD]
        chord = Lines([ends], 2, "chord between two points", 1.6, "6 4")
        layers: list[Lines | Points] = [Lines([path(m, values)], 1, "loss"), chord, Points(ends, 1)]
        panels.append(Panel(layers, title, (-4.0, 4.0), (0.0, top), "margin", "loss"))
    return panels


MEANS = (-1.0, 1.5)
WIDTHS = {"one common width": (1.0, 1.0), "two widths": (0.7, 1.8)}
REACH = 6.0


def rows(widths: tuple[float, float]) -> tuple[Doubles, Array]:
    """Two points for each class whose mean and standard deviation are exactly these."""
    X = np.array([[mean + sign * width] for mean, width in zip(MEANS, widths, strict=True) for sign in (-1, 1)])
    return X, np.array([0, 0, 1, 1])


def fitted(widths: tuple[float, float]) -> MatrixClassifier:
    """Discriminant analysis: with one covariance where the widths are equal, with two where they are not."""
    learner = LinearDiscriminant() if widths[0] == widths[1] else QuadraticDiscriminant()
    return MatrixClassifier(learner=learner).fit(*rows(widths))


def density(x: Doubles, mean: float, width: float) -> Doubles:
    """The Gaussian bell."""
    return np.exp(-((x - mean) ** 2) / (2 * width**2)) / (width * np.sqrt(2 * np.pi))


@picture(columns=2)
def gaussians() -> list[Panel]:
    """Two Gaussians become a sigmoid.

    Bayes' rule turns two densities into the probability of a class. Where the Gaussians have one common width, their
    squares cancel and a sigmoid of a linear score is left, the form of logistic regression. With two widths the wider
    class wins on both sides.
    """
    x = np.linspace(-REACH, REACH, 241)
    above, below = [], []
    for title, widths in WIDTHS.items():
        bells = [density(x, mean, width) for mean, width in zip(MEANS, widths, strict=True)]
        drawn = [Lines([path(x, bell)], 1 + c, f"density of class {c + 1}") for c, bell in enumerate(bells)]
        above.append(Panel(drawn, title, (-REACH, REACH), (0.0, 0.6), "x", "density"))
        posterior = fitted(widths).predict_proba(x[:, None])[:, 1]
        line = [Lines([path(x, posterior)], 0, "probability of class 2")]
        name = "the posterior: a sigmoid" if widths[0] == widths[1] else "the posterior: not a sigmoid"
        below.append(Panel(line, name, (-REACH, REACH), (0.0, 1.0), "x", "probability"))
    return above + below
