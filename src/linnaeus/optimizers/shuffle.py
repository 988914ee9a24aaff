"""An order of the examples for each epoch: a function of seed, epoch and n alone, the same on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.kernels.draws import GOLDEN, scramble

if TYPE_CHECKING:
    from linnaeus.types import Ints


def shuffled(n: int, seed: int, epoch: int) -> Ints:
    """A permutation of 0..n-1: sorted by a hash of seed, epoch and index.

    >>> sorted(shuffled(5, seed=0, epoch=1).tolist())
    [0, 1, 2, 3, 4]
    """
    with np.errstate(over="ignore"):
        stream = scramble(scramble(np.uint64(seed & (2**64 - 1)) + GOLDEN) + np.uint64(epoch) + GOLDEN)
        keys = scramble(stream + np.arange(1, n + 1, dtype=np.uint64) * GOLDEN + GOLDEN)
    return np.argsort(keys, kind="stable").astype(np.int32)
