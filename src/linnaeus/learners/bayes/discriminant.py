"""Normal classes that share one covariance (linear), or have one each (quadratic)."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

import numpy as np

from linnaeus.arrays.numerics import single_blas
from linnaeus.errors import DataError, UsageError, expect_within
from linnaeus.frozen import dataclass
from linnaeus.learners.base import FittedJoint, RowLearner, indicators, tensors_of
from linnaeus.learners.bayes.counts import check_number, check_priors, log_shares
from linnaeus.learners.bayes.gaussian import blocks, refuse_wide
from linnaeus.protocols import Rows
from linnaeus.types import Doubles, Lesson, State

Shrinkage: TypeAlias = float | Literal["auto"]


def scatter(X: Rows, weights: Doubles, mean: Doubles) -> Doubles:
    """sum_i weight_i (x_i - mean) (x_i - mean)'  (d, d)."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for start, B in blocks(X):
        B -= mean
        total += B.T @ (B * weights[start : start + len(B), None])
    return total


def covariance(X: Rows, weights: Doubles, mean: Doubles, shrinkage: Shrinkage) -> Doubles:
    """The shrunk covariance of rows around their mean (d, d); C is the maximum-likelihood estimate.

        (1 - s) C + s tr(C) / d I

    With "auto" the features are first scaled to variance 1, and s is that of Ledoit and Wolf, as in scikit-learn's
    discriminant analyses.

    >>> from linnaeus.arrays import Dense
    >>> covariance(Dense(np.array([[1.0, 0.0], [-1.0, 0.0]])), np.ones(2), np.zeros(2), 0.5).tolist()
    [[0.75, 0.0], [0.0, 0.25]]
    """
    n = weights.sum()
    C = scatter(X, weights, mean) / n
    if shrinkage != "auto":
        return shrunk(C, float(shrinkage))
    scale = np.sqrt(np.diag(C))
    scale[scale <= 1e-15 * np.abs(mean)] = 1.0
    scale[scale == 0] = 1.0
    fourth = sum(
        weights[start : start + len(B)] @ (((B - mean) / scale) ** 2).sum(axis=1) ** 2 for start, B in blocks(X)
    )
    C /= np.outer(scale, scale)
    return shrunk(C, ledoit_wolf(C, float(fourth / n), float(n))) * np.outer(scale, scale)


def shrunk(C: Doubles, part: float) -> Doubles:
    """C moved by this share towards the identity times the mean variance."""
    found = (1 - part) * C
    found[np.diag_indices(len(C))] += part * np.trace(C) / max(1, len(C))
    return found


def ledoit_wolf(C: Doubles, fourth: float, n: float) -> float:
    """How much to shrink a covariance C of n rows; `fourth` is the mean of |x|^4.

    Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", 2004.
    """
    d = len(C)
    if d < 2:
        return 0.0
    square, level = float((C * C).sum()), float(np.trace(C)) / d
    far = (square - d * level * level) / d
    noise = min((fourth - square) / (d * n), far)
    return noise / far if noise > 0 else 0.0


FLAT = 1e-8
"""Variances below this count as zero, for features of variance 1; scikit-learn's tol is its square root."""


@dataclass(frozen=True, kw_only=True)
class Discriminant(RowLearner):
    """What both analyses share: the shrinkage, and the priors of the classes."""

    tuned: ClassVar[str | None] = "shrinkage"

    shrinkage: Shrinkage = 0.0
    priors: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.shrinkage != "auto":
            expect_within("shrinkage, if it is not 'auto',", self.shrinkage, float, "[0, 1]")
        check_priors(self.priors)

    def centers(self, lesson: Lesson, matrices: int) -> tuple[Doubles, Doubles]:
        """Log p(y) (k,) and the means of the classes (k, d); a class without rows gets the mean of all rows."""
        check_number(self.priors, lesson.k)
        refuse_wide(type(self).__name__, lesson.X.shape[1], matrices)
        D = indicators(lesson.y, lesson.k) * lesson.weights[:, None]
        sizes = D.sum(axis=0)
        sums = lesson.X.tdot(D).T
        whole = sums.sum(axis=0) / sizes.sum()
        means = np.where(sizes[:, None] > 0, sums / np.where(sizes > 0, sizes, 1.0)[:, None], whole)
        return log_shares(sizes, self.priors), means


