"""Vocabularies that can be followed, and those that cannot: the kernel says what its twin says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.features import Chars, Words
from linnaeus.kernels import reference

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])
VOCABULARY = (
    Words(ngrams=(1, 4)).fit(["extraordinarily long words", "and short ones", "long words and so on"]).vocabulary
)
LONGEST = 64
NAMES = ["token_bytes", "token_offsets", "token_slots", "columns", "pair_slots"]
# What may stand in a slot, a column or an offset of a file: numbers near those that are right, and extremes.
NUMBERS = st.one_of(st.integers(-3, 40), st.sampled_from([1 << 31, (1 << 31) - 1, 1 << 32, (1 << 63) - 1, -(1 << 63)]))


def changed(name: str, at: int, number: int) -> list[np.ndarray]:
    arrays = [array.copy() for array in VOCABULARY.arrays]
    chosen = arrays[NAMES.index(name)]
    chosen[at % len(chosen)] = np.int64(number).astype(chosen.dtype)
    return arrays


@each_side
def test_vocabularies_as_they_are_made(side) -> None:
    for features in (Words(), Words(ngrams=(2, 3)), Chars(2, 5)):
        v = features.fit(["red green blue", "green, and red"]).vocabulary
        assert side.is_sound(v.arrays, v.width, LONGEST)
        assert not side.is_sound(v.arrays, v.width + 1, LONGEST)
        assert not side.is_sound(v.arrays, v.width - 1, LONGEST)


@given(name=st.sampled_from(NAMES), at=st.integers(0, 200), number=NUMBERS)
def test_one_number_changed(name, at, number) -> None:
    arrays = tuple(changed(name, at, number))
    found = kernels.is_sound(arrays, VOCABULARY.width, LONGEST)
    assert found == reference.is_sound(arrays, VOCABULARY.width, LONGEST)


@given(at=st.integers(0, 200), key=st.integers(0, (1 << 64) - 1), node=NUMBERS, column=st.integers(-2, 40))
def test_one_slot_changed(at, key, node, column) -> None:
    arrays = list(VOCABULARY.arrays)
    slots = arrays[4].copy()
    at = at % (len(slots) // 2) * 2
    slots[at], slots[at + 1] = key, (node & 0xFFFFFFFF) | (column & 0xFFFFFFFF) << 32
    arrays[4] = slots
    found = kernels.is_sound(tuple(arrays), VOCABULARY.width, LONGEST)
    assert found == reference.is_sound(tuple(arrays), VOCABULARY.width, LONGEST)


@each_side
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("by", [-1, 1])
def test_an_array_too_short_or_too_long(side, name, by) -> None:
    arrays = list(VOCABULARY.arrays)
    array = arrays[NAMES.index(name)]
    arrays[NAMES.index(name)] = array[:-1] if by < 0 else np.append(array, array[-1:])
    assert not side.is_sound(tuple(arrays), VOCABULARY.width, LONGEST)
    arrays[NAMES.index(name)] = array[:0]
    assert not side.is_sound(tuple(arrays), VOCABULARY.width, LONGEST)


@each_side
def test_no_empty_slot(side) -> None:
    """A search would never end."""
    data, offsets = np.frombuffer(b"ab", np.uint8), np.array([0, 1, 2], np.int64)
    slots = kernels.probe_tokens(data, offsets).reshape(-1, 2)
    none = kernels.probe_pairs(np.zeros(0, np.uint64), np.zeros(0, np.int32), 2)
    full = slots[slots[:, 1] != 0].reshape(-1)
    columns = np.arange(2, dtype=np.int32)
    assert side.is_sound((data, offsets, slots.reshape(-1), columns, none), 2, LONGEST)
    assert not side.is_sound((data, offsets, full, columns, none), 2, LONGEST)
    pair = np.array([1, 2 | 2 << 32], np.uint64)
    assert side.is_sound((data, offsets, slots.reshape(-1), columns, np.append(pair, none[:2])), 3, LONGEST)
    assert not side.is_sound((data, offsets, slots.reshape(-1), columns, pair), 3, LONGEST)


@each_side
def test_terms_of_too_many_tokens(side) -> None:
    v = Words(ngrams=(1, 6)).fit(["a b c d e f"]).vocabulary
    assert side.is_sound(v.arrays, v.width, 6)
    assert not side.is_sound(v.arrays, v.width, 5)


@each_side
def test_widths_no_table_can_have(side) -> None:
    for width in (-1, 1 << 31, (1 << 62) + 1):
        assert not side.is_sound(VOCABULARY.arrays, width, LONGEST)


@each_side
@pytest.mark.parametrize("spread", [False, True], ids=["beside each other", "with gaps"])
def test_no_search_walks_over_thousands_of_slots(side, spread) -> None:
    """Places of slots are the file's own: all of them may lie in one run, and every look-up walk through it."""
    tokens = [f"t{i}".encode() for i in range(3000)]
    data, offsets = np.frombuffer(b"".join(tokens), np.uint8), np.cumsum([0, *map(len, tokens)])
    slots = kernels.probe_tokens(data, offsets).reshape(-1, 2)
    none = kernels.probe_pairs(np.zeros(0, np.uint64), np.zeros(0, np.int32), 3000)
    columns = np.arange(3000, dtype=np.int32)
    assert side.is_sound((data, offsets, slots.reshape(-1), columns, none), 3000, LONGEST)
    packed = np.zeros((8192, 2), np.uint64)
    places = np.arange(3000) + (np.arange(3000) // 2000 if spread else 0)
    packed[(places + 7000) % 8192] = slots[slots[:, 1] >> np.uint64(32) != 0]
    assert side.is_sound((data, offsets, packed.reshape(-1), columns, none), 3000, LONGEST) == spread
