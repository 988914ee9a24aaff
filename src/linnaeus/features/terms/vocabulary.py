"""An exact vocabulary: the tokens and n-grams that have a column, in arrays that can be mapped from a file.

A term of words is a path: its first token, then pairs (node so far, next token). Tokens are in the order of their
bytes, columns in the order of terms compared token by token, which is the order of the terms' names by code point
where no token holds a character that stands before the space.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.errors import damaged
from linnaeus.features.terms.grams import Grams, Term
from linnaeus.frozen import dataclass
from linnaeus.kernels.hashes import GAP, K2, K3, MASK, pair_hash
from linnaeus.kernels.plan import EDGE
from linnaeus.store.states import Tensors, tensor
from linnaeus.types import Array, Bools, Bytes, Ints, Longs, Words64, offsets_of

NONE = np.uint64(MASK)
LOW = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)
ARRAYS: dict[str, type[np.generic]] = {
    "token_bytes": np.uint8,
    "token_offsets": np.int64,
    "token_slots": np.uint64,
    "columns": np.int32,
    "pair_slots": np.uint64,
}
"""The tensors of a vocabulary."""

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

    def layout(self, unknown: bool) -> tuple[int, int]:
        """The width, and the column of unknown tokens or -1, as the kernels take them."""
        return self.width + int(unknown), self.width if unknown else -1

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

    def find(self, term: Term) -> int:
        """The column of a term, or -1."""
        node = self._find_token(term[0])
        column = int(self.columns[node]) if node >= 0 else -1
        for token in term[1:]:
            last = self._find_token(token)
            node, column = self._find_pair(node << 32 | last) if min(node, last) >= 0 else (-1, -1)
        return column

    def _find_token(self, token: bytes) -> int:
        slots, mask = self.token_slots.data, len(self.token_slots) // 2 - 1
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
        slots, mask = self.pair_slots.data, len(self.pair_slots) // 2 - 1
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
        return dict(zip(ARRAYS, self.arrays, strict=True))

    @classmethod
    def from_tensors(cls, tensors: Tensors, width: int) -> Vocabulary:
        """The arrays of a file, after a look whether a kernel can follow them without stepping outside."""
        small = "token_lengths" in tensors
        arrays = expanded(tensors) if small else (tensor(tensors, name, kind) for name, kind in ARRAYS.items())
        data, offsets, slots, columns, pairs = arrays
        vocabulary = cls(data, offsets, slots, columns, pairs, width)
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


def _take(data: Bytes, offsets: Longs, chosen: Bools) -> tuple[Bytes, Longs]:
    if chosen.all():
        return data, offsets
    lengths = np.diff(offsets)
    return data[np.repeat(chosen, lengths)], offsets_of(lengths[chosen])


def spell(vocabulary: Vocabulary, grams: Grams) -> pa.Array:
    """The name of each column as Arrow strings, as `grams.name` says it."""
    import pyarrow.compute as pc

    tokens = _readable(vocabulary)
    between, orders = pa.scalar(grams.joint, pa.large_string()), [tokens]
    for parents, last in vocabulary.orders():
        before, token = orders[-1].take(pa.array(parents)), tokens.take(pa.array(last))
        orders.append(pc.binary_join_element_wise(before, token, between))
    names = pa.concat_arrays(orders).take(pa.array(vocabulary.node_of_column()))
    if grams.analysis.tokenizer != "edges":
        return names
    return pc.replace_substring(pc.replace_substring_regex(names, r"^\x00", "^"), EDGE, "$")


def _readable(vocabulary: Vocabulary) -> pa.Array:
    """The tokens as text; bytes that are no UTF-8, where each byte is a token, in Python's escapes."""
    offsets, data = (pa.py_buffer(np.ascontiguousarray(a)) for a in (vocabulary.token_offsets, vocabulary.token_bytes))
    tokens = pa.Array.from_buffers(pa.large_binary(), len(vocabulary.columns), [None, offsets, data])
    try:
        return tokens.cast(pa.large_string())
    except pa.ArrowInvalid:
        decoded = [token.decode("utf-8", "backslashreplace") for token in tokens.to_pylist()]
        return pa.array(decoded, pa.large_string())