@dataclass(frozen=True, kw_only=True)
class LinearDiscriminant(Discriminant):
    """Linear discriminant analysis: normal classes with means m_y and one covariance C; the scores are linear.

        log p(y) + (m_y - m)' C^-1 (x - m) - 1/2 (m_y - m)' C^-1 (m_y - m),    m the mean of the m_y, weighted by the
        priors

    C is the average of the class covariances, weighted by the priors. Each is moved towards a multiple of the identity
    by `shrinkage`: a number from 0 to 1, or "auto" (Ledoit and Wolf). Directions in which no class varies are left out,
    as in scikit-learn's default solver: constant features get no weight. There may be fewer rows than features, but
    then some shrinkage is better. A weight of 2 counts as two equal rows. A class without rows gets the mean of all
    rows.

    Fisher, "The use of multiple measurements in taxonomic problems", 1936.

    >>> from linnaeus import MatrixClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [4.0, 5.0], [5.0, 4.0]], ["a", "a", "b", "b"]
    >>> MatrixClassifier(learner=LinearDiscriminant(shrinkage=0.5)).fit(X, y).predict([[1.0, 1.0]]).tolist()
    ['a']
    """

    def learn(self, lesson: Lesson) -> FittedDiscriminant:
        """Estimate the means and the covariance, and compute the weights."""
        logs, means = self.centers(lesson, 1)
        shares = np.exp(logs)
        with single_blas():
            A = _inverse(averaged(lesson, means, shares, self.shrinkage))
            middle = shares @ means / shares.sum()
            gaps = means - middle
            W = A @ gaps.T
            b = logs - 0.5 * (gaps * W.T).sum(axis=1) - middle @ W
        return FittedDiscriminant(W, b)


def averaged(lesson: Lesson, means: Doubles, shares: Doubles, shrinkage: Shrinkage) -> Doubles:
    """The mean of the class covariances, weighted by `shares`."""
    total = np.zeros((lesson.X.shape[1], lesson.X.shape[1]))
    for c in range(lesson.k):
        rows = np.flatnonzero(lesson.y == c)
        if len(rows):
            total += shares[c] * covariance(lesson.X.take(rows), lesson.weights[rows], means[c], shrinkage)
    return total


def _inverse(C: Doubles) -> Doubles:
    """The inverse of a covariance, in the directions in which it is not zero; features are scaled to variance 1."""
    scale = np.sqrt(np.diag(C))
    scale[scale == 0] = 1.0
    values, vectors = np.linalg.eigh(C / np.outer(scale, scale))
    kept = values > FLAT
    T = vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None]
    return T @ T.T


@dataclass(frozen=True, eq=False)
class FittedDiscriminant(FittedJoint):
    """A fitted linear discriminant: weights (d, k) and offsets (k,).

    >>> import numpy as np
    >>> FittedDiscriminant(W=np.array([[1.0, -1.0]]), b=np.zeros(2)).scores(np.array([[2.0]])).tolist()
    [[2.0, -2.0]]
    """

    W: Doubles
    b: Doubles

    def linear(self) -> tuple[Doubles, Doubles]:
        """W and b."""
        return self.W, self.b

    def scores(self, X: Rows) -> Doubles:
        """Logarithms of joint densities (n, k), up to a constant for each row."""
        return X.dot(self.W) + self.b

    def state(self) -> State:
        """The planes."""
        return State({"kind": "linear_discriminant"}, {"W": self.W, "b": self.b})

    @classmethod
    def from_state(cls, state: State) -> FittedDiscriminant:
        """Restore the model from its stored state."""
        return cls(*tensors_of(state, "weights", {"W": "dk", "b": "k"}))


SINGULAR = 1e-12
"""A variance below this share of the largest one counts as zero."""


