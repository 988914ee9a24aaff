"""From scores to probabilities, where the loss gives them a meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.losses import StructuredLoss
from linnaeus.outputs import Binary, Multiclass, MultiLabel, OneVsOne
from linnaeus.outputs.product import classes_of, pairs

if TYPE_CHECKING:
    from linnaeus.types import Doubles


def has_chances(loss: Any, space: Any) -> bool:
    """Whether scores of this loss in this space (None: not known yet) say something about probabilities."""
    if not hasattr(loss, "chance"):
        return False
    return isinstance(loss, StructuredLoss) or not isinstance(space, Multiclass)


def chances(loss: Any, space: Any, S: Doubles) -> Doubles:
    """P (n, k): softmax in joint spaces, chance(s) for labels, normalized over the classes for one-vs-rest.

    One-vs-one: the mean of a class's chances against the others, p_i = 2/(k(k-1)) sum_j r_ij (the start of the pairwise
    coupling of Hastie and Tibshirani, 1998).
    """
    if isinstance(space, Multiclass):
        return space.soft(S, np.zeros(len(S), np.intp)).parts
    P: Doubles = np.asarray(loss.chance(S), dtype=np.float64)
    if isinstance(space, Binary):
        return np.hstack([1.0 - P, P])
    if isinstance(space, MultiLabel):
        return P
    if isinstance(space, OneVsOne):
        P = _coupled(P)
    total = P.sum(axis=1, keepdims=True)
    even: Doubles = np.where(total > 0, P, 1.0) / np.where(total > 0, total, P.shape[1])
    return even


def _coupled(R: Doubles) -> Doubles:
    k = classes_of(R.shape[1])
    P = np.zeros((len(R), k))
    for column, (a, b) in enumerate(zip(*pairs(k), strict=True)):
        P[:, a] += R[:, column]
        P[:, b] += 1.0 - R[:, column]
    return P
