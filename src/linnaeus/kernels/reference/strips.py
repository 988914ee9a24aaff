"""Twin of strips.hpp: the order in which an epoch of dual ascent visits its rows."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linnaeus.types import Words64

STRIPS, MASK = 128, (1 << 64) - 1


def visits(seeds: Words64, at: int, active: int) -> Iterator[int]:
    """The places of an epoch: each round takes the next one of every strip, the strips in a new random order.

    `seeds[at]` moves on with every draw.
    """
    count = min(active, STRIPS)
    begins = [active * i // count for i in range(count + 1)] if count else [0]
    strips = [(low, high - low, _draw(seeds, at, high - low)) for low, high in pairwise(begins)]
    for turn in range(-(-active // STRIPS)):
        for i in range(count, 1, -1):
            j = _draw(seeds, at, i)
            strips[i - 1], strips[j] = strips[j], strips[i - 1]
        yield from [low + (first + turn) % length for low, length, first in strips if turn < length]


def _draw(seeds: Words64, at: int, n: int) -> int:
    """A number below n, by xorshift."""
    seed = int(seeds[at]) or 0x9E3779B97F4A7C15
    seed ^= (seed << 13) & MASK
    seed ^= seed >> 7
    seed ^= (seed << 17) & MASK
    seeds[at] = seed
    return ((seed >> 32) * n) >> 32