@dataclass(frozen=True, kw_only=True)
class QuadraticDiscriminant(Discriminant):
    """Quadratic discriminant analysis: normal classes with means m_y and covariances C_y; the scores are quadratic.

        log p(y) - 1/2 log det C_y - 1/2 (x - m_y)' C_y^-1 (x - m_y)

    `shrinkage`, a number or "auto" (Ledoit and Wolf), moves each covariance towards a multiple of the identity. Without
    it every class needs more rows than there are features. A class without rows, or whose rows are all equal, gets the
    pooled covariance of all classes. A weight of 2 counts as two equal rows.

    >>> from linnaeus import MatrixClassifier
    >>> X, y = [[0.0], [1.0], [4.0], [8.0]], ["a", "a", "b", "b"]
    >>> MatrixClassifier(learner=QuadraticDiscriminant()).fit(X, y).predict([[0.4], [30.0], [-30.0]]).tolist()
    ['a', 'b', 'b']
    """

    def learn(self, lesson: Lesson) -> FittedQuadratic:
        """Estimate the means and covariances of the classes."""
        logs, means = self.centers(lesson, lesson.k)
        found, offsets = [], logs.copy()
        with single_blas():
            for c in range(lesson.k):
                values, T = _whitening(self._covariance(lesson, means, np.exp(logs), c), self.shrinkage)
                found.append(T)
                offsets[c] -= 0.5 * np.log(values).sum()
        return FittedQuadratic(means, np.stack(found), offsets)

    def _covariance(self, lesson: Lesson, means: Doubles, shares: Doubles, c: int) -> Doubles:
        rows = np.flatnonzero(lesson.y == c)
        if len(rows):
            C = covariance(lesson.X.take(rows), lesson.weights[rows], means[c], self.shrinkage)
            if C.any():
                return C
        return averaged(lesson, means, shares, self.shrinkage) / shares.sum()


def _whitening(C: Doubles, shrinkage: Shrinkage) -> tuple[Doubles, Doubles]:
    """Variances, and the matrix that scales rows to variance 1 in all directions; a singular covariance is refused."""
    values, vectors = np.linalg.eigh(C)
    if values[0] <= SINGULAR * values[-1]:
        raise DataError(
            "The covariance of a class is singular: a feature is constant there, or a combination of others, "
            f"or there are fewer rows than features; raise shrinkage, now {shrinkage!r}, or use LinearDiscriminant."
        )
    return values, vectors / np.sqrt(values)


@dataclass(frozen=True, eq=False)
class FittedQuadratic(FittedJoint):
    """Means (k, d), matrices that scale the rows of each class to variance 1 (k, d, d), and offsets (k,).

    >>> import numpy as np
    >>> from linnaeus import MatrixClassifier
    >>> from linnaeus.learners.bayes import QuadraticDiscriminant
    >>> X, y = np.array([[0.0], [0.2], [3.0], [3.2]]), ["a", "a", "b", "b"]
    >>> model = MatrixClassifier(learner=QuadraticDiscriminant()).fit(X, y)
    >>> model.predict(np.array([[0.1], [3.1]])).tolist()
    ['a', 'b']
    """

    means: Doubles
    whitenings: Doubles
    offsets: Doubles

    def scores(self, X: Rows) -> Doubles:
        """Logarithms of joint densities (n, k), up to a constant."""
        if X.shape[1] != self.means.shape[1]:
            raise UsageError(f"X has {X.shape[1]} columns, but the model has {self.means.shape[1]} features.")
        S = np.empty((X.shape[0], len(self.means)))
        with single_blas():
            for start, B in blocks(X):
                for c, (mean, T) in enumerate(zip(self.means, self.whitenings, strict=True)):
                    Z = (B - mean) @ T
                    S[start : start + len(B), c] = self.offsets[c] - 0.5 * (Z * Z).sum(axis=1)
        return S

    def state(self) -> State:
        """The arrays."""
        tensors = {"means": self.means, "whitenings": self.whitenings, "offsets": self.offsets}
        return State({"kind": "quadratic_discriminant"}, tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedQuadratic:
        """Restore the model from its stored state."""
        axes = {"means": "kd", "whitenings": "kdd", "offsets": "k"}
        means, whitenings, offsets = tensors_of(state, "means and covariances", axes)
        return cls(means, whitenings, offsets)
