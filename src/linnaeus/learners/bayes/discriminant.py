"""Linear discriminant analysis: Gaussian classes that share one covariance; the boundaries are planes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays.blas import single_blas
from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.bayes.blocks import refuse_wide
from linnaeus.learners.bayes.counts import indicators
from linnaeus.learners.bayes.covariance import Shrinkage, check_shrinkage, covariance
from linnaeus.learners.bayes.priors import check_number, check_priors, log_shares, posterior
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Lesson

FLAT = 1e-8
"""Variances below this count as zero, for features of variance 1; scikit-learn's tol is its square root."""


@dataclass(frozen=True, kw_only=True)
class LinearDiscriminant:
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

    answers: ClassVar[tuple[str, ...]] = ("classes",)

    shrinkage: Shrinkage = 0.0
    priors: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_shrinkage(self.shrinkage)
        check_priors(self.priors)

    @property
    def strength(self) -> float | None:
        """The hyper-parameter that cross-validation tunes: the shrinkage, if it is a number."""
        return float(self.shrinkage) if isinstance(self.shrinkage, int | float) else None

    def with_strength(self, strength: float) -> LinearDiscriminant:
        """A copy with another shrinkage."""
        return replace(self, shrinkage=strength)

    def learn(self, lesson: Lesson) -> FittedDiscriminant:
        """Estimate the means and the covariance, and compute the weights."""
        check_number(self.priors, lesson.k)
        refuse_wide("LinearDiscriminant", lesson.X.shape[1], 1)
        sizes, means = centers(lesson)
        logs = log_shares(sizes, self.priors)
        shares = np.exp(logs)
        with single_blas():
            A = _inverse(averaged(lesson, means, shares, self.shrinkage))
            middle = shares @ means / shares.sum()
            gaps = means - middle
            W = A @ gaps.T
            b = logs - 0.5 * (gaps * W.T).sum(axis=1) - middle @ W
        return FittedDiscriminant(W, b)


def centers(lesson: Lesson) -> tuple[Doubles, Doubles]:
    """Total row weights of the classes (k,), and their means (k, d); a class without rows gets the mean of all rows."""
    D = indicators(lesson.y, lesson.k) * lesson.weights[:, None]
    sizes = D.sum(axis=0)
    sums = lesson.X.tdot(D).T
    whole = sums.sum(axis=0) / sizes.sum()
    return sizes, np.where(sizes[:, None] > 0, sums / np.where(sizes > 0, sizes, 1.0)[:, None], whole)


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
    A: Doubles = T @ T.T
    return A


@dataclass(frozen=True, eq=False)
class FittedDiscriminant:
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

    def chances(self, S: Doubles) -> Doubles:
        """Class probabilities (n, k) for these scores."""
        return posterior(S, sets=False)

    def state(self) -> State:
        """The planes."""
        return State({"kind": "linear_discriminant"}, {"W": self.W, "b": self.b})

    @classmethod
    def from_state(cls, state: State) -> FittedDiscriminant:
        """Restore the model from its stored state."""
        W, b = state.tensors.get("W"), state.tensors.get("b")
        if W is None or b is None or W.ndim != 2 or b.shape != W.shape[1:]:
            raise damaged("the shapes of its weights do not match")
        if W.dtype != np.float64 or b.dtype != np.float64 or not (np.isfinite(W).all() and np.isfinite(b).all()):
            raise damaged("its weights are not finite numbers")
        return cls(W, b)
