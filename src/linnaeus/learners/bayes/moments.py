"""Means and variances of features in classes: the data of Gaussian naive Bayes, which can be merged."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.errors import DataError, damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.bayes.blocks import blocks
from linnaeus.learners.bayes.counts import indicators
from linnaeus.types import Lesson, State

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles

NAMES = ("sizes", "means", "scatter")


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

    def widen(self, columns: Any, k: int) -> Moments:
        """A copy for k classes: class i here becomes class `columns[i]`; the other classes have no rows."""
        found = [np.zeros((*part.shape[:-1], k)) for part in (self.sizes, self.means, self.scatter)]
        for wide, part in zip(found, (self.sizes, self.means, self.scatter), strict=True):
            wide[..., columns] = part
        return Moments(*found)

    def tensors(self, prefix: str) -> dict[str, Any]:
        """The arrays by name."""
        return {f"{prefix}.{name}": getattr(self, name) for name in NAMES}

    @classmethod
    def from_state(cls, state: State, prefix: str) -> Moments:
        """Restore the moments; arrays whose shapes do not match are refused."""
        sizes, means, scatter = (state.tensors.get(f"{prefix}.{name}") for name in NAMES)
        if sizes is None or means is None or scatter is None or means.ndim != 2:
            raise damaged("some of its means and variances are missing")
        if scatter.shape != means.shape or sizes.shape != means.shape[1:]:
            raise damaged("the shapes of its means and variances do not match")
        finite = all(part.dtype == np.float64 and np.isfinite(part).all() for part in (sizes, means, scatter))
        if not finite or (sizes < 0).any() or (scatter < 0).any():
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
        cell, weights = columns * k + lesson.y[owner], lesson.weights[owner]
        gap = part.data[: part.nnz] - means.ravel()[cell]
        far += np.bincount(cell, weights * gap * gap, minlength=cells)
        stored += np.bincount(cell, weights, minlength=cells)
    zeros = np.maximum(sizes - stored.reshape(means.shape), 0.0)
    found: Doubles = far.reshape(means.shape) + zeros * means * means
    return found


def _parts(X: CSR, most: int = 1 << 22) -> Any:
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
