"""The order of the examples in each epoch: a function of seed, epoch and n only, the same on every machine."""

from __future__ import annotations

import numpy as np

from linnaeus.kernels.hashes import GOLDEN, scramble
from linnaeus.types import Ints, Words64

STRIPS = 128
"""Few enough for the prefetching of a processor, many enough to mix the rows well."""


def shuffled(n: int, seed: int, epoch: int) -> Ints:
    """A random permutation of 0..n-1 that keeps memory access mostly sequential.

    The rows are cut into strips; each round takes the next row of every strip, the strips in a new random order, each
    from a random start. Rows of a strip follow each other in memory, so that a matrix larger than the caches is read
    twice as fast as in any order, while rows that lie side by side, often of one class, are apart in time. Up to 128
    rows it is a plain shuffle.

    >>> sorted(shuffled(5, seed=0, epoch=1).tolist())
    [0, 1, 2, 3, 4]
    """
    strips = min(n, STRIPS)
    if not strips:
        return np.zeros(0, np.int32)
    ends = n * np.arange(strips + 1) // strips
    lengths = np.diff(ends)
    draws = _draws(seed, epoch, -(-n // strips) + 1, strips)
    starts = (draws[0] >> np.uint64(32)).astype(np.int64) * lengths >> 32
    turns = np.arange(len(draws) - 1)[:, None]
    places = ends[:-1] + (starts + turns) % lengths
    places[np.broadcast_to(turns >= lengths, places.shape)] = -1
    order = np.take_along_axis(places, np.argsort(draws[1:], axis=1), axis=1).reshape(-1)
    return order[order >= 0].astype(np.int32)


def _draws(seed: int, epoch: int, rounds: int, strips: int) -> Words64:
    """Random words (rounds, strips): a hash of seed, epoch and place."""
    with np.errstate(over="ignore"):
        stream = scramble(scramble(np.uint64(int(seed) & (2**64 - 1)) + GOLDEN) + np.uint64(epoch) + GOLDEN)
        places = np.arange(5, rounds * strips + 5, dtype=np.uint64) * GOLDEN
        words: Words64 = scramble(stream + places + GOLDEN)
    return words.reshape(rounds, strips)
