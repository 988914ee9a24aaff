"""What pictures share: titles and captions from docstrings, the plane of two features, lines of equal value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from linnaeus.gallery.toys import Toy
from linnaeus.render.picture import Layer, Lines, Pair, Panel, Picture, Points, Regions, contour
from linnaeus.types import Array, Doubles

CELLS = 100
"""Cells of the grid in each direction."""


class Classifies(Protocol):
    """What is drawn: any classifier with the face of scikit-learn."""

    def fit(self, X: Doubles, y: Array) -> object:
        """Learn."""

    def predict(self, X: Doubles) -> Array:
        """Classes."""

    def decision_function(self, X: Doubles) -> Doubles:
        """Scores, positive for the second class of two."""


def picture(columns: int = 3) -> Callable[[Callable[[], Sequence[Panel]]], Callable[[], Picture]]:
    """Make a picture of a function that gives its panels; its docstring has the title, and below it the caption."""

    def made(panels: Callable[[], Sequence[Panel]]) -> Callable[[], Picture]:
        return lambda: Picture(*described(panels), panels(), columns)

    return made


def described(function: Callable[[], object]) -> tuple[str, str]:
    """The title and the caption in a docstring."""
    title, _, caption = (function.__doc__ or "").partition("\n\n")
    return title.rstrip("."), " ".join(caption.split())


def plane(toy: Toy, layers: Sequence[Layer], title: str) -> Panel:
    """The plane of two features: layers, and above them the points of each class."""
    points = [Points(toy.X[toy.y == c].tolist(), c, f"class {c + 1}") for c in range(int(toy.y.max()) + 1)]
    return Panel([*layers, *points], title, toy.limits, toy.limits, "first feature", "second feature")


def answers(model: Classifies, grid: Doubles) -> Regions:
    """The class of each cell."""
    return Regions(model.predict(grid).reshape(CELLS, CELLS).tolist())


def shaded(model: Classifies, grid: Doubles) -> Regions:
    """The class of each cell, shaded by its probability where the model has probabilities."""
    # scikit-learn's convention: a classifier without probabilities has no such method.
    chances = getattr(model, "predict_proba", None)
    if chances is None:
        return answers(model, grid)
    P = np.asarray(chances(grid))
    k = P.shape[1]
    sure = ((P.max(axis=1) - 1 / k) / (1 - 1 / k)).reshape(CELLS, CELLS)
    said = "probability of class 2, from 0 to 1" if k == 2 else f"probability of the class, from 1/{k} to 1"
    return Regions(answers(model, grid).classes, said, sure.tolist())


def lattice(limits: tuple[float, float]) -> tuple[Doubles, Doubles]:
    """The middles of the cells along one axis, and of all cells as rows (CELLS^2, 2), the bottom row first."""
    low, high = limits
    at = low + (np.arange(CELLS) + 0.5) / CELLS * (high - low)
    return at, pairs(at)


def pairs(at: Doubles) -> Doubles:
    """All points of a grid with these places along both axes, as rows, the bottom row first."""
    across, up = np.meshgrid(at, at)
    return np.column_stack([across.ravel(), up.ravel()])


def level_lines(at: Doubles, values: Doubles, level: float = 0.0) -> list[tuple[Pair, Pair]]:
    """Where the values of all points of a grid (see `pairs`) are at a level."""
    return contour(at.tolist(), at.tolist(), (values.reshape(len(at), len(at)) - level).tolist())


def boundaries(scores: Doubles, at: Doubles, levels: Sequence[float]) -> list[Lines]:
    """The lines of these scores: zero thick, others thin, with one line in the legend for both signs."""
    drawn = []
    for level in levels:
        label = "" if level < 0 else f"score {level:g}" + f" and {-level:g}" * (-level in levels and level > 0)
        drawn.append(Lines(level_lines(at, scores, level), 0, label, 2.0 if level == 0 else 0.8))
    return drawn
