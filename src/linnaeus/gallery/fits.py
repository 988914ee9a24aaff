"""Polynomials through noisy points: too simple, about right, too complex, and what a penalty does."""

from __future__ import annotations

import numpy as np

from linnaeus.estimators.regressor import LinearRegressor
from linnaeus.gallery.drawing import picture
from linnaeus.regularizers import L2
from linnaeus.render.picture import Lines, Panel, Points, path
from linnaeus.types import Doubles

STRENGTHS = (1e-8, 1e-2, 10.0)
DEGREE = 9
DEGREES = {1: "degree 1: underfits", 3: "degree 3: about right", 9: "degree 9: overfits"}
UNPENALIZED = 1e-10
"""Nearly no penalty: enough to make the equations of degree nine solvable."""

DRAWS = 12
"""How many samples show what depends on the sample."""


def noisy(seed: int = 2, n: int = 12) -> tuple[Doubles, Doubles]:
    """Points of a sine wave with noise."""
    x = np.linspace(-0.95, 0.95, n)
    return x, truth(x) + np.random.default_rng(seed).normal(size=n) * 0.3


def truth(x: Doubles) -> Doubles:
    """The wave without noise."""
    return np.sin(np.pi * x)


def powers(x: Doubles, degree: int = DEGREE) -> Doubles:
    """The features x, x^2, ... (n, degree)."""
    return x[:, None] ** np.arange(1, degree + 1)


def fitted(strength: float, degree: int = DEGREE, seed: int = 2) -> LinearRegressor:
    """The polynomial with this penalty."""
    x, y = noisy(seed)
    penalized = LinearRegressor(regularizer=L2(strength=strength), optimizer="normal_equations")
    return penalized.fit(powers(x, degree), y)


def curve(strength: float, degree: int = DEGREE, seed: int = 2) -> list[tuple[float, float]]:
    """What it predicts between -1 and 1."""
    grid = np.linspace(-1, 1, 121)
    return path(grid, fitted(strength, degree, seed).predict(powers(grid, degree)))


def errors() -> tuple[list[int], Doubles, Doubles]:
    """Degrees, and mean squared errors on the training points and on new points, each the mean over many samples."""
    degrees = list(range(1, DEGREE + 1))
    train, new = np.zeros(len(degrees)), np.zeros(len(degrees))
    for seed in range(DRAWS):
        (x, y), (z, t) = noisy(seed), noisy(seed + 1000, 101)
        for i, degree in enumerate(degrees):
            model = fitted(UNPENALIZED, degree, seed)
            train[i] += np.square(model.predict(powers(x, degree)) - y).mean() / DRAWS
            new[i] += np.square(model.predict(powers(z, degree)) - t).mean() / DRAWS
    return degrees, train, new


@picture()
def overfitting() -> list[Panel]:
    """Overfitting against regularization.

    Least squares on powers of x up to nine: without a penalty the curve goes through the noise, with too large a
    penalty it goes flat, and between the two it follows the wave that made the points.
    """
    points = Points(path(*noisy()), 0, "training points")
    return [
        _panel([Lines([curve(strength)], 2, "polynomial of degree 9"), points], f"strength {strength:g}")
        for strength in STRENGTHS
    ]


@picture()
def underfitting() -> list[Panel]:
    """Underfitting and overfitting.

    A line is too simple for the wave and misses both the training points and new ones: it underfits. Degree nine meets
    the training points and misses new ones: it overfits. The error on training points only falls with the degree; the
    error on new points falls and then rises.
    """
    points = Points(path(*noisy()), 0, "training points")
    panels = [
        _panel([Lines([curve(UNPENALIZED, degree)], 2, "polynomial"), points], title)
        for degree, title in DEGREES.items()
    ]
    degrees, train, new = errors()
    at = np.array(degrees, np.float64)
    lines = [
        Lines([path(at, train)], 1, "error on training points"),
        Lines([path(at, new)], 3, "error on new points"),
    ]
    return [*panels, Panel(lines, "errors by degree", (1.0, 9.0), (0.0, 0.6), "degree", "mean squared error")]


@picture()
def variance() -> list[Panel]:
    """Bias and variance.

    Each thin curve is fitted to another sample of twelve points. Lines agree with each other and are wrong in the same
    way: bias. Polynomials of degree nine are right on average, and each of them is far off: variance.
    """
    grid = np.linspace(-1, 1, 121)
    wave = Lines([path(grid, truth(grid))], 0, "the wave that made the points", 2.5)
    panels = []
    for degree, title in {1: "degree 1: bias", 3: "degree 3", 9: "degree 9: variance"}.items():
        fits = [curve(UNPENALIZED, degree, seed) for seed in range(DRAWS)]
        panels.append(_panel([Lines(fits, 2, "fits of twelve samples", 1.0), wave], title))
    return panels


def _panel(layers: list[Lines | Points], title: str) -> Panel:
    return Panel(layers, title, (-1.0, 1.0), (-2.0, 2.0), "x", "y")
