"""The arithmetic of the feature hash, which tables of terms share with the kernels: see native/hash.hpp."""

from __future__ import annotations

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
