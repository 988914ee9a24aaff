"""Twins of transpose.cpp, correlate.cpp and descend.cpp: sparse matrices by columns, and descent along them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    Doubles: TypeAlias = NDArray[np.float64]
    Matrix: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.floating[Any]]]

SMALLEST = 1e-12
FLATTEST = 1e-9


def transpose(rows: Matrix, width: int, threads: int) -> Matrix:
    """The columns of a matrix given by rows, each with its rows in order."""
    del threads
    _check(rows, "transpose")
    if width < 0:
        raise ValueError("transpose: the width is negative")
    indptr, indices, data = rows
    begin, end = (int(indptr[0]), int(indptr[-1])) if len(indptr) else (0, 0)
    inside = indices[begin:end]
    if ((inside < 0) | (inside >= width)).any():
        raise ValueError("transpose: an index is not below the width")
    order = np.argsort(inside, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(inside, minlength=width))]).astype(np.int64)
    numbers = np.repeat(np.arange(max(len(indptr) - 1, 0), dtype=np.int32), np.diff(indptr))
    return offsets, numbers[order], data[begin:end][order]


def correlate(columns: Matrix, vector: Doubles, threads: int) -> Doubles:
    """The inner product of each column with the vector."""
    del threads
    _check(columns, "correlate")
    products = np.zeros(max(len(columns[0]) - 1, 0))
    for j in range(len(products)):
        rows, values = _column(columns, j, len(vector), "correlate: an index is not in the vector")
        products[j] = values @ vector[rows]
    return products


def combine(columns: Matrix, picked: NDArray[np.int32], times: Doubles, total: Doubles) -> None:
    """The picked columns, each times a number, summed."""
    _check(columns, "combine")
    if len(times) != len(picked):
        raise ValueError("combine: not one number for each picked column")
    sides = _pick(columns, picked, len(total), "combine")
    total[:] = 0.0
    for (rows, values), number in zip(sides, times, strict=True):
        np.add.at(total, rows, number * values)


def descend(
    columns: Matrix,
    picked: NDArray[np.int32],
    model: tuple[Doubles, Doubles],
    place: tuple[Doubles, Doubles, Doubles],
    penalty: tuple[float, float],
    limits: tuple[int, float],
) -> tuple[float, float, int]:
    """Coordinate descent on a quadratic model with L1 and L2 penalty; see descend.cpp for the problem."""
    (slope, curvature), (weights, bias, moved), (most, fraction) = model, place, limits
    _check(columns, "descend")
    sides = _pick(columns, picked, len(slope), "descend")
    if len(weights) != len(picked):
        raise ValueError("descend: not one weight for each picked column")
    if len(curvature) != len(slope) or len(moved) != len(slope) or len(bias) > 1:
        raise ValueError("descend: slope, curvature and moved have one value for each row, the bias at most one")
    work = _Descent(sides, model, weights, penalty, len(bias) == 1)
    before = weights.copy()
    first = last = 0.0
    passes, every, visited = 0, True, list(range(len(picked)))
    while passes < most:
        last, visited = work.visit(visited)
        first = last if passes == 0 else first
        passes += 1
        rest = last <= fraction * first
        if rest and every and passes > 1:
            break
        every = rest
        visited = list(range(len(picked))) if every else visited
    bias += work.shift
    combine(columns, picked, weights - before, moved)
    moved += work.shift
    return first, last, passes


class _Descent:
    """The state of a descent: slopes of the model per row, curvature per column, how far the bias went."""

    def __init__(
        self,
        sides: list[tuple[NDArray[np.int32], Doubles]],
        model: tuple[Doubles, Doubles],
        weights: Doubles,
        penalty: tuple[float, float],
        free: bool,
    ) -> None:
        self.sides, self.weights, self.free = sides, weights, free
        self.l1, self.l2 = penalty
        self.slope, self.curvature = model[0].copy(), model[1]
        self.level = SMALLEST + (float(self.curvature.sum()) if free else 0.0)
        self.shift = -float(self.slope.sum()) / self.level if free else 0.0
        self.leaning = [float(v @ self.curvature[r]) if free else 0.0 for r, v in sides]
        self.steepness = [self._measure(p) for p in range(len(sides))]

    def _measure(self, p: int) -> float:
        rows, values = self.sides[p]
        full = float(values**2 @ self.curvature[rows])
        return self.l2 + SMALLEST + max(full - self.leaning[p] ** 2 / self.level, FLATTEST * full)

    def visit(self, visited: list[int]) -> tuple[float, list[int]]:
        """One pass: the largest slope met, and the columns that moved or are not zero."""
        met = [self._move(p) for p in visited]
        kept = [p for p, slope in zip(visited, met, strict=True) if slope != 0 or self.weights[p] != 0]
        return max(met, default=0.0), kept

    def _move(self, p: int) -> float:
        rows, values = self.sides[p]
        at, steepness = float(self.weights[p]), self.steepness[p]
        gradient = self.l2 * at + self.shift * self.leaning[p] + float(values @ self.slope[rows])
        v, cut = at - gradient / steepness, self.l1 / steepness
        step = (v - cut if v > cut else v + cut if v < -cut else 0.0) - at
        if step == 0:
            return 0.0
        self.weights[p] = at + step
        self.shift -= step * self.leaning[p] / self.level if self.free else 0.0
        np.add.at(self.slope, rows, step * values * self.curvature[rows])
        return abs(step) * steepness


def _check(matrix: Matrix, kernel: str) -> None:
    offsets, indices, values = matrix
    if len(offsets) and (
        offsets[0] < 0 or (np.diff(offsets) < 0).any() or offsets[-1] > min(len(indices), len(values))
    ):
        raise ValueError(f"{kernel}: the offsets do not fit the values")


def _column(columns: Matrix, j: int, n: int, sentence: str) -> tuple[NDArray[np.int32], Doubles]:
    begin, end = columns[0][j], columns[0][j + 1]
    rows = columns[1][begin:end]
    if ((rows < 0) | (rows >= n)).any():
        raise ValueError(sentence)
    return rows, columns[2][begin:end].astype(np.float64)


def _pick(columns: Matrix, picked: NDArray[np.int32], n: int, kernel: str) -> list[tuple[NDArray[np.int32], Doubles]]:
    if ((picked < 0) | (picked >= len(columns[0]) - 1)).any():
        raise ValueError(f"{kernel}: a picked column is not in the matrix")
    return [_column(columns, int(j), n, f"{kernel}: an index has no row") for j in picked]
