"""Toy data in two dimensions, drawn from a seed: two clouds, rings, clouds with outliers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles


class Toy(NamedTuple):
    """Rows X (n, 2), their classes 0 and 1, and the square [-reach, reach] that shows them."""

    X: Doubles
    y: NDArray[np.int64]
    reach: float


def clouds() -> Toy:
    """Two clouds of 40 that overlap a little: one round, one long and slanted, so that their covariances differ."""
    draw = np.random.default_rng(7)
    first = draw.normal(size=(40, 2)) * 0.7 + (-1.1, -0.7)
    second = draw.normal(size=(40, 2)) @ np.array([[1.1, 0.55], [0.0, 0.5]]) + (1.1, 0.9)
    return _toy(first, second, 4.0)


def apart() -> Toy:
    """Two clouds that a line separates, with room between them."""
    draw = np.random.default_rng(3)
    first, second = (draw.normal(size=(30, 2)) * 0.6 + middle for middle in ((-1.4, -1.1), (1.4, 1.1)))
    return _toy(first, second, 4.0)


def rings() -> Toy:
    """A cloud within a ring: no line separates them."""
    draw = np.random.default_rng(11)
    angle = draw.uniform(0, 2 * np.pi, 60)
    ring = np.c_[np.cos(angle), np.sin(angle)] * draw.normal(2.6, 0.25, size=(60, 1))
    return _toy(draw.normal(size=(40, 2)) * 0.6, ring, 4.0)


def crossed() -> Toy:
    """Exclusive or: a class in two opposite corners, the other in the two others; no line separates them."""
    draw = np.random.default_rng(2)
    middles = ((-1.5, -1.5), (1.5, 1.5), (-1.5, 1.5), (1.5, -1.5))
    corners = [draw.normal(size=(20, 2)) * 0.45 + middle for middle in middles]
    return _toy(np.vstack(corners[:2]), np.vstack(corners[2:]), 4.0)


def outliers() -> Toy:
    """Clouds apart, and ten more points of the second class far out on its right side."""
    toy = apart()
    far = np.random.default_rng(5).normal(size=(10, 2)) * 0.5 + (9.0, 4.0)
    return _toy(toy.X[toy.y == 0], np.vstack([toy.X[toy.y == 1], far]), 10.0)


def _toy(first: Doubles, second: Doubles, reach: float) -> Toy:
    y = np.repeat(np.array([0, 1], np.int64), (len(first), len(second)))
    return Toy(np.vstack([first, second]), y, reach)
