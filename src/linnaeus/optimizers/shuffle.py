"""An order of the examples for each epoch: a function of seed, epoch and n alone, the same on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from linnaeus.types import Ints


def shuffled(n: int, seed: int, epoch: int) -> Ints:
    """A permutation of 0..n-1: sorted by a hash (splitmix64) of seed, epoch and index.

    >>> sorted(shuffled(5, seed=0, epoch=1).tolist())
    [0, 1, 2, 3, 4]
    """
    stream = _mix(_mix(np.uint64(seed & (2**64 - 1))) + np.uint64(epoch))
    with np.errstate(over="ignore"):
        keys = _mix(stream + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    return np.argsort(keys, kind="stable").astype(np.int32)


def _mix(z: Any) -> Any:
    with np.errstate(over="ignore"):
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
