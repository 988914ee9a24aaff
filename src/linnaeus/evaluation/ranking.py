"""Rankings by score: the best classes of a row, and the average precision of a class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.evaluation.facts import runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.evaluation.facts import Spots
    from linnaeus.types import Doubles

TOP = (1, 3, 5)
"""The depths of precision at k."""


def leaders(S: Doubles, depth: int) -> NDArray[np.intp]:
    """The classes with the highest scores of each row, best first (n, depth); the lowest index among equals.

    >>> leaders(np.array([[0.2, 0.5, 0.5]]), 2).tolist()
    [[1, 2]]
    """
    rest = np.array(S, dtype=np.float64)
    found = np.empty((len(S), depth), np.intp)
    rows = np.arange(len(S))
    for place in range(depth):
        found[:, place] = rest.argmax(axis=1)
        rest[rows, found[:, place]] = -np.inf
    return found


def rank_of(S: Doubles, y: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many classes rank above class y of each row: by score, and by index among equal scores."""
    mine = S[np.arange(len(S)), y][:, None]
    earlier = np.arange(S.shape[1]) < y[:, None]
    ahead: NDArray[np.intp] = ((mine < S) | ((mine == S) & earlier)).sum(axis=1)
    return ahead


def average_precisions(S: Doubles, spots: Spots, M: Doubles) -> tuple[Doubles, NDArray[np.bool_]]:
    """The average precision of each class against the rest (b, k) for weighted rows M (b, n), and where it is defined.

    AP = sum over thresholds of (R_t - R_{t-1}) P_t, thresholds at the distinct scores; rows with equal scores come
    together. It is defined for classes that have true rows.
    """
    b, k = len(M), S.shape[1]
    found, there = np.zeros((b, k)), np.zeros((b, k), bool)
    weigh = _equal if (M[:, :1] == M).all() else _unequal
    cuts = np.append(spots.starts, len(spots.rows))
    for i, label in enumerate(spots.labels):
        if label < k:
            rows = spots.rows[cuts[i] : cuts[i + 1]]
            found[:, label], there[:, label] = _average_precision(np.ascontiguousarray(S[:, label]), rows, M, weigh)
    return found, there


def _average_precision(
    s: Doubles, rows: NDArray[np.intp], M: Doubles, weigh: Callable[..., Doubles]
) -> tuple[Doubles, NDArray[np.bool_]]:
    """Recall grows at the scores of true rows only: these are the thresholds that count."""
    true = s[rows]
    ordered = np.sort(true)[::-1]
    thresholds = ordered[runs(ordered)]
    near = np.flatnonzero(s >= thresholds[-1])  # rows ranked below all true rows change nothing
    above, right = weigh(s[near], M[:, near], thresholds), weigh(true, M[:, rows], thresholds)
    total = right[:, -1]
    precision = np.divide(right, above, out=np.zeros_like(right), where=above > 0)
    gains = (np.diff(right, axis=1, prepend=0.0) * precision).sum(axis=1)
    return np.divide(gains, total, out=np.zeros_like(total), where=total > 0), total > 0


def _equal(s: Doubles, M: Doubles, thresholds: Doubles) -> Doubles:
    """The weight (b, t) of the rows that reach each threshold, where all rows weigh the same: they are counted."""
    reached: Doubles = (len(s) - np.searchsorted(np.sort(s), thresholds)) * M[:, :1]
    return reached


def _unequal(s: Doubles, M: Doubles, thresholds: Doubles) -> Doubles:
    """The same for rows with weights of their own, which takes an order: several times as long as sorting numbers."""
    order = np.argsort(-s, kind="stable")
    counts = np.searchsorted(-s[order], -thresholds, side="right")
    reached: Doubles = np.cumsum(np.take(M, order, axis=1), axis=1)[:, counts - 1]
    return reached
