"""What becomes linear in a better representation: truth tables, and points on a line lifted to a parabola."""

from __future__ import annotations

import numpy as np

from linnaeus.estimators.named import LogisticRegression, Perceptron
from linnaeus.gallery.boundaries import Mapped, Side, Sides, scene
from linnaeus.gallery.drawing import Classifies, picture
from linnaeus.gallery.toys import corners
from linnaeus.render.picture import Lines, Panel, Points
from linnaeus.types import Doubles

INNER = np.array([-0.9, -0.5, -0.2, 0.1, 0.4, 0.8])
OUTER = np.array([-2.6, -2.2, -1.7, 1.5, 1.9, 2.3, 2.7])
"""Points on a line: one class within the other."""


def products(X: Doubles) -> Doubles:
    """The features x1, x2, x1 x2."""
    return np.column_stack([X, X[:, 0] * X[:, 1]])


def perceptron() -> Perceptron:
    """A perceptron with time enough."""
    return Perceptron(epochs=200)


def with_product() -> Classifies:
    """The perceptron on x1, x2 and x1 x2."""
    return Mapped(perceptron(), lambda _: products)


@scene
def truth_tables() -> Sides:
    """AND, OR and XOR.

    The four corners are the truth values of two inputs: a line separates the corners where AND or OR is true, but no
    line those of XOR. With the product of the inputs as a third feature the perceptron learns XOR too.
    """
    return (
        Side("AND", perceptron, lambda: corners([0, 0, 0, 1])),
        Side("OR", perceptron, lambda: corners([0, 1, 1, 1])),
        Side("XOR", perceptron, lambda: corners([0, 1, 1, 0])),
        Side("XOR with x1 x2", with_product, lambda: corners([0, 1, 1, 0])),
    )


def lifted() -> LogisticRegression:
    """Logistic regression on (x, x^2)."""
    x = np.r_[INNER, OUTER]
    y = np.repeat([0, 1], [len(INNER), len(OUTER)])
    return LogisticRegression(strength=0.01).fit(np.c_[x, x**2], y)


def cuts(model: LogisticRegression) -> Doubles:
    """Where w1 x + w2 x^2 + b is zero: the points on the line at which the answer changes."""
    (w1, w2), b = np.asarray(model.coef_, np.float64).ravel(), float(np.ravel(model.intercept_)[0])
    return np.sort(np.roots([w2, w1, b]).real)


@picture()
def lift() -> list[Panel]:
    """From one dimension to two.

    No single point on the line has one class to its left and the other to its right. With the square of x as a second
    feature a straight line separates the classes; on the first feature it cuts in two places.
    """
    model, classes = lifted(), (INNER, OUTER)
    ticks = [[(at, -1.0), (at, 1.0)] for at in cuts(model).tolist()]
    flat = [Points(np.c_[x, 0 * x].tolist(), c, f"class {c + 1}") for c, x in enumerate(classes)]
    raised = [Points(np.c_[x, x * x].tolist(), c, f"class {c + 1}") for c, x in enumerate(classes)]
    parabola = [(x, x * x) for x in np.linspace(-3, 3, 61).tolist()]
    (w1, w2), b = np.asarray(model.coef_, np.float64).ravel().tolist(), float(np.ravel(model.intercept_)[0])
    border = [(x, -(b + w1 * x) / w2) for x in (-3.0, 3.0)]
    first = [Lines([[(-3, 0), (3, 0)]], 0, "", 0.8), Lines(ticks, 0, "score 0")]
    second = [Lines([parabola], 0, "", 0.8), Lines([border], 0, "score 0")]
    return [
        Panel([*first, *flat], "one feature: x", (-3, 3), (-4, 4), "x"),
        Panel([*second, *raised], "two features: x and its square", (-3, 3), (-1, 9), "x", "x squared"),
    ]
