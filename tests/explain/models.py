"""Models with weights out of a hat, for tests of what is said about them."""

from __future__ import annotations

from functools import cache

import numpy as np

from linnaeus.explain import Linear
from linnaeus.outputs import Binary, Multiclass, MultiLabel, OneVsOne, OneVsRest, Real

SPACES = [
    (Binary(), 2),
    (Multiclass(), 4),
    (OneVsRest(), 3),
    (OneVsOne(), 4),
    (OneVsOne(reconcile="sums"), 4),
    (MultiLabel(), 4),
    (Real(), 1),
    (Real(), 2),
]


def random_model(features, space=None, k=3, seed=0) -> Linear:
    """A model over these features with float32 weights."""
    space = space or Multiclass()
    return Linear(features, *_weights(features.width, space.width(k), seed), space, tuple("abcdefg"[:k]))


@cache
def _weights(d, w, seed):
    """Weights (d, w) and biases (w,): drawing a million of them for every example takes longer than the example."""
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(d, w)).astype(np.float32), rng.normal(size=w).astype(np.float32)
    for array in found:
        array.flags.writeable = False
    return found


def check_sums(why, tolerance=1e-5) -> None:
    """Features, places, characters and segments, with bias and what has no place, come to the score, each."""
    for reason in (*why.reasons, *([why.contrast] if why.contrast else [])):
        parts, said = reason.parts(), reason.bias + reason.unplaced
        scale = max(1.0, float(np.abs(reason.contributions).sum()))
        for total in (
            reason.bias + sum(part.contribution for part in parts),
            said + sum(spot.contribution for part in parts for spot in part.spots),
            said + float(reason.characters().sum()),
            said + sum(spot.contribution for spot in reason.segments()),
        ):
            assert abs(total - reason.score) <= tolerance * scale
