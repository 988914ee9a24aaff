"""Two small problems for each output space: one that no line can solve, and one that is separable."""

from functools import cache

import numpy as np
from tests.contracts.cells import sparse_rows, truth

from linnaeus.outputs import OUTPUTS

STRENGTH = 0.5
N, D = 36, 4


@cache
def problem(output: str):
    """Rows, truth that follows them with noise, space and number of classes: every convex risk has a minimum."""
    rng = np.random.default_rng(11)
    X = sparse_rows(N, D, rng, density=0.7)
    noise, k = truth(output, N, rng)
    S = X.dot(1.5 * rng.normal(size=(D, k))) + 1.2 * rng.normal(size=(N, k))
    if output == "real":
        return X, S, OUTPUTS[output](), k
    if output == "multilabel":
        return X, _sets((S > 0.3) ^ (rng.random((N, k)) < 0.2)), OUTPUTS[output](), k
    y = np.where(rng.random(N) < 0.2, np.asarray(noise), np.argmax(S, axis=1)).astype(np.int32)
    return X, y, OUTPUTS[output](), k


@cache
def separable(output: str):
    """The same rows with a truth that some weights and biases decide with a margin."""
    rng = np.random.default_rng(12)
    X = sparse_rows(4 * N, D, rng, density=0.9)
    space = OUTPUTS[output]()
    k = 2 if output == "binary" else 3
    S = X.dot(rng.normal(size=(D, k))) + 0.1 * rng.normal(size=k)
    if output == "multilabel":
        clear = np.abs(S).min(axis=1) > 0.25
        return X.take(np.flatnonzero(clear)), _sets(S[clear] > 0), space, k
    ranked = np.sort(S, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 0.5
    if output == "onevsrest":  # every class against all others by a line of its own
        clear &= (S > 0.25).sum(axis=1) + (S < -0.25).sum(axis=1) == k
        clear &= (S > 0).sum(axis=1) == 1
    y = np.argmax(S, axis=1).astype(np.int32)
    return X.take(np.flatnonzero(clear)), y[clear], space, k


def _sets(member):
    from linnaeus.types import LabelSets

    offsets = np.concatenate([[0], np.cumsum(member.sum(axis=1))]).astype(np.int64)
    return LabelSets(offsets, np.nonzero(member)[1].astype(np.int32))
