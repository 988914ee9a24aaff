"""The kernel matrix of the training rows, checked: what learners start from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays.blas import single_blas
from linnaeus.errors import DataError, UsageError, expect

if TYPE_CHECKING:
    from linnaeus.protocols import Rows, Similarity
    from linnaeus.types import Doubles, Lesson

MOST = 20_000
"""Rows whose matrix is made: 3 GB."""
SMALL = 1e-8
"""What is added to the diagonal, as a share of the largest number, before a matrix is called indefinite: rounding."""
SHOWN = 2_000
"""Rows up to which the smallest eigenvalue is looked for, to be told."""


def gram(kernel: Similarity, X: Rows) -> Doubles:
    """k(x_i, x_j) of all rows (n, n): finite, and positive semidefinite (looked at where the kernel does not promise).

    >>> from linnaeus.arrays import Dense
    >>> from linnaeus.similarities import RBF
    >>> gram(RBF(0.5), Dense(np.eye(2))).round(3).tolist()
    [[1.0, 0.368], [0.368, 1.0]]
    """
    n = X.shape[0]
    if n > MOST:
        raise DataError(
            f"A kernel matrix of {n:,} rows takes {8 * n * n / 1e9:.0f} GB, and {MOST:,} rows are the most; take the "
            "features Nystrom(...) or Fourier(...) with a linear learner."
        )
    K = np.ascontiguousarray(kernel.matrix(X, X), np.float64)
    if not np.isfinite(K).all():
        raise DataError("The kernel of some rows is not a finite number; take another kernel, or scale the features.")
    if not getattr(kernel, "positive", False):
        refuse_indefinite(K, type(kernel).__name__)
    return K


def refuse_indefinite(K: Doubles, name: str) -> None:
    """Refuse a matrix that is no matrix of inner products."""
    from scipy.linalg import LinAlgError, cholesky

    largest = max(float(np.abs(K).max(initial=0.0)), 1e-300)
    if np.abs(K - K.T).max(initial=0.0) > SMALL * largest:
        raise DataError(f"The kernel matrix of {name} is not symmetric: k(x, z) differs from k(z, x); correct it.")
    try:
        with single_blas():
            cholesky(K + SMALL * largest * np.eye(len(K)), lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise indefinite(K, name) from None


def indefinite(K: Doubles, name: str) -> DataError:
    """The error for a matrix that is not positive semidefinite."""
    least = f" (its smallest eigenvalue is {np.linalg.eigvalsh(K)[0]:.3g})" if len(K) <= SHOWN else ""
    return DataError(
        f"The kernel matrix of {name} is not positive semidefinite{least}; take a kernel such as LinearKernel, RBF, or "
        "Polynomial with a shift of at least zero."
    )


def check_strength(piece: Any) -> None:
    """Refuse a strength that is not above zero."""
    name = type(piece).__name__
    expect(f"{name}(strength=...)", piece.strength, float)
    if not 0 < piece.strength < np.inf:
        raise UsageError(f"{name}(strength=...) is a number above zero, not {piece.strength!r}.")


def counted(lesson: Lesson) -> Lesson:
    """The lesson without rows that count nothing."""
    return lesson if lesson.weights.all() else lesson.take(np.flatnonzero(lesson.weights))
