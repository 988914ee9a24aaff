"""The weights of a linear classifier of images are images: a template of each class."""

from __future__ import annotations

import numpy as np

from linnaeus.estimators.named import LogisticRegression
from linnaeus.gallery.drawing import picture
from linnaeus.render.picture import Panel, Shades
from linnaeus.types import Doubles

STRENGTH = 300.0
"""Strong: weak penalties make weights of single pixels that nobody can read, and answer hardly better."""

FINE = 3
"""Each pixel is drawn as so many in both directions, with values between those of its neighbors."""


def images() -> tuple[Doubles, Doubles]:
    """scikit-learn's handwritten digits: ink (n, 64) from 0 to 1, and which digit each is."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def means() -> Doubles:
    """The mean image of each digit (10, 8, 8)."""
    X, y = images()
    return np.array([X[y == digit].mean(axis=0) for digit in range(10)]).reshape(10, 8, 8)


def templates() -> Doubles:
    """Weights (10, 8, 8) of logistic regression; it has no bias, so that the templates alone answer."""
    face = LogisticRegression(strength=STRENGTH, bias="none").fit(*images())
    return np.asarray(face.coef_, np.float64).reshape(10, 8, 8)


def smooth(image: Doubles) -> Doubles:
    """The image with finer pixels, linear between the middles of the old ones."""
    new = (np.arange(8 * FINE) + 0.5) / FINE - 0.5
    rows = np.array([np.interp(new, np.arange(8), row) for row in image])
    return np.array([np.interp(new, np.arange(8), column) for column in rows.T]).T


@picture(columns=5)
def digits() -> list[Panel]:
    """Weights as templates.

    Above, the mean image of each digit; below, its weights in logistic regression. Ink on an orange pixel counts for
    the digit, ink on a blue pixel against it: the orange parts trace the digit where it differs from the others, and
    the middle of the zero is blue because a zero has no ink there.
    """
    ink, W = means(), templates()
    panels = []
    for first in (0, 5):
        which = range(first, first + 5)
        panels += [Panel([Shades(_grid(ink[i]), "ink of the mean image", ink=True)], f"digit {i}") for i in which]
        panels += [Panel([Shades(_grid(W[i]), "weights: against the digit, for it")], "") for i in which]
    return panels


def _grid(image: Doubles) -> list[list[float]]:
    return smooth(image / np.abs(image).max()).tolist()
