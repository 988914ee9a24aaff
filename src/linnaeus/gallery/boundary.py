"""Decision boundaries: what a fitted model answers on a grid, and where its score is zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from linnaeus.render.contour import contour
from linnaeus.render.picture import Lines, Panel, Picture, Points, Regions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from linnaeus.gallery.toys import Toy
    from linnaeus.types import Doubles

CELLS = 100
"""Cells of the grid in each direction."""


class Classifies(Protocol):
    """What is drawn: any classifier of two classes with the face of scikit-learn."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn."""

    def predict(self, X: Any) -> Any:
        """Classes."""

    def decision_function(self, X: Any) -> Any:
        """Scores, positive for the second class."""


class Side(NamedTuple):
    """One panel: a model to be, and the data it learns."""

    title: str
    model: Callable[[], Classifies]
    toy: Callable[[], Toy]
    levels: tuple[float, ...] = (0.0,)
    """Scores whose lines are drawn; none for models whose scores jump."""


class Scene(NamedTuple):
    """A picture of boundaries to be."""

    title: str
    caption: str
    sides: tuple[Side, ...]


def draw(scene: Scene) -> Picture:
    """Fit each model and draw it."""
    return Picture(scene.title, scene.caption, [panel(side) for side in scene.sides])


def panel(side: Side) -> Panel:
    """The regions that the model answers, its boundary, the points it learned from."""
    toy = side.toy()
    model = side.model()
    model.fit(toy.X, toy.y)
    at, grid = lattice(toy.limits)
    layers: list[Any] = [answers(model, grid)]
    if side.levels:
        layers += boundaries(np.asarray(model.decision_function(grid)).reshape(CELLS, CELLS), at, side.levels)
    layers += [Points([tuple(row) for row in toy.X[toy.y == c].tolist()], c, f"class {c + 1}") for c in (0, 1)]
    return Panel(layers, side.title, toy.limits, toy.limits, "first feature", "second feature")


def answers(model: Classifies, grid: Doubles) -> Regions:
    """The class of each cell, shaded by its probability where the model has probabilities."""
    found = np.asarray(model.predict(grid)).reshape(CELLS, CELLS)
    # scikit-learn's convention: a classifier without probabilities has no such method.
    chances = getattr(model, "predict_proba", None)
    if chances is None:
        return Regions(found.tolist())
    P = np.asarray(chances(grid))
    k = P.shape[1]
    sure = ((P.max(axis=1) - 1 / k) / (1 - 1 / k)).reshape(CELLS, CELLS)
    said = "probability of class 2, from 0 to 1" if k == 2 else f"probability of the class, from 1/{k} to 1"
    return Regions(found.tolist(), said, sure.tolist())


def lattice(limits: tuple[float, float]) -> tuple[Doubles, Doubles]:
    """The middles of the cells along one axis, and of all cells as rows (CELLS^2, 2), the bottom row first."""
    low, high = limits
    at = low + (np.arange(CELLS) + 0.5) / CELLS * (high - low)
    across, up = np.meshgrid(at, at)
    return at, np.c_[across.ravel(), up.ravel()]


def boundaries(scores: Doubles, at: Doubles, levels: Sequence[float]) -> list[Lines]:
    """The lines of these scores: zero thick, others thin, with one line in the legend for both signs."""
    drawn = []
    for level in levels:
        paths = contour(at.tolist(), at.tolist(), (scores - level).tolist())
        label = "" if level < 0 else f"score {level:g}" + f" and {-level:g}" * (-level in levels and level > 0)
        drawn.append(Lines(paths, 0, label, 2.0 if level == 0 else 0.8))
    return drawn
