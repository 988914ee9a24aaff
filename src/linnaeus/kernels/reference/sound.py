"""Twin of sound.cpp: whether the tables of a vocabulary can be followed without stepping outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.kernels.reference.lookup import LONG, NO_PAIR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.kernels.reference.lookup import Arrays
    from linnaeus.types import Bytes, Longs, Words64

LOW, SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)
MOST = 2**31 - 1
LONGEST_RUN = 2048
"""Slots that a search may walk over. The longest run of a table that is 4/5 full, of millions, is some 600."""


def is_sound(vocabulary: Arrays, width: int, longest: int) -> bool:
    """Whether a look-up ends, and finds nothing but tokens, nodes and columns that there are, each of them once."""
    data, offsets, token_slots, columns, pair_slots = vocabulary
    count, tables = len(columns), (token_slots, pair_slots)
    if any(len(slots) % 2 or (len(slots) // 2).bit_count() != 1 for slots in tables) or not 0 <= width <= MOST:
        return False
    if not _sound_offsets(data, offsets, count) or not _sound_tokens(token_slots, offsets):
        return False
    pairs = pair_slots.reshape(-1, 2)
    keys, values = pairs[pairs[:, 0] != np.uint64(NO_PAIR)].T
    if not _short_runs(pairs[:, 0] != np.uint64(NO_PAIR)) or not _is_range(values & LOW, count, len(keys)):
        return False
    keys, values = (words[np.argsort(values & LOW)] for words in (keys, values))
    parents = (keys >> SHIFT).astype(np.int64)
    given = np.concatenate([columns, (values >> SHIFT).astype(np.uint32).view(np.int32)])
    return bool(
        (parents < count + np.arange(len(parents))).all()
        and (np.diff(parents) >= 0).all()
        and (keys & LOW < count).all()
        and _orders(parents, count) < longest
        and _is_range(given[given >= 0], 0, width)
    )


def _sound_offsets(data: Bytes, offsets: Longs, count: int) -> bool:
    if len(offsets) != count + 1 or offsets[0] != 0 or offsets[-1] != len(data):
        return False
    return bool((offsets[1:] > offsets[:-1]).all())


def _sound_tokens(slots: Words64, offsets: Longs) -> bool:
    """Whether each token stands once in its table, with its length, and an empty slot ends every search."""
    second = slots[1::2]
    used, lengths = second[second >> SHIFT != 0], np.diff(offsets)
    if not _short_runs(second >> SHIFT != 0) or not _is_range(used & LOW, 0, len(lengths)):
        return False
    tags = np.where(lengths <= 8, lengths, lengths | LONG).astype(np.uint64)
    return bool(np.array_equal(used >> SHIFT, tags[used & LOW]))


def _short_runs(used: NDArray[np.bool_]) -> bool:
    """Whether an empty slot ends every search soon; the table is a ring."""
    empty = np.flatnonzero(~used)
    if not len(empty):
        return False
    return int(np.diff(empty, append=empty[0] + len(used)).max()) - 1 <= LONGEST_RUN


def _orders(parents: Longs, count: int) -> int:
    """How many orders of n-grams there are: the next one begins where parents are of this one."""
    orders, start = 0, 0
    while start < len(parents):
        start += int(np.searchsorted(parents[start:], count + start))
        orders += 1
    return orders


def _is_range(numbers: NDArray[np.integer[Any]], start: int, count: int) -> bool:
    """Whether these are the numbers from `start`, each once, in any order."""
    if len(numbers) != count:
        return False
    shifted = numbers.astype(np.int64) - start
    inside = bool(((shifted >= 0) & (shifted < count)).all())
    return inside and bool((np.bincount(shifted, minlength=count) == 1).all())
