"""Kernel ridge regression: regularized least squares in the feature space of a kernel, in closed form."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus.arrays.numerics import single_blas
from linnaeus.errors import DataError
from linnaeus.frozen import dataclass
from linnaeus.learners.base import counted
from linnaeus.learners.kernel_methods.expansion import (
    Expansion,
    KernelLearner,
    gram,
    indefinite,
    is_pair,
    is_positive,
    signs,
)
from linnaeus.types import Doubles, LabelSets, Lesson, Piece


@dataclass(frozen=True, kw_only=True)
class KernelRidge(KernelLearner):
    """Kernel ridge regression on numbers, or on +1 and -1 for each class: (K + strength / weights) a = Y - mean.

        minimize  sum_i weight_i (f(x_i) - y_i)^2 + strength |f|^2,   scores(x) = mean + sum_i a_i k(x_i, x)

    The mean of the targets is subtracted first, so that the prediction far from all rows is the mean. scikit-learn's
    KernelRidge (alpha = strength) does not do that. Time n^3 / 3, memory 8 n^2 bytes.

    Saunders, Gammerman and Vovk, "Ridge regression learning algorithm in dual variables", 1998.

    >>> from linnaeus import MatrixClassifier
    >>> xor = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> MatrixClassifier(learner=KernelRidge(kernel="rbf", strength=0.1)).fit(*xor).predict(xor[0]).tolist()
    [0, 1, 1, 0]
    """

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets", "numbers")
    tuned: ClassVar[str | None] = "strength"

    kernel: Piece = "rbf"
    strength: float = 1.0

    def learn(self, lesson: Lesson) -> Expansion:
        """Factor the kernel matrix once and solve for all targets."""
        lesson = counted(lesson)
        Y = _targets(lesson)
        mean = np.average(Y, axis=0, weights=lesson.weights)
        K = gram(self.kernel, lesson.X)
        K[np.diag_indices(len(K))] += self.strength / lesson.weights
        return Expansion.of(self.kernel, lesson.X, self._solved(K, Y - mean), mean)

    def _solved(self, K: Doubles, Y: Doubles) -> Doubles:
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        try:
            with single_blas():  # the matrix is symmetric, so it needs no copy in column order
                factor = cho_factor(K.T, lower=True, overwrite_a=True, check_finite=False)
                duals: Doubles = cho_solve(factor, Y, check_finite=False)
        except LinAlgError:
            if not is_positive(self.kernel):
                raise indefinite(np.tril(K.T) + np.tril(K.T, -1).T, type(self.kernel).__name__) from None
            raise DataError(f"A strength of {self.strength:g} is lost in rounding; use a larger one.") from None
        return duals


def _targets(lesson: Lesson) -> Doubles:
    """Numbers unchanged; +1 and -1 for classes; +1/2 and -1/2 for two classes, so that the scores differ by one fit."""
    if not isinstance(lesson.y, LabelSets) and lesson.y.ndim == 2:
        return lesson.y.astype(np.float64)
    found = signs(lesson.y, lesson.k)
    return found / 2 if is_pair(lesson.y, lesson.k) else found
