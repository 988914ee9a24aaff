"""Two Gaussians and what they say of a class: with one common width a sigmoid, with two widths something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.estimators.matrix import MatrixClassifier
from linnaeus.learners.bayes import LinearDiscriminant, QuadraticDiscriminant
from linnaeus.render.picture import Lines, Panel, Picture

if TYPE_CHECKING:
    from linnaeus.types import Doubles

MEANS = (-1.0, 1.5)
WIDTHS = {"one common width": (1.0, 1.0), "two widths": (0.7, 1.8)}
REACH = 6.0


def rows(widths: tuple[float, float]) -> tuple[Doubles, Any]:
    """Two points for each class whose mean and standard deviation are exactly these."""
    X = np.array([[mean + sign * width] for mean, width in zip(MEANS, widths, strict=True) for sign in (-1, 1)])
    return X, np.array([0, 0, 1, 1])


def fitted(widths: tuple[float, float]) -> MatrixClassifier:
    """Discriminant analysis: with one covariance where the widths are equal, with two where they are not."""
    learner = LinearDiscriminant() if widths[0] == widths[1] else QuadraticDiscriminant()
    return MatrixClassifier(learner=learner).fit(*rows(widths))


def density(x: Doubles, mean: float, width: float) -> Doubles:
    """The Gaussian bell."""
    values: Doubles = np.exp(-((x - mean) ** 2) / (2 * width**2)) / (width * np.sqrt(2 * np.pi))
    return values


def gaussians() -> Picture:
    """Densities above, posteriors below."""
    x = np.linspace(-REACH, REACH, 241)
    above, below = [], []
    for title, widths in WIDTHS.items():
        bells = [density(x, mean, width) for mean, width in zip(MEANS, widths, strict=True)]
        drawn = [Lines([_path(x, bell)], 1 + c, f"density of class {c + 1}") for c, bell in enumerate(bells)]
        above.append(Panel(drawn, title, (-REACH, REACH), (0.0, 0.6), "x", "density"))
        posterior = fitted(widths).predict_proba(x[:, None])[:, 1]
        line = [Lines([_path(x, posterior)], 0, "probability of class 2")]
        name = "the posterior: a sigmoid" if widths[0] == widths[1] else "the posterior: not a sigmoid"
        below.append(Panel(line, name, (-REACH, REACH), (0.0, 1.0), "x", "probability"))
    said = (
        "Bayes' rule turns two densities into the probability of a class. Where the Gaussians have one common width, "
        "their squares cancel and a sigmoid of a linear score is left, the form of logistic regression. With two "
        "widths the wider class wins on both sides."
    )
    return Picture("Two Gaussians become a sigmoid", said, above + below, columns=2)


def _path(x: Doubles, y: Doubles) -> list[tuple[float, float]]:
    return list(zip(x.tolist(), y.tolist(), strict=True))
