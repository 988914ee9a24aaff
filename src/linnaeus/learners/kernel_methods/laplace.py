"""Laplace's approximation of the posterior of a Gaussian process (by scikit-learn), and its predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays.blas import single_blas
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.types import Doubles

WIDTHS = np.array([0.41, 0.4, 0.37, 0.44, 0.39])
PARTS = np.array([-1854.8214151, 3516.89893646, 221.29346712, 128.12323805, -2010.49422654])
"""The sigmoid as a sum of error functions (Williams and Barber 1998), with the constants of scikit-learn."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """At the mode: duals y - p (n,), T = L^-1 W^(1/2) (n, n) with L L' = I + W^(1/2) K W^(1/2); a bias for log-odds."""

    duals: Doubles
    square: Doubles
    bias: float = 0.0


def posterior(K: Doubles, y: Doubles) -> Posterior:
    """The posterior of labels +1 and -1 under the covariance K; if all labels are equal, only a bias."""
    from scipy.linalg import solve_triangular
    from sklearn.gaussian_process import GaussianProcessClassifier

    n = len(K)
    if abs(y.sum()) == n:
        return Posterior(np.zeros(n), np.zeros((n, n)), float(y[0] * np.log(2 * n + 1)))
    with single_blas():
        process = GaussianProcessClassifier(kernel=_given(K), optimizer=None)
        found = process.fit(np.arange(n)[:, None], y).base_estimator_
        square = solve_triangular(found.L_, np.diag(found.W_sr_), lower=True, check_finite=False)
    return Posterior(found.y_train_ - found.pi_, np.ascontiguousarray(square))


def chance(mean: Doubles, variance: Doubles) -> Doubles:
    """The average of sigmoid(f) over a normal f (n,).

    >>> chance(np.array([0.0, 2.0]), np.array([1.0, 0.0])).round(3).tolist()
    [0.5, 0.881]
    """
    from scipy.special import erf

    slopes = WIDTHS / np.sqrt(1 + 2 * variance[:, None] * WIDTHS**2)
    terms = PARTS * (erf(mean[:, None] * slopes) + 1)
    found: Doubles = terms.sum(axis=1) / 2
    return found


def _given(K: Doubles) -> Any:
    """A scikit-learn kernel that looks up a given matrix: its inputs are row numbers."""
    from sklearn.gaussian_process.kernels import Kernel

    class Given(Kernel):  # type: ignore[misc]
        """The matrix; there are no parameters to tune."""

        def __init__(self) -> None:
            self.K = K

        def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
            return (self.K, np.zeros((*K.shape, 0))) if eval_gradient else self.K

        def diag(self, X: Any) -> Doubles:
            return np.diagonal(self.K)

        def is_stationary(self) -> bool:
            return False

        def __sklearn_clone__(self) -> Any:
            return self

    return Given()
