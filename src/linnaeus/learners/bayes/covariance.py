"""Shrunk covariances: moved towards a multiple of the identity, by a given share or by that of Ledoit and Wolf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from linnaeus.errors import InputTypeError, UsageError
from linnaeus.learners.bayes.blocks import blocks

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles

Shrinkage: TypeAlias = float | Literal["auto"]


def check_shrinkage(shrinkage: Shrinkage) -> None:
    """Refuse a shrinkage that is neither a number from 0 to 1 nor "auto"."""
    if shrinkage == "auto":
        return
    if isinstance(shrinkage, bool) or not isinstance(shrinkage, int | float):
        raise InputTypeError(f"shrinkage takes a number from 0 to 1, or 'auto', not {shrinkage!r}.")
    if not 0 <= shrinkage <= 1:
        raise UsageError(f"shrinkage must be from 0 to 1, not {shrinkage!r}.")


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
    found: Doubles = shrunk(C, ledoit_wolf(C, float(fourth / n), float(n))) * np.outer(scale, scale)
    return found


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
