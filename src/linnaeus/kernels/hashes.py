"""The arithmetic of the feature hash (native/hash.hpp), and random numbers from counters, the same on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from linnaeus.types import Words64

MASK = (1 << 64) - 1
K0, K1, K2, K3 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB
GAP = K1
"""Stands between the two words of a skip-gram."""


def fold(a: int, b: int) -> int:
    """The halves of the 128-bit product, exclusive-ored."""
    product = a * b
    return (product ^ (product >> 64)) & MASK


def hash_join(prefix: int, last: int) -> int:
    """The hash of an n-gram from that of its first n-1 tokens and that of its last."""
    return fold(prefix ^ K2, last ^ K3)


def pair_hash(key: int) -> int:
    """Where a pair starts in its probe table."""
    return fold(key ^ K0, K1)


GOLDEN = np.uint64(K0)
"""2^64 over the golden ratio: the step from one counter to the next."""


def scramble(z: Any) -> Any:
    """The finalizer of SplitMix64 (Steele, Lea and Flood 2014), for one uint64 or an array of them.

    >>> hex(scramble(GOLDEN))
    '0xe220a8397b1dcdaf'
    """
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def mix(x: Words64) -> Words64:
    """The finalizer of MurmurHash3 (Appleby 2011).

    >>> hex(mix(np.array([1], np.uint64))[0])
    '0xb456bcfc34c2cb2c'
    """
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return x ^ (x >> np.uint64(33))
