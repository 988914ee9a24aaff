"""Toy data: points in two dimensions, and texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from linnaeus.types import Doubles, Longs


class Toy(NamedTuple):
    """Rows X (n, 2), their classes 0, 1, ..., and the square that shows them: `reach` to each side of `middle`."""

    X: Doubles
    y: Longs
    reach: float
    middle: float = 0.0

    @property
    def limits(self) -> tuple[float, float]:
        """Where the square begins and ends, along both axes."""
        return self.middle - self.reach, self.middle + self.reach


def clouds() -> Toy:
    """Two clouds of 40 that overlap a little: one round, one long and slanted, so that their covariances differ."""
    draw = np.random.default_rng(7)
    first = draw.normal(size=(40, 2)) * 0.7 + (-1.1, -0.7)
    second = draw.normal(size=(40, 2)) @ np.array([[1.1, 0.55], [0.0, 0.5]]) + (1.1, 0.9)
    return _toy((first, second), 4.0)


def apart() -> Toy:
    """Two clouds that a line separates, with room between them."""
    draw = np.random.default_rng(3)
    first, second = (draw.normal(size=(30, 2)) * 0.6 + middle for middle in ((-1.4, -1.1), (1.4, 1.1)))
    return _toy((first, second), 4.0)


def overlapping() -> Toy:
    """Two small clouds that no line separates."""
    draw = np.random.default_rng(8)
    first, second = (draw.normal(size=(14, 2)) * 0.85 + middle for middle in ((-1.1, -0.8), (1.1, 0.8)))
    return _toy((first, second), 3.5)


def three() -> Toy:
    """Three long clouds around the middle, each slanted the same way against the line from the middle to it."""
    draw = np.random.default_rng(3)
    clouds = []
    for angle in np.pi * np.array([1 / 2, 7 / 6, 11 / 6]):
        slant = angle + np.radians(50)
        turn = np.array([[np.cos(slant), np.sin(slant)], [-np.sin(slant), np.cos(slant)]])
        middle = 2.0 * np.array([np.cos(angle), np.sin(angle)])
        clouds.append(draw.normal(size=(25, 2)) * (1.2, 0.3) @ turn + middle)
    return _toy(clouds, 4.4)


def corners(truth: Sequence[int]) -> Toy:
    """The corners (0, 0), (0, 1), (1, 0), (1, 1) with these classes: a function of two truth values."""
    at = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    return Toy(at, np.asarray(truth, np.int64), 1.0, 0.5)


def rings() -> Toy:
    """A cloud within a ring: no line separates them."""
    draw = np.random.default_rng(11)
    angle = draw.uniform(0, 2 * np.pi, 60)
    ring = np.c_[np.cos(angle), np.sin(angle)] * draw.normal(2.6, 0.25, size=(60, 1))
    return _toy((draw.normal(size=(40, 2)) * 0.6, ring), 4.0)


def crossed() -> Toy:
    """Exclusive or: a class in two opposite corners, the other in the two others; no line separates them."""
    draw = np.random.default_rng(2)
    middles = ((-1.5, -1.5), (1.5, 1.5), (-1.5, 1.5), (1.5, -1.5))
    four = [draw.normal(size=(20, 2)) * 0.45 + middle for middle in middles]
    return _toy((np.vstack(four[:2]), np.vstack(four[2:])), 4.0)


def outliers() -> Toy:
    """Clouds apart, and ten more points of the second class far out on its right side."""
    toy = apart()
    far = np.random.default_rng(5).normal(size=(10, 2)) * 0.5 + (9.0, 4.0)
    return _toy((toy.X[toy.y == 0], np.vstack([toy.X[toy.y == 1], far])), 10.0)


def _toy(classes: Sequence[Doubles], reach: float) -> Toy:
    y = np.repeat(np.arange(len(classes), dtype=np.int64), [len(rows) for rows in classes])
    return Toy(np.vstack(classes), y, reach)


def reviews() -> tuple[list[str], list[str]]:
    """Texts of short reviews, and whether each is "good" or "bad"."""
    rows = Path(__file__).with_name("reviews.tsv").read_text(encoding="utf-8").splitlines()
    labels, texts = zip(*(row.split("\t") for row in rows), strict=True)
    return list(texts), list(labels)


def echoes(n: int, seed: int) -> tuple[Doubles, Longs]:
    """Counts of words, and classes 0 and 1, of texts in which each of six subjects is said with five equal words.

    Naive Bayes takes the five words for five reasons; they are one.
    """
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 2, n)
    chance = np.where(y[:, None] == 1, np.linspace(0.65, 0.35, 6), np.linspace(0.35, 0.65, 6))
    subjects = (draw.random((n, 6)) < chance).astype(np.float64)
    return np.repeat(subjects, 5, axis=1), y.astype(np.int64)
