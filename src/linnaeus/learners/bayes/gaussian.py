"""Gaussian naive Bayes: the features are independent and normally distributed in each class."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.errors import UsageError, damaged, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.bayes.blocks import blocks
from linnaeus.learners.bayes.moments import Moments, moments, overall
from linnaeus.learners.bayes.priors import check_number, check_priors, log_shares, posterior
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Lesson


@dataclass(frozen=True, kw_only=True)
class Gaussian:
    """Gaussian naive Bayes, mean m and variance v: scores log p(y) - 1/2 sum_j [log(2 pi v) + (x_j - m)^2 / v].

    `smoothing` times the largest variance of a feature over all rows is added to every variance (scikit-learn's
    `var_smoothing`), so that a feature that is constant in a class does not cause a division by zero. The scores are
    quadratic in the rows. A class without rows gets the mean and variance of all rows.

    >>> from linnaeus import MatrixClassifier
    >>> X, y = [[0.0], [1.0], [4.0], [8.0]], ["a", "a", "b", "b"]
    >>> MatrixClassifier(learner=Gaussian()).fit(X, y).predict([[0.4], [30.0], [-30.0]]).tolist()
    ['a', 'b', 'b']
    """

    answers: ClassVar[tuple[str, ...]] = ("classes",)

    smoothing: float = 1e-9
    priors: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        expect("smoothing", self.smoothing, float)
        if not 0 < self.smoothing < np.inf:
            raise UsageError(f"smoothing must be a number above zero, not {self.smoothing!r}.")
        check_priors(self.priors)

    @property
    def strength(self) -> float:
        """The hyper-parameter that cross-validation tunes: the smoothing."""
        return self.smoothing

    def with_strength(self, strength: float) -> Gaussian:
        """A copy with another smoothing."""
        return Gaussian(smoothing=strength, priors=self.priors)

    def learn(self, lesson: Lesson) -> FittedGaussian:
        """Means and variances of the classes, and of all rows."""
        check_number(self.priors, lesson.k)
        return FittedGaussian(moments(lesson), overall(lesson.X), self.smoothing, self.priors)


@dataclass(frozen=True, eq=False)
class FittedGaussian:
    """Means and variances of the classes and of all rows. Two models can be added: the sum is that of all data.

    >>> import numpy as np
    >>> from linnaeus import MatrixClassifier
    >>> from linnaeus.learners.bayes import Gaussian
    >>> X, y = np.array([[0.0], [0.2], [3.0], [3.2]]), ["a", "a", "b", "b"]
    >>> model = MatrixClassifier(learner=Gaussian()).fit(X, y)
    >>> model.predict(np.array([[0.1], [3.1]])).tolist()
    ['a', 'b']
    """

    classes: Moments
    whole: Moments
    smoothing: float = 1e-9
    priors: tuple[float, ...] | None = None

    def __add__(self, other: FittedGaussian) -> FittedGaussian:
        """The model of both data sets together."""
        settings = (self.smoothing, self.priors)
        if not isinstance(other, FittedGaussian) or settings != (other.smoothing, other.priors):
            raise UsageError("Only models of the same learner can be added; train both with the same settings.")
        return FittedGaussian(self.classes + other.classes, self.whole + other.whole, *settings)

    def update(self, lesson: Lesson) -> FittedGaussian:
        """The model after these further rows."""
        return self + Gaussian(smoothing=self.smoothing, priors=self.priors).learn(lesson)

    def widen(self, columns: Any, k: int) -> FittedGaussian:
        """A copy for k classes: class i here becomes class `columns[i]`; the other classes have no rows."""
        return FittedGaussian(self.classes.widen(columns, k), self.whole, self.smoothing, self.priors)

    def linear(self) -> None:
        """None: the scores are quadratic, so there are no linear weights."""

    @cached_property
    def _parts(self) -> tuple[Doubles, Doubles, Doubles]:
        """Means (d, k), precisions 1 / v (d, k), and the constant terms of the scores (k,)."""
        there = self.classes.sizes > 0
        means = np.where(there, self.classes.means, self.whole.means)
        spread = self.whole.variances.max(initial=0.0)
        variances = np.where(there, self.classes.variances, self.whole.variances)
        variances = variances + self.smoothing * (spread or 1.0)
        b = log_shares(self.classes.sizes, self.priors) - 0.5 * np.log(2 * np.pi * variances).sum(axis=0)
        return means, 1 / variances, b

    def scores(self, X: Rows) -> Doubles:
        """Log joint densities (n, k). Sparse rows stay sparse: (x - m)^2 / v = x^2 / v - 2 x m / v + m^2 / v."""
        means, precisions, b = self._parts
        if isinstance(X, CSR):
            squares = CSR(X.indptr, X.indices, X.data.astype(np.float64) ** 2, X.width)
            drift = means * precisions
            S: Doubles = X.dot(drift) - 0.5 * squares.dot(precisions) + (b - 0.5 * (means * drift).sum(axis=0))
            return S
        S = np.empty((X.shape[0], len(b)))
        for start, B in blocks(X):
            for c in range(len(b)):
                S[start : start + len(B), c] = b[c] - 0.5 * ((B - means[:, c]) ** 2 @ precisions[:, c])
        return S

    def chances(self, S: Doubles) -> Doubles:
        """Class probabilities (n, k) for these scores."""
        return posterior(S, sets=False)

    def state(self) -> State:
        """Means, variances and settings."""
        priors = None if self.priors is None else list(self.priors)
        told = {"kind": "gaussian", "smoothing": self.smoothing, "priors": priors}
        return State(told, {**self.classes.tensors("classes"), **self.whole.tensors("whole")})

    @classmethod
    def from_state(cls, state: State) -> FittedGaussian:
        """Restore the model from its stored state."""
        priors = state.manifest["priors"]
        told = Gaussian(smoothing=state.manifest["smoothing"], priors=None if priors is None else tuple(priors))
        classes, whole = Moments.from_state(state, "classes"), Moments.from_state(state, "whole")
        if whole.means.shape != (len(classes.means), 1):
            raise damaged("the moments of all rows do not match those of the classes")
        if told.priors is not None and len(told.priors) != len(classes.sizes):
            raise damaged("the priors do not match the classes")
        return cls(classes, whole, told.smoothing, told.priors)
