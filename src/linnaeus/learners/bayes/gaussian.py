"""Independent, normally distributed features: means and variances of each class, which can be merged."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.errors import DataError, UsageError, damaged, expect_within
from linnaeus.frozen import dataclass
from linnaeus.learners import LEARNERS
from linnaeus.learners.base import FittedJoint, RowLearner, indicators, tensors_of, to_dense
from linnaeus.learners.bayes.counts import check_number, check_priors, log_shares, restored
from linnaeus.protocols import CountsOn, ModelChances, Rows, to_manifest
from linnaeus.types import Arrays, Doubles, Lesson, Longs, State

CELLS = 1 << 20
"""Numbers in one block."""
MOST = 1 << 27
"""Largest total size of the covariances, in numbers: one gigabyte."""


def blocks(X: Rows) -> Iterator[tuple[int, Doubles]]:
    """Blocks of rows as float64 (m, d), each with the index of its first row.

    >>> from linnaeus.arrays import Dense
    >>> [(start, B.shape) for start, B in blocks(Dense(np.zeros((3, 2))))]
    [(0, (3, 2))]
    """
    n, d = X.shape
    step = max(1, CELLS // max(1, d))
    for start in range(0, n, step):
        yield start, to_dense(X.rows_slice(start, min(n, start + step)))


def refuse_wide(name: str, d: int, matrices: int) -> None:
    """Refuse this many matrices (d, d) if they would not fit in memory."""
    if matrices * d * d > MOST:
        raise UsageError(
            f"{name} needs the covariances of {d:,} features, which is too much memory; reduce the features: "
            "features=Reduced(Words(...), width=100)."
        )


AXES = {"sizes": "k", "means": "dk", "scatter": "dk"}


@dataclass(frozen=True, eq=False)
class Moments:
    """Weights of classes (k,), means (d, k), and sums of squared deviations from the means (d, k).

    Deviations are from the class mean, not from zero, so that large means cause no cancellation. Two of them are merged
    by the formula of Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
    variances", 1979.

    >>> import numpy as np
    >>> Moments(sizes=np.array([2.0]), means=np.array([[0.5]]), scatter=np.array([[0.5]])).means.tolist()
    [[0.5]]
    """

    sizes: Doubles
    means: Doubles
    scatter: Doubles

    @property
    def variances(self) -> Doubles:
        """Variances (d, k); zero for a class without rows."""
        return self.scatter / _rows(self.sizes)

    def __add__(self, other: Moments) -> Moments:
        """The moments of both data sets together."""
        if self.means.shape != other.means.shape:
            raise DataError("Moments of different features or classes cannot be merged; use one vocabulary for both.")
        sizes = self.sizes + other.sizes
        share, gap = other.sizes / _rows(sizes), other.means - self.means
        scatter = self.scatter + other.scatter + gap * gap * (self.sizes * share)
        return Moments(sizes, self.means + gap * share, scatter)

    def widen(self, columns: Longs, k: int) -> Moments:
        """A copy for k classes: class i here becomes class `columns[i]`; the other classes have no rows."""
        found = [np.zeros((*part.shape[:-1], k)) for part in (self.sizes, self.means, self.scatter)]
        for wide, part in zip(found, (self.sizes, self.means, self.scatter), strict=True):
            wide[..., columns] = part
        return Moments(*found)

    def tensors(self, prefix: str) -> Arrays:
        """The arrays by name."""
        return {f"{prefix}.{name}": getattr(self, name) for name in AXES}

    @classmethod
    def from_state(cls, state: State, prefix: str) -> Moments:
        """Restore the moments; arrays whose shapes do not match are refused."""
        axes = {f"{prefix}.{name}": letters for name, letters in AXES.items()}
        sizes, means, scatter = tensors_of(state, "means and variances", axes)
        if (sizes < 0).any() or (scatter < 0).any():
            raise damaged("its means and variances are not valid numbers")
        return cls(sizes, means, scatter)


def moments(lesson: Lesson) -> Moments:
    """The moments of the classes of a lesson; a weight of 2 counts as two equal rows."""
    D = indicators(lesson.y, lesson.k) * lesson.weights[:, None]
    sizes = D.sum(axis=0)
    means = lesson.X.tdot(D) / _rows(sizes)
    if isinstance(lesson.X, CSR):
        return Moments(sizes, means, _sparse_scatter(lesson, sizes, means))
    scatter = np.zeros(means.shape)
    for start, B in blocks(lesson.X):
        y, weights = lesson.y[start : start + len(B)], lesson.weights[start : start + len(B)]
        for c in range(lesson.k):
            rows = y == c
            scatter[:, c] += weights[rows] @ (B[rows] - means[:, c]) ** 2
    return Moments(sizes, means, scatter)


def _sparse_scatter(lesson: Lesson, sizes: Doubles, means: Doubles) -> Doubles:
    """The scatter from the stored values; values that are not stored are zeros, at distance |mean| from the mean."""
    k, cells = lesson.k, means.size
    far, stored = np.zeros(cells), np.zeros(cells)
    for part, rows in _parts(lesson.X):
        columns = part.indices[: part.nnz].astype(np.int64)
        owner = np.repeat(rows, np.diff(part.indptr))
        cell, weights = columns * k + np.asarray(lesson.y)[owner], lesson.weights[owner]
        gap = part.data[: part.nnz] - means.ravel()[cell]
        far += np.bincount(cell, weights * gap * gap, minlength=cells)
        stored += np.bincount(cell, weights, minlength=cells)
    zeros = np.maximum(sizes - stored.reshape(means.shape), 0.0)
    return far.reshape(means.shape) + zeros * means * means


def _parts(X: CSR, most: int = 1 << 22) -> Iterator[tuple[CSR, Longs]]:
    """Blocks of rows with at most about `most` stored values, and their row numbers."""
    cuts = np.searchsorted(X.indptr, np.arange(most, X.nnz, most))
    edges = np.unique([0, *cuts.tolist(), len(X)]).tolist()
    for start, stop in pairwise(edges):
        yield X.rows_slice(start, stop), np.arange(start, stop)


def overall(X: Rows) -> Moments:
    """The moments of all columns over all rows, without classes and weights (k = 1)."""
    n = X.shape[0]
    return moments(Lesson(X, np.zeros(n, np.int32), np.ones(n), 1))


def _rows(sizes: Doubles) -> Doubles:
    return np.where(sizes > 0, sizes, 1.0)


@dataclass(frozen=True, kw_only=True)
class Gaussian(RowLearner):
    """Gaussian naive Bayes, mean m and variance v: scores log p(y) - 1/2 sum_j [log(2 pi v) + (x_j - m)^2 / v].

    `smoothing` times the largest variance of a feature over all rows is added to every variance (scikit-learn's
    `var_smoothing`), so that a feature that is constant in a class does not cause a division by zero. The scores are
    quadratic in the rows. A class without rows gets the mean and variance of all rows.

    >>> from linnaeus import MatrixClassifier
    >>> X, y = [[0.0], [1.0], [4.0], [8.0]], ["a", "a", "b", "b"]
    >>> MatrixClassifier(learner=Gaussian()).fit(X, y).predict([[0.4], [30.0], [-30.0]]).tolist()
    ['a', 'b', 'b']
    """

    tuned: ClassVar[str | None] = "smoothing"

    smoothing: float = 1e-9
    priors: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        expect_within("smoothing", self.smoothing, float, "(0, inf)")
        check_priors(self.priors)

    def learn(self, lesson: Lesson) -> FittedGaussian:
        """Means and variances of the classes, and of all rows."""
        check_number(self.priors, lesson.k)
        return FittedGaussian(moments(lesson), overall(lesson.X), self)


@dataclass(frozen=True, eq=False)
class FittedGaussian(FittedJoint):
    """Means and variances of the classes and of all rows. Two models can be added: the sum is that of all data.

    >>> import numpy as np
    >>> from linnaeus import MatrixClassifier
    >>> from linnaeus.learners.bayes import Gaussian
    >>> X, y = np.array([[0.0], [0.2], [3.0], [3.2]]), ["a", "a", "b", "b"]
    >>> model = MatrixClassifier(learner=Gaussian()).fit(X, y)
    >>> model.predict(np.array([[0.1], [3.1]])).tolist()
    ['a', 'b']
    """

    provides: ClassVar[tuple[type, ...]] = (ModelChances, CountsOn)

    classes: Moments
    whole: Moments
    learner: Gaussian

    def __add__(self, other: CountsOn) -> FittedGaussian:
        """The model of both data sets together."""
        if not isinstance(other, FittedGaussian) or self.learner != other.learner:
            raise UsageError("Only models of the same learner can be added; train both with the same settings.")
        return FittedGaussian(self.classes + other.classes, self.whole + other.whole, self.learner)

    def update(self, lesson: Lesson) -> FittedGaussian:
        """The model after these further rows."""
        return self + self.learner.learn(lesson)

    def widen(self, columns: Longs, k: int) -> FittedGaussian:
        """A copy for k classes: class i here becomes class `columns[i]`; the other classes have no rows."""
        return FittedGaussian(self.classes.widen(columns, k), self.whole, self.learner)

    @cached_property
    def _parts(self) -> tuple[Doubles, Doubles, Doubles]:
        """Means (d, k), precisions 1 / v (d, k), and the constant terms of the scores (k,)."""
        there = self.classes.sizes > 0
        means = np.where(there, self.classes.means, self.whole.means)
        spread = self.whole.variances.max(initial=0.0)
        variances = np.where(there, self.classes.variances, self.whole.variances)
        variances = variances + self.learner.smoothing * (spread or 1.0)
        b = log_shares(self.classes.sizes, self.learner.priors) - 0.5 * np.log(2 * np.pi * variances).sum(axis=0)
        return means, 1 / variances, b

    def scores(self, X: Rows) -> Doubles:
        """Log joint densities (n, k). Sparse rows stay sparse: (x - m)^2 / v = x^2 / v - 2 x m / v + m^2 / v."""
        means, precisions, b = self._parts
        if isinstance(X, CSR):
            squares = CSR(X.indptr, X.indices, X.data.astype(np.float64) ** 2, X.width)
            drift = means * precisions
            return X.dot(drift) - 0.5 * squares.dot(precisions) + (b - 0.5 * (means * drift).sum(axis=0))
        S = np.empty((X.shape[0], len(b)))
        for start, B in blocks(X):
            for c in range(len(b)):
                S[start : start + len(B), c] = b[c] - 0.5 * ((B - means[:, c]) ** 2 @ precisions[:, c])
        return S

    def state(self) -> State:
        """Means, variances and settings."""
        tensors = {**self.classes.tensors("classes"), **self.whole.tensors("whole")}
        return State(to_manifest(self.learner, LEARNERS), tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedGaussian:
        """Restore the model from its stored state."""
        classes, whole = Moments.from_state(state, "classes"), Moments.from_state(state, "whole")
        if whole.means.shape != (len(classes.means), 1):
            raise damaged("the moments of all rows do not match those of the classes")
        return cls(classes, whole, restored(state, len(classes.sizes)))
