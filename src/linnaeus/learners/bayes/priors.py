"""Priors and posteriors: class probabilities before and after a row is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.sigmoid import sigmoid
from linnaeus.errors import InputTypeError, UsageError

if TYPE_CHECKING:
    from linnaeus.learners.bayes.counts import Counts
    from linnaeus.types import Doubles


def check_priors(priors: tuple[float, ...] | None) -> None:
    """Refuse priors that are not probabilities."""
    if priors is None:
        return
    if not isinstance(priors, tuple) or not all(isinstance(p, int | float) for p in priors):
        raise InputTypeError(f"priors takes a tuple of probabilities, one for each class, not {priors!r}.")
    if any(not 0 < p < 1 for p in priors) or abs(sum(priors) - 1) > 1e-6:
        raise UsageError("priors must be probabilities above zero, one for each class, that add up to 1.")


def check_number(priors: tuple[float, ...] | None, k: int, *, sets: bool = False) -> None:
    """Refuse priors for another number of classes, and priors for label sets."""
    if priors is None:
        return
    if sets:
        raise UsageError("priors cannot be given for label sets: they are learned from the data; leave them out.")
    if len(priors) != k:
        raise UsageError(f"There are {len(priors)} priors for {k} classes; give one prior for each class.")


def log_shares(sizes: Doubles, priors: tuple[float, ...] | None) -> Doubles:
    """Log p(y) (k,): the given priors, or the shares of the classes. A class without rows counts as half a row.

    >>> np.exp(log_shares(np.array([3.0, 1.0]), None)).round(12).tolist()
    [0.75, 0.25]
    """
    if priors is not None:
        check_number(priors, len(sizes))
        return np.log(priors)
    least = 0.5 if not sizes.all() else 0.0
    found: Doubles = np.log(np.maximum(sizes, least)) - np.log(sizes.sum())
    return found


def log_priors(counts: Counts, priors: tuple[float, ...] | None) -> Doubles:
    """Log p(y) (k,); for label sets the log-odds of each label."""
    if counts.all is None:
        return log_shares(counts.sizes, priors)
    check_number(priors, len(counts.sizes), sets=True)
    odds: Doubles = np.log(np.maximum(counts.sizes, 0.5)) - np.log(np.maximum(counts.others, 0.5))
    return odds


def posterior(S: Doubles, *, sets: bool) -> Doubles:
    """Probabilities from logarithms of joint ones (n, k); for label sets from log-odds, independently.

    >>> posterior(np.log([[0.3, 0.1]]), sets=False).round(2).tolist()
    [[0.75, 0.25]]
    """
    if sets:
        return sigmoid(S)
    P = np.exp(S - S.max(axis=1, keepdims=True))
    found: Doubles = P / P.sum(axis=1, keepdims=True)
    return found
