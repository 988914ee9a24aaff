"""Quadratic discriminant analysis: Gaussian classes, each with a covariance of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays.blas import single_blas
from linnaeus.errors import DataError, UsageError, damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.bayes.blocks import blocks, refuse_wide
from linnaeus.learners.bayes.covariance import Shrinkage, check_shrinkage, covariance
from linnaeus.learners.bayes.discriminant import averaged, centers
from linnaeus.learners.bayes.priors import check_number, check_priors, log_shares, posterior
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Lesson

SINGULAR = 1e-12
"""A variance below this share of the largest one counts as zero."""


@dataclass(frozen=True, kw_only=True)
class QuadraticDiscriminant:
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

    def with_strength(self, strength: float) -> QuadraticDiscriminant:
        """A copy with another shrinkage."""
        return replace(self, shrinkage=strength)

    def learn(self, lesson: Lesson) -> FittedQuadratic:
        """Estimate the means and covariances of the classes."""
        check_number(self.priors, lesson.k)
        refuse_wide("QuadraticDiscriminant", lesson.X.shape[1], lesson.k)
        sizes, means = centers(lesson)
        logs = log_shares(sizes, self.priors)
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
        pooled: Doubles = averaged(lesson, means, shares, self.shrinkage) / shares.sum()
        return pooled


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
class FittedQuadratic:
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

    def linear(self) -> None:
        """None: the scores are quadratic, so there are no linear weights."""

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

    def chances(self, S: Doubles) -> Doubles:
        """Class probabilities (n, k) for these scores."""
        return posterior(S, sets=False)

    def state(self) -> State:
        """The arrays."""
        tensors = {"means": self.means, "whitenings": self.whitenings, "offsets": self.offsets}
        return State({"kind": "quadratic_discriminant"}, tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedQuadratic:
        """Restore the model from its stored state."""
        means, whitenings, offsets = (state.tensors.get(name) for name in ("means", "whitenings", "offsets"))
        if means is None or whitenings is None or offsets is None or means.ndim != 2:
            raise damaged("some of its means and covariances are missing")
        k, d = means.shape
        if whitenings.shape != (k, d, d) or offsets.shape != (k,):
            raise damaged("the shapes of its means and covariances do not match")
        if any(part.dtype != np.float64 or not np.isfinite(part).all() for part in (means, whitenings, offsets)):
            raise damaged("its means and covariances are not finite numbers")
        return cls(means, whitenings, offsets)
