"""Twins of vectors.cpp: inner products and combinations of long vectors, summed in pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]

PIECE = 8192
LANES = 16


def inner(lefts: Sequence[Vector], rights: Sequence[Vector], threads: int) -> Vector:
    """The inner product of each left vector with each right one, row by row (a b)."""
    del threads
    _refuse_lengths("inner", len(lefts[0]) if lefts else 0, [*lefts, *rights])
    return np.array([_dot(left, right) for left in lefts for right in rights], np.float64)


def blend(vectors: Sequence[Vector], times: Vector, out: Vector, threads: int) -> None:
    """Out becomes sum_i times_i vector_i, added in this order; it may be one of the vectors."""
    del threads
    _refuse_lengths("blend", len(out), vectors)
    if len(times) != len(vectors):
        raise ValueError("blend: not one number for each vector")
    total = times[0] * vectors[0] if len(vectors) else np.zeros(len(out))
    for factor, vector in zip(times[1:], vectors[1:], strict=True):
        total += factor * vector
    out[:] = total


def add_multiple(vector: Vector, times: float, total: Vector, threads: int) -> float:
    """Adds times vector to `total`; the squared length of the vector."""
    del threads
    _refuse_lengths("add_multiple", len(vector), [total])
    total += times * vector
    return _dot(vector, vector)


def _dot(a: Vector, b: Vector) -> float:
    """Pieces one after the other; in a piece value i goes to lane i mod 16, and the lanes are folded in halves."""
    total = 0.0
    for start in range(0, len(a), PIECE):
        products = a[start : start + PIECE] * b[start : start + PIECE]
        lanes = np.zeros(LANES)
        for at in range(0, len(products), LANES):
            lanes[: len(products) - at] += products[at : at + LANES]
        while len(lanes) > 1:
            lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
        total += float(lanes[0])
    return total


def _refuse_lengths(who: str, n: int, vectors: Sequence[Vector]) -> None:
    if any(len(vector) != n for vector in vectors):
        raise ValueError(f"{who}: vectors of different lengths")
