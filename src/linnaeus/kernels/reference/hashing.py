"""The feature hash: see native/hash.hpp. Fixed for ever by the test vectors in tests/kernels/test_hash.py."""

from __future__ import annotations

from linnaeus.kernels.hashes import K0, K1, K2, K3, fold


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
