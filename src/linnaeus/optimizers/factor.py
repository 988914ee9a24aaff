"""Factorization of a symmetric positive semidefinite matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linnaeus.types import Doubles


class Factor:
    """G + ridge I by Cholesky, or by eigenvalues if it is singular; solutions then have minimal norm.

    >>> Factor(np.array([[4.0, 0.0], [0.0, 0.0]]), 0.0).solve(np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """

    def __init__(self, G: Doubles, ridge: float) -> None:
        G = G.copy()
        G[np.diag_indices_from(G)] += ridge
        self.solve: Callable[[Doubles], Doubles] = _cholesky(G) or _eigen(G)


def _cholesky(G: Doubles) -> Callable[[Doubles], Doubles] | None:
    """Triangular factors; None where the matrix is singular, or as good as."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    try:
        factor = cho_factor(G, lower=True, check_finite=False)
    except LinAlgError:
        return None
    diagonal = np.diagonal(factor[0])
    if not diagonal.min() ** 2 > 1e-11 * diagonal.max() ** 2:
        return None
    return lambda B: np.asarray(cho_solve(factor, B, check_finite=False))


def _eigen(G: Doubles) -> Callable[[Doubles], Doubles]:
    """The pseudo-inverse: eigenvalues that are only rounding count as zero."""
    values, Q = np.linalg.eigh(G)
    kept = values > 1e-12 * max(float(values[-1]), 1e-300)
    inverse, Q = 1.0 / values[kept], Q[:, kept]
    return lambda B: (Q * inverse) @ (Q.T @ B)