def hash_columns(vocabulary: Vocabulary, skips: bool) -> Words64:
    """The 64 bits of each column's term, as the kernels hash it; between the words of a skip-gram stands a gap."""
    count = len(vocabulary.columns)
    tokens = np.fromiter((kernels.hash_bytes(vocabulary.token(i)) for i in range(count)), np.uint64, count)
    orders = [tokens]
    for parents, last in vocabulary.orders():
        before = join_hashes(orders[-1], np.uint64(GAP)) if skips else orders[-1]
        orders.append(join_hashes(before[parents], tokens[last]))
    return np.concatenate(orders)[vocabulary.node_of_column()]


def join_hashes(prefix: Words64, last: Words64 | np.uint64) -> Words64:
    """The kernels' `hash_join` for many: the halves of a 128-bit product, exclusive-ored.

    >>> from linnaeus.kernels.hashes import hash_join
    >>> int(join_hashes(np.array([2**63 + 5], np.uint64), np.uint64(77))[0]) == hash_join(2**63 + 5, 77)
    True
    """
    a, b = prefix ^ np.uint64(K2), last ^ np.uint64(K3)
    low = (a & LOW) * (b & LOW)
    one, other = (a >> SHIFT) * (b & LOW), (a & LOW) * (b >> SHIFT)
    middle = (low >> SHIFT) + (one & LOW) + (other & LOW)  # at most three times 2^32: it cannot overflow
    high = (a >> SHIFT) * (b >> SHIFT) + (one >> SHIFT) + (other >> SHIFT) + (middle >> SHIFT)
    return high ^ (middle << SHIFT | low & LOW)


KINDS = (np.uint8, np.uint16, np.uint32)


def terse(tensors: Tensors) -> Tensors:
    """The tensors of fitted features, with every vocabulary among them in few bytes.

    >>> from linnaeus.features import Words
    >>> fitted = Words().fit(["a good film", "a bad film"])
    >>> sorted(terse(fitted.state().tensors))
    ['last', 'pair_columns', 'steps', 'token_bytes', 'token_columns', 'token_lengths']
    """
    found = dict(tensors)
    for name in tensors:
        prefix = name.removesuffix("pair_slots")
        if prefix != name and all(prefix + part in tensors for part in ARRAYS):
            data, offsets, slots, columns, pairs = (found.pop(prefix + part) for part in ARRAYS)
            whole = Vocabulary(data, offsets, slots, columns, pairs, 0)
            found |= {prefix + part: array for part, array in _terse(whole).items()}
    return found


def _terse(vocabulary: Vocabulary) -> Tensors:
    parents, last, columns = vocabulary.nodes
    return {
        "token_bytes": vocabulary.token_bytes,
        "token_lengths": _smallest(np.diff(vocabulary.token_offsets)),
        "token_columns": vocabulary.columns,
        "steps": _smallest(np.diff(parents, prepend=np.int32(0))),
        "last": _smallest(last),
        "pair_columns": columns,
    }


def _smallest(numbers: Array) -> Array:
    most = int(numbers.max(initial=0))
    return numbers.astype(next(kind for kind in KINDS if most <= np.iinfo(kind).max))


def expanded(tensors: Tensors) -> tuple[Array, ...]:
    """The arrays of a vocabulary that `terse` made small, with the probe tables that its kernel follows."""
    lengths, steps, last = (_counts(tensors, name) for name in ("token_lengths", "steps", "last"))
    token_bytes, columns = tensor(tensors, "token_bytes", np.uint8), tensor(tensors, "token_columns", np.int32)
    pair_columns = tensor(tensors, "pair_columns", np.int32)
    parents, count = np.cumsum(steps), len(columns)
    offsets = offsets_of(lengths)
    fits = len(lengths) == count and len(steps) == len(last) == len(pair_columns)
    if not fits or offsets[-1] != len(token_bytes) or not lengths.all() or (last >= count).any():
        raise damaged("the terms of its vocabulary do not fit each other")
    if (parents >= count + np.arange(len(parents))).any() or count + len(parents) > int(LOW) >> 1:
        raise damaged("a term of its vocabulary begins with one that comes later")
    keys = parents.astype(np.uint64) << SHIFT | last.astype(np.uint64)
    slots, pairs = kernels.probe_tokens(token_bytes, offsets), kernels.probe_pairs(keys, pair_columns, count)
    return token_bytes, offsets, slots, columns, pairs


def _counts(tensors: Tensors, name: str) -> Longs:
    array = tensors.get(name)
    if array is None or array.ndim != 1 or array.dtype.type not in KINDS:
        raise damaged(f"it lacks the vector {name!r} of whole numbers")
    return array.astype(np.int64)
