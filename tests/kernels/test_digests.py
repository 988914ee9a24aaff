"""Digests of blocks: XXH64 as others write it, the same from kernel and twin, and guards that find every damage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import reference
from linnaeus.kernels.reference.digests import BLOCK
from linnaeus.kernels.reference.digests import xxh64 as digests

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])


def xxh64(data: bytes) -> int:
    return int(digests(np.frombuffer(data, np.uint8)[np.newaxis])[0])


def some(count: int) -> np.ndarray:
    return np.frombuffer(np.random.default_rng(count).bytes(count), np.uint8)


def test_the_digests_are_those_of_xxhash() -> None:
    """Vectors of the xxHash library, seed 0."""
    assert xxh64(b"") == 0xEF46DB3751D8E999
    assert xxh64(b"a") == 0xD24EC4F1A98C6E5B
    assert xxh64(b"abc") == 0x44BC2CF5AD770999
    assert xxh64(b"Nobody inspects the spammish repetition") == 0xFBCEA83C8A378BF1


@given(st.integers(0, 200) | st.integers(BLOCK - 40, BLOCK + 40) | st.integers(0, 4 * BLOCK))
def test_the_kernel_is_its_twin(count: int) -> None:
    data = some(count)
    found = kernels.block_digests(data, 2)
    assert found.tolist() == reference.block_digests(data, 1).tolist()
    assert len(found) == -(-count // BLOCK)
    assert found.tolist() == [xxh64(data[at : at + BLOCK].tobytes()) for at in range(0, count, BLOCK)]


@each_side
def test_a_guard_finds_damage_in_the_blocks_that_are_asked_for(side) -> None:
    data = some(3 * BLOCK + 5).copy()
    digests = kernels.block_digests(data, 1)
    data[BLOCK + 7] ^= 1
    guard = side.BlockGuard(data, digests)
    assert guard.check(0, BLOCK, 1)
    assert guard.check(2 * BLOCK, len(data), 1)
    assert guard.check(BLOCK, BLOCK, 1), "no bytes are always right"
    assert not guard.check(BLOCK - 1, BLOCK + 1, 1)
    assert not guard.check(0, len(data), 2)
    data[BLOCK + 7] ^= 1
    assert guard.check(0, len(data), 1)


@each_side
def test_a_guard_takes_a_digest_for_each_block_and_bytes_that_there_are(side) -> None:
    data = some(BLOCK + 1)
    digests = kernels.block_digests(data, 1)
    with pytest.raises(ValueError, match="one digest for each block"):
        side.BlockGuard(data, digests[:1])
    for start, end in ((-1, 2), (2, 1), (0, BLOCK + 2)):
        with pytest.raises(ValueError, match="no such bytes"):
            side.BlockGuard(data, digests).check(start, end, 1)
