"""The kernel matrix of the training rows, with its checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays.blas import single_blas
from linnaeus.errors import DataError, UsageError, expect

if TYPE_CHECKING:
    from linnaeus.protocols import Rows, Similarity
    from linnaeus.types import Doubles, Lesson

MOST = 20_000
"""Most rows of a kernel matrix: 3 GB."""
SMALL = 1e-8
"""Tolerance for rounding in the test for positive semidefinite matrices, as a share of the largest entry."""
SHOWN = 2_000
"""Most rows for which the error message shows the smallest eigenvalue."""


def gram(kernel: Similarity, X: Rows) -> Doubles:
    """k(x_i, x_j) of all rows (n, n): finite and positive semidefinite (tested unless the kernel guarantees it).

    >>> from linnaeus.arrays import Dense
    >>> from linnaeus.similarities import RBF
    >>> gram(RBF(0.5), Dense(np.eye(2))).round(3).tolist()
    [[1.0, 0.368], [0.368, 1.0]]
    """
    n = X.shape[0]
    if n > MOST:
        raise DataError(
            f"A kernel matrix of {n:,} rows takes {8 * n * n / 1e9:.0f} GB, and {MOST:,} rows are the most; use the "
            "features Nystrom(...) or Fourier(...) with a linear learner."
        )
    K = np.ascontiguousarray(kernel.matrix(X, X), np.float64)
    if not np.isfinite(K).all():
        raise DataError("The kernel of some rows is not a finite number; use another kernel, or scale the features.")
    if not getattr(kernel, "positive", False):
        refuse_indefinite(K, type(kernel).__name__)
    return K


def refuse_indefinite(K: Doubles, name: str) -> None:
    """Refuse a matrix that is not symmetric and positive semidefinite."""
    from scipy.linalg import LinAlgError, cholesky

    largest = max(float(np.abs(K).max(initial=0.0)), 1e-300)
    if np.abs(K - K.T).max(initial=0.0) > SMALL * largest:
        raise DataError(f"The kernel matrix of {name} is not symmetric: k(x, z) is not k(z, x); correct the kernel.")
    try:
        with single_blas():
            cholesky(K + SMALL * largest * np.eye(len(K)), lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise indefinite(K, name) from None


def indefinite(K: Doubles, name: str) -> DataError:
    """The error for a matrix that is not positive semidefinite."""
    least = f" (its smallest eigenvalue is {np.linalg.eigvalsh(K)[0]:.3g})" if len(K) <= SHOWN else ""
    return DataError(
        f"The kernel matrix of {name} is not positive semidefinite{least}; use a kernel such as LinearKernel, RBF, or "
        "Polynomial with a shift of at least zero."
    )


def check_strength(piece: Any) -> None:
    """Refuse a strength that is not above zero."""
    name = type(piece).__name__
    expect(f"{name}(strength=...)", piece.strength, float)
    if not 0 < piece.strength < np.inf:
        raise UsageError(f"{name}(strength=...) must be a number above zero, not {piece.strength!r}.")


def counted(lesson: Lesson) -> Lesson:
    """The lesson without rows of weight zero."""
    return lesson if lesson.weights.all() else lesson.take(np.flatnonzero(lesson.weights))
