"""Made-up scores with their truth, one world for each kind of scores."""

import numpy as np

from linnaeus.types import LabelSets


def sets_of(members):
    offsets = np.r_[0, np.cumsum(members.sum(axis=1))].astype(np.int64)
    return LabelSets(offsets, np.nonzero(members)[1].astype(np.int32))


def world(kind, n=400, k=4, scale=3.0, seed=0):
    """Scores that are `scale` times too sure, and the truth drawn from what they should say."""
    rng = np.random.default_rng(seed)
    if kind == "classes":
        S = rng.normal(size=(n, k)) * 1.5
        P = np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)
        return scale * S, (P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    S = rng.normal(size=(n, 1 if kind == "binary" else k)) * 2.0
    yes = rng.random(S.shape) < 1 / (1 + np.exp(-S))
    return scale * S, yes[:, 0].astype(int) if kind == "binary" else sets_of(yes)


def log_loss(P, truth):
    if isinstance(truth, LabelSets):
        yes = np.zeros(P.shape, bool)
        yes[np.repeat(np.arange(len(truth)), np.diff(truth.offsets)), truth.labels] = True
        return -np.log(np.where(yes, P, 1 - P)).mean()
    return -np.log(P[np.arange(len(P)), truth]).mean()
