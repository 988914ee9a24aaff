"""An exact vocabulary: the tokens and n-grams that have a column, in arrays that can be mapped from a file.

A term of words is a path: its first token, then pairs (node so far, next token). Tokens are in the order of their
bytes, columns in the order of terms compared token by token, which is the order of the terms' names by code point
where no token holds a character that stands before the space.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linnaeus import kernels
from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.kernels.hashes import MASK, pair_hash
from linnaeus.store.states import tensor

if TYPE_CHECKING:
    from linnaeus.features.indexing.grams import Term
    from linnaeus.store.states import Tensors
    from linnaeus.types import Bytes, Ints, Longs, Words64

NONE = np.uint64(MASK)
LOW = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)
LONGEST = 64
"""Terms of a file have fewer tokens than this."""


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Token bytes and offsets, a probe table over them, their columns (or -1), and a probe table of longer terms."""

    token_bytes: Bytes
    token_offsets: Longs
    token_slots: Words64
    columns: Ints
    pair_slots: Words64
    width: int

    @property
    def arrays(self) -> tuple[Bytes, Longs, Words64, Ints, Words64]:
        """As the kernel takes them."""
        return self.token_bytes, self.token_offsets, self.token_slots, self.columns, self.pair_slots

    @cached_property
    def nodes(self) -> tuple[Ints, Ints, Ints]:
        """Parent, last token and column (or -1) of each longer term, in the order of nodes."""
        slots = self.pair_slots.reshape(-1, 2)
        keys, values = slots[slots[:, 0] != NONE].T
        place = (values & LOW).astype(np.int64) - len(self.columns)
        parents, last, columns = (np.empty(len(place), np.int32) for _ in range(3))
        parents[place] = keys >> SHIFT
        last[place] = keys & LOW
        columns[place] = (values >> SHIFT).astype(np.uint32).view(np.int32)
        return parents, last, columns

    def token(self, number: int) -> bytes:
        """The bytes of a token."""
        return self.token_bytes[self.token_offsets[number] : self.token_offsets[number + 1]].tobytes()

    def orders(self) -> Iterator[tuple[Ints, Ints]]:
        """For n-grams of 2, 3 ...: the parent of each, numbered within the order before, and its last token."""
        parents, last, _ = self.nodes
        first, start, below = len(self.columns), 0, 0
        while start < len(parents):
            # Nodes stand order by order: the next one begins where parents are of this one.
            end = start + int(np.searchsorted(parents[start:], first + start))
            yield parents[start:end] - np.int32(below), last[start:end]
            start, below = end, first + start

    def node_of_column(self) -> Longs:
        """Which node (token, or longer term) each column stands for."""
        columns = np.concatenate([self.columns, self.nodes[2]])
        there = np.flatnonzero(columns >= 0)
        found = np.empty(self.width, np.int64)
        found[columns[there]] = there
        return found

    @property
    def _tables(self) -> tuple[memoryview, memoryview]:
        return self.token_slots.data, self.pair_slots.data

    def find(self, term: Term) -> int:
        """The column of a term, or -1."""
        node = self._find_token(term[0])
        column = int(self.columns[node]) if node >= 0 else -1
        for token in term[1:]:
            last = self._find_token(token)
            node, column = self._find_pair(node << 32 | last) if min(node, last) >= 0 else (-1, -1)
        return column

    def _find_token(self, token: bytes) -> int:
        slots, mask = self._tables[0], len(self.token_slots) // 2 - 1
        value, short = kernels.hash_bytes(token), len(token) <= 8
        key = int.from_bytes(token, "little") if short else value
        tag = len(token) if short else len(token) | 1 << 31
        i = value & mask
        while slots[2 * i + 1] >> 32:
            number = slots[2 * i + 1] & 0xFFFFFFFF
            if slots[2 * i] == key and slots[2 * i + 1] >> 32 == tag and (short or self.token(number) == token):
                return int(number)
            i = (i + 1) & mask
        return -1

    def _find_pair(self, key: int) -> tuple[int, int]:
        slots, mask = self._tables[1], len(self.pair_slots) // 2 - 1
        i = pair_hash(key) & mask
        while slots[2 * i] != MASK:
            if slots[2 * i] == key:
                column = slots[2 * i + 1] >> 32
                return slots[2 * i + 1] & 0xFFFFFFFF, column - (1 << 32) if column >> 31 else column
            i = (i + 1) & mask
        return -1, -1

    def keep(self, columns: Ints) -> Vocabulary:
        """Only the terms of these columns (sorted), and of what they begin with."""
        now = np.full(self.width, -1, np.int32)
        now[columns] = np.arange(len(columns), dtype=np.int32)
        parents, last, own = self.nodes
        renumbered = [np.where(c >= 0, now[c], -1).astype(np.int32) for c in (self.columns, own)]
        return compact((self.token_bytes, self.token_offsets), parents, last, np.concatenate(renumbered))

    def tensors(self) -> Tensors:
        """The arrays by name."""
        names = ("token_bytes", "token_offsets", "token_slots", "columns", "pair_slots")
        return dict(zip(names, self.arrays, strict=True))

    @classmethod
    def from_tensors(cls, tensors: Tensors, width: int) -> Vocabulary:
        """The arrays of a file, after a look whether a kernel can follow them without stepping outside."""
        if "token_lengths" in tensors:
            from linnaeus.features.indexing.terse import expanded

            tensors = expanded(tensors)
        vocabulary = cls(
            tensor(tensors, "token_bytes", np.uint8),
            tensor(tensors, "token_offsets", np.int64),
            tensor(tensors, "token_slots", np.uint64),
            tensor(tensors, "columns", np.int32),
            tensor(tensors, "pair_slots", np.uint64),
            width,
        )
        if not kernels.is_sound(vocabulary.arrays, width, LONGEST):
            raise damaged("the tables of its vocabulary do not fit each other")
        return vocabulary


def compact(tokens: tuple[Bytes, Longs], parents: Ints, last: Ints, columns: Ints) -> Vocabulary:
    """A vocabulary of the nodes (tokens, then longer terms) that have a column or begin one that has.

    `columns` is that of each node, or -1; a parent stands before its children.
    """
    count = len(tokens[1]) - 1
    needed = columns >= 0
    while True:
        inner = needed[count:]
        before = int(needed.sum())
        needed[parents[inner]] = True
        needed[last[inner]] = True
        if int(needed.sum()) == before:
            break
    number = np.cumsum(needed, dtype=np.int32) - 1
    inner = needed[count:]
    token_bytes, token_offsets = _take(*tokens, needed[:count])
    keys = number[parents[inner]].astype(np.uint64)
    keys <<= SHIFT
    keys |= number[last[inner]].astype(np.uint32)
    first = int(needed[:count].sum())
    return Vocabulary(
        token_bytes,
        token_offsets,
        kernels.probe_tokens(token_bytes, token_offsets),
        columns[:count][needed[:count]],
        kernels.probe_pairs(keys, columns[count:][inner], first),
        int((columns >= 0).sum()),
    )


def _take(data: Bytes, offsets: Longs, chosen: NDArray[np.bool_]) -> tuple[Bytes, Longs]:
    if chosen.all():
        return data, offsets
    lengths = np.diff(offsets)
    kept = np.zeros(int(chosen.sum()) + 1, np.int64)
    np.cumsum(lengths[chosen], out=kept[1:])
    return data[np.repeat(chosen, lengths)], kept
