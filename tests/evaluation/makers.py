"""Random outcomes with what is awkward in them: absent classes, ties, weights, withheld and unknown labels."""

import numpy as np

from linnaeus.evaluation import Outcome
from linnaeus.types import LabelSets


def softmax(S):
    P = np.exp(S - S.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def single(seed, n=300, k=5, *, weights=True, absent=True, unknown=0, abstain=0):
    """An outcome of single labels: the last class absent, scores on a grid so that there are ties."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k - absent, n)
    S = np.round(rng.normal(size=(n, k)) + 1.5 * np.eye(k)[truth], 1)
    if absent:
        S[:, -1] -= 20.0
    predicted = S.argmax(axis=1)
    truth[rng.permutation(n)[:unknown]] = -1
    predicted[rng.permutation(n)[:abstain]] = -1
    w = rng.integers(1, 5, n) / 2.0 if weights else None
    return Outcome(truth, predicted, [f"c{i}" for i in range(k)], softmax(S), S, w)


def indicator(sets, k):
    Y = np.zeros((len(sets), k), int)
    Y[np.repeat(np.arange(len(sets)), np.diff(sets.offsets)), sets.labels] = 1
    return Y


def label_sets(Y):
    offsets = np.concatenate([[0], np.cumsum(Y.sum(axis=1))]).astype(np.int64)
    return LabelSets(offsets, np.nonzero(Y)[1].astype(np.int32))


def sets(seed, n=200, k=6, *, weights=True):
    """An outcome of label sets: some rows empty, the last label neither true nor predicted."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, k)) < 0.3
    Y[:, -1] = False
    S = np.round(rng.normal(size=(n, k)) + 2.0 * Y - 1.0, 1)
    S[:, -1] = -9.0
    P = 1 / (1 + np.exp(-S))
    w = rng.integers(1, 5, n) / 2.0 if weights else None
    return Outcome(label_sets(Y), label_sets(P > 0.5), [f"l{i}" for i in range(k)], P, S, w)


def numbers(seed, n=200, t=1, *, weights=True):
    rng = np.random.default_rng(seed)
    truth = rng.normal(3.0, 2.0, (n, t))
    w = rng.integers(1, 5, n) / 2.0 if weights else None
    return Outcome(np.squeeze(truth), np.squeeze(truth + rng.normal(size=(n, t))), weights=w)
