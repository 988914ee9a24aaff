"""Voronoi cells: the part of the plane that is nearest to each training point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.estimators.matrix import MatrixClassifier
from linnaeus.gallery.drawing import answers, lattice, picture, plane
from linnaeus.gallery.toys import Toy
from linnaeus.learners.neighbors import Neighbors
from linnaeus.render.picture import Lines, Panel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles

REACH = 3.0


def sites() -> tuple[Doubles, NDArray[np.int64]]:
    """Points (20, 2) of two classes: a grid whose points were moved."""
    draw = np.random.default_rng(5)
    across, up = np.meshgrid(np.linspace(-2.4, 2.4, 5), np.linspace(-2.25, 2.25, 4))
    X = np.column_stack([across.ravel(), up.ravel()]) + draw.uniform(-0.5, 0.5, size=(20, 2))
    return X, (X[:, 1] > 1.1 * np.sin(1.5 * X[:, 0])).astype(np.int64)


def cell(i: int) -> Doubles:
    """The corners of the cell of point i: the square, cut by the bisector with every other point."""
    X, _ = sites()
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) * REACH
    for j in range(len(X)):
        if j != i:
            # Nearer to i than to j: 2 (x_j - x_i) x <= |x_j|^2 - |x_i|^2.
            corners = _cut(corners, 2 * (X[j] - X[i]), float(X[j] @ X[j] - X[i] @ X[i]))
    return corners


def _cut(corners: Doubles, normal: Doubles, bound: float) -> Doubles:
    """The part of a convex polygon with normal x <= bound (Sutherland and Hodgman 1974)."""
    kept = []
    room = bound - corners @ normal
    for k in range(len(corners)):
        a, b, here, there = corners[k - 1], corners[k], room[k - 1], room[k]
        if (here >= 0) != (there >= 0):
            kept.append(a + here / (here - there) * (b - a))
        if there >= 0:
            kept.append(b)
    return np.array(kept)


def nearest(y: NDArray[np.int64]) -> MatrixClassifier:
    """One nearest neighbor."""
    return MatrixClassifier(learner=Neighbors(k=1, metric="euclidean")).fit(sites()[0], y)


@picture()
def voronoi() -> list[Panel]:
    """Voronoi cells.

    Around each training point lies the cell of all places that are nearer to it than to any other point. One nearest
    neighbor answers with the class of the cell, so its boundary is made of borders between cells.
    """
    toy = Toy(*sites(), REACH)
    cells = [cell(i) for i in range(len(toy.X))]
    rims = Lines([[*corners.tolist(), corners[0].tolist()] for corners in cells], 0, "border between cells", 0.8)
    regions = answers(nearest(toy.y), lattice(toy.limits)[1])
    return [plane(toy, [regions, rims], "the cell of each point"), plane(toy, [regions], "1-NN: the class of the cell")]
