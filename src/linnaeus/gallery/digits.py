"""The weights of a linear classifier of images are images: a template of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.pipeline import LogisticRegression
from linnaeus.render.picture import Panel, Picture, Shades

if TYPE_CHECKING:
    from linnaeus.types import Doubles


def templates() -> Doubles:
    """Weights (10, 8, 8) of logistic regression on scikit-learn's handwritten digits."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    face = LogisticRegression(strength=10.0).fit(X / 16.0, y)
    return np.asarray(face.coef_, np.float64).reshape(10, 8, 8)


def digits() -> Picture:
    """One small image for each digit."""
    W = templates()
    W = W / np.abs(W).max()
    panels = [Panel([Shades(image.tolist())], f"digit {i}") for i, image in enumerate(W)]
    said = (
        "Weights of logistic regression on images of digits (8 x 8 pixels): ink on an orange pixel speaks for the "
        "digit, ink on a blue one against it."
    )
    return Picture("Weights as templates", said, panels, columns=5, side=120)
