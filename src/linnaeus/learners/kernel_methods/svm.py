"""The kernel SVM, solved by scikit-learn's libsvm; the solution is kept as arrays."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus.errors import expect_within
from linnaeus.frozen import dataclass
from linnaeus.learners.base import counted
from linnaeus.learners.kernel_methods.expansion import Expansion, KernelLearner, gram, heads, is_pair, opposed
from linnaeus.types import Doubles, Lesson, Piece

CACHE = 200
"""Megabytes of kernel rows that libsvm keeps."""


@dataclass(frozen=True, kw_only=True)
class KernelSVM(KernelLearner):
    """Kernel support vector machine: maximum margin in the feature space of a kernel; one-vs-rest for many classes.

        minimize  sum_i weight_i max(0, 1 - y_i f(x_i)) + strength / 2 |f|^2,   f(x) = sum_i a_i k(x_i, x) + b

    It is scikit-learn's SVC with C = 1 / strength; for two classes the difference of the scores is its decision
    function. Only the support vectors are kept. `tol` is the tolerance of libsvm. Time between n^2 and n^3 for each
    class, memory 8 n^2 bytes.

    Boser, Guyon and Vapnik, "A training algorithm for optimal margin classifiers", 1992; Chang and Lin, "LIBSVM: a
    library for support vector machines", 2011.

    >>> from linnaeus import MatrixClassifier
    >>> xor = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> MatrixClassifier(learner=KernelSVM(kernel="rbf")).fit(*xor).predict(xor[0]).tolist()
    [0, 1, 1, 0]
    """

    tuned: ClassVar[str | None] = "strength"

    kernel: Piece = "rbf"
    strength: float = 1.0
    tol: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_within("KernelSVM(tol=...)", self.tol, float, "(0, 1)")

    def learn(self, lesson: Lesson) -> Expansion:
        """Solve one binary problem for each class; for two classes only one."""
        lesson = counted(lesson)
        K, H = gram(self.kernel, lesson.X), heads(lesson.y, lesson.k)
        duals, bias = np.zeros(H.shape), np.zeros(H.shape[1])
        for head in range(H.shape[1]):
            duals[:, head], bias[head] = self._solved(K, H[:, head], lesson.weights)
        if is_pair(lesson.y, lesson.k):
            duals, bias = opposed(duals), opposed(bias)
        return Expansion.of(self.kernel, lesson.X, duals, bias)

    def _solved(self, K: Doubles, y: Doubles, weights: Doubles) -> tuple[Doubles, float]:
        """Dual coefficients (n,) and bias; if all rows have the same label, only a bias."""
        from sklearn.svm import SVC

        duals = np.zeros(len(K))
        if abs(y.sum()) == len(y):
            return duals, float(y[0])
        found = SVC(kernel="precomputed", C=1.0 / self.strength, tol=self.tol, cache_size=CACHE)
        found.fit(K, y, sample_weight=weights)
        duals[found.support_] = found.dual_coef_[0]
        return duals, float(found.intercept_[0])
