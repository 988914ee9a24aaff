"""The feature hash: see native/hash.hpp. Fixed for ever by the test vectors in tests/kernels/test_hash.py."""

from __future__ import annotations

MASK = (1 << 64) - 1
K0, K1, K2, K3 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB
GAP = K1
"""Stands between the two words of a skip-gram."""


def fold(a: int, b: int) -> int:
    """The halves of the 128-bit product, exclusive-ored."""
    product = a * b
    return (product ^ (product >> 64)) & MASK


def _load(data: bytes) -> int:
    return int.from_bytes(data, "little")


def hash_bytes(text: bytes) -> int:
    """64 bits for a token.

    >>> hash_bytes(b"a") != hash_bytes(b"b")
    True
    """
    n = len(text)
    if n <= 8:
        return fold(_load(text) ^ K0, K1 ^ n)
    h = K2 ^ n
    for i in range(0, n - 16, 16):
        h = fold(_load(text[i : i + 8]) ^ K0 ^ h, _load(text[i + 8 : i + 16]) ^ K1)
    first = text[:8] if n < 16 else text[n - 16 : n - 8]
    h = fold(_load(first) ^ K0 ^ h, _load(text[n - 8 :]) ^ K1)
    return fold(h ^ K3, K1)


def hash_join(prefix: int, last: int) -> int:
    """The hash of an n-gram from that of its first n-1 tokens and that of its last."""
    return fold(prefix ^ K2, last ^ K3)


def pair_hash(key: int) -> int:
    """Where a pair starts in its probe table."""
    return fold(key ^ K0, K1)
