"""Probe tables and the look-up of terms in them: twins of native/index_terms.cpp, bit for bit.

A table is an array of slots of two 64-bit words. Tokens: the bytes of a short one (the hash of a long one), then
number | tag << 32, where the tag is the length, its top bit set for a long one. Pairs: parent << 32 | token, then
node | column << 32.

`is_sound` is the twin of sound.cpp: whether tables can be followed without stepping outside.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

import numpy as np

from linnaeus.kernels.hashes import MASK, pair_hash
from linnaeus.kernels.plan import Plan, checked
from linnaeus.kernels.reference.rows import Rows, refuse
from linnaeus.kernels.reference.terms import Term, hash_bytes, terms_of, to_rows
from linnaeus.kernels.reference.tokens import pieces_of, texts_of, tokens_of
from linnaeus.types import AnyInts, Bools, Bytes, Ints, Longs, Words64

Arrays: TypeAlias = tuple[Bytes, Longs, Words64, Ints, Words64]


LONG = 1 << 31
NO_PAIR = MASK
LOW, SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32)


def _table(entries: list[tuple[int, int, int]], empty: tuple[int, int]) -> Words64:
    """A probe table of entries, each a hash and the two words of its slot."""
    size = 1 << (max(16, len(entries) + len(entries) // 4 + 1) - 1).bit_length()
    slots = [empty] * size
    for i, first, second in entries:
        while slots[i & (size - 1)] != empty:
            i += 1
        slots[i & (size - 1)] = first, second
    return np.array(slots, np.uint64).ravel()


def is_table(slots: Words64) -> bool:
    """Whether there are as many slots as a probe table may have."""
    return len(slots) % 2 == 0 and (len(slots) // 2).bit_count() == 1


def pairs_in(slots: Words64) -> tuple[Words64, Longs, Ints]:
    """Key, node and column of each pair of a probe table."""
    table = slots.reshape(-1, 2)
    keys, values = table[table[:, 0] != np.uint64(NO_PAIR)].T
    return keys, (values & LOW).astype(np.int64), (values >> SHIFT).astype(np.uint32).view(np.int32)


def probe_tokens(data: Bytes, offsets: Longs) -> Words64:
    """A probe table over the tokens, numbered in order."""
    entries = []
    for number, token in enumerate(pieces_of(data, offsets)):
        value, short = hash_bytes(token), len(token) <= 8
        tag = len(token) if short else len(token) | LONG
        entries.append((value, int.from_bytes(token, "little") if short else value, number | tag << 32))
    return _table(entries, (0, 0))


def probe_pairs(keys: Words64, columns: Ints, first: int) -> Words64:
    """A probe table over the pairs; pair i becomes node first + i and has columns[i]."""
    pairs = enumerate(zip(keys.tolist(), columns.tolist(), strict=True), first)
    entries = [(pair_hash(key), key, node | (column & 0xFFFFFFFF) << 32) for node, (key, column) in pairs]
    return _table(entries, (NO_PAIR, (MASK >> 32) << 32))


class _Lookup:
    """The columns of terms under a vocabulary, from its arrays."""

    def __init__(self, tokens: list[bytes], columns: Ints, pair_slots: Words64) -> None:
        self.numbers = {token: i for i, token in enumerate(tokens)}
        self.columns = columns.tolist()
        keys, nodes, found = (part.tolist() for part in pairs_in(pair_slots))
        self.pairs = dict(zip(keys, zip(nodes, found, strict=True), strict=True))

    def find(self, term: Term) -> int:
        """The column, or -1."""
        node = self.numbers.get(term[0], -1)
        column = self.columns[node] if node >= 0 else -1
        for token in term[1:]:
            last = self.numbers.get(token, -1)
            node, column = self.pairs.get(node << 32 | last, (-1, -1)) if min(node, last) >= 0 else (-1, -1)
        return int(column)


def index_terms(
    data: Bytes, offsets: Longs, plan: Plan, vocabulary: Arrays, layout: tuple[int, int], _threads: int
) -> Rows:
    """Counts of the terms of each text in their columns.

    The layout is (width, unknown): tokens without a column count in column `unknown` unless that is negative.
    """
    token_bytes, token_offsets, token_slots, columns, pair_slots = vocabulary
    width, unknown = layout
    plan = checked(plan)
    refuse(width < 0 or unknown >= width, "index_terms: the unknown column is outside the width")
    if not (is_table(token_slots) and is_table(pair_slots) and len(token_offsets) == len(columns) + 1):
        raise ValueError("the arrays of the vocabulary do not fit each other")
    lookup = _Lookup(pieces_of(token_bytes, token_offsets), columns, pair_slots)
    rows = []
    for text in texts_of(data, offsets):
        # A vocabulary may hold single words that a plan of pairs does not count as terms: their columns say so.
        wide = plan._replace(low=1) if plan.of_words else plan
        found = Counter(lookup.find(term) for term in terms_of(text, wide))
        missing = found.pop(-1, 0)
        if unknown >= 0:
            if plan.of_words:
                single = [lookup.find((token,)) for token in tokens_of(text, plan.case, plan.tokenizer)]
                missing = single.count(-1)
            found[unknown] += missing
        rows.append({column: count for column, count in found.items() if count})
    return to_rows(rows)


MOST = 2**31 - 1
LONGEST_RUN = 2048
"""Slots that a search may walk over. The longest run of a table that is 4/5 full, of millions, is some 600."""


def is_sound(vocabulary: Arrays, width: int, longest: int) -> bool:
    """Whether a look-up ends, and finds nothing but tokens, nodes and columns that there are, each of them once."""
    data, offsets, token_slots, columns, pair_slots = vocabulary
    count = len(columns)
    if not is_table(token_slots) or not is_table(pair_slots) or not 0 <= width <= MOST:
        return False
    if not _sound_offsets(data, offsets, count) or not _sound_tokens(token_slots, offsets):
        return False
    keys, nodes, found = pairs_in(pair_slots)
    if not _short_runs(pair_slots[::2] != np.uint64(NO_PAIR)) or not _is_range(nodes, count, len(keys)):
        return False
    order = np.argsort(nodes)
    keys, found = keys[order], found[order]
    parents = (keys >> SHIFT).astype(np.int64)
    given = np.concatenate([columns, found])
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


def _short_runs(used: Bools) -> bool:
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


def _is_range(numbers: AnyInts, start: int, count: int) -> bool:
    """Whether these are the numbers from `start`, each once, in any order."""
    if len(numbers) != count:
        return False
    shifted = numbers.astype(np.int64) - start
    inside = bool(((shifted >= 0) & (shifted < count)).all())
    return inside and bool((np.bincount(shifted, minlength=count) == 1).all())
