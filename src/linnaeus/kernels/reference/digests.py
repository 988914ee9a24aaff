"""Twins of digests.cpp and minhash.cpp: XXH64 of blocks, fingerprints of texts, and MinHash signatures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linnaeus.kernels.hashes import K0, K1, K2, MASK, mix
from linnaeus.kernels.reference.rows import refuse
from linnaeus.kernels.reference.tokens import pieces_of
from linnaeus.types import Bytes, Floats, Ints, Longs, Words64

BLOCK = 1 << 14
"""Bytes of a block; the last one may have fewer."""

P1, P2, P3, P4, P5 = np.array(
    [0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5], np.uint64
)
ZERO = np.uint64(0)


def block_digests(data: Bytes, _threads: int) -> Words64:
    """The digest of each block."""
    whole = len(data) // BLOCK
    found = xxh64(data[: whole * BLOCK].reshape(whole, BLOCK))
    rest = data[whole * BLOCK :]
    return np.append(found, xxh64(rest[np.newaxis])) if len(rest) else found


class BlockGuard:
    """Bytes and the digests of their blocks; a block is looked at once, when it is first asked about."""

    def __init__(self, data: Bytes, digests: Words64) -> None:
        """The digests are one for each block."""
        refuse(len(digests) != -(-len(data) // BLOCK), "BlockGuard: there is not one digest for each block")
        self._data, self._digests = data, digests
        self._seen = np.zeros(len(digests), bool)

    def check(self, start: int, end: int, _threads: int) -> bool:
        """Whether the blocks that have some of these bytes are those of their digests."""
        refuse(not 0 <= start <= end <= len(self._data), "BlockGuard: there are no such bytes")
        blocks = np.arange(start // BLOCK, -(-end // BLOCK) if end > start else start // BLOCK)
        return all(self._fits(int(block)) for block in blocks[~self._seen[blocks]])

    def holds(self, array: Floats) -> bool:
        """Whether these numbers are its bytes."""
        return bool(array.ctypes.data == self._data.ctypes.data) and array.nbytes == len(self._data)

    def check_rows(self, rows: Ints, size: int) -> None:
        """The same of the rows of a table, each of so many bytes; raises where one is not."""
        for row in np.unique(rows).tolist():
            if not self.check(row * size, (row + 1) * size, 1):
                raise RuntimeError("BlockGuard: a block is not that of its digest")

    def _fits(self, block: int) -> bool:
        found = block_digests(self._data[block * BLOCK : (block + 1) * BLOCK], 1)[0] == self._digests[block]
        self._seen[block] = found
        return bool(found)


def xxh64(rows: Bytes) -> Words64:
    """XXH64 with seed 0 of each row of bytes, all rows at a time.

    >>> hex(xxh64(np.array([list(b"abc")], np.uint8))[0])
    '0x44bc2cf5ad770999'
    """
    m, size = rows.shape
    words = np.ascontiguousarray(rows[:, : size // 8 * 8]).view("<u8")
    h, at = np.full(m, P5), 0
    with np.errstate(over="ignore"):
        if size >= 32:
            lanes, at = [np.full(m, start) for start in (P1 + P2, P2, ZERO, ZERO - P1)], size // 32 * 4
            for i in range(at):
                lanes[i % 4] = _round(lanes[i % 4], words[:, i])
            h = _turn(lanes[0], 1) + _turn(lanes[1], 7) + _turn(lanes[2], 12) + _turn(lanes[3], 18)
            for lane in lanes:
                h = (h ^ _round(np.zeros_like(lane), lane)) * P1 + P4
        h = h + np.uint64(size)
        for i in range(at, words.shape[1]):
            h = _turn(h ^ _round(np.zeros_like(h), words[:, i]), 27) * P1 + P4
        rest = rows[:, words.shape[1] * 8 :]
        if rest.shape[1] >= 4:
            h = _turn(h ^ np.ascontiguousarray(rest[:, :4]).view("<u4")[:, 0] * P1, 23) * P2 + P3
            rest = rest[:, 4:]
        for byte in rest.T:
            h = _turn(h ^ byte * P5, 11) * P1
        h = (h ^ h >> np.uint64(33)) * P2
        h = (h ^ h >> np.uint64(29)) * P3
    return h ^ h >> np.uint64(32)


def _turn(words: Words64, by: int) -> Words64:
    return words << np.uint64(by) | words >> np.uint64(64 - by)


def _round(lanes: Words64, words: Words64) -> Words64:
    return _turn(lanes + words * P2, 31) * P1


SEED = 0x6C696E6E61657573
ROWS_AT_ONCE = 256


def fingerprint(data: Bytes, offsets: Longs, _threads: int) -> Words64:
    """A 64-bit hash of the exact bytes of each text."""
    return np.array([_hash(text) for text in pieces_of(data, offsets)], np.uint64)


def fingerprint_folded(data: Bytes, offsets: Longs, _threads: int) -> Words64:
    """The same for the folded texts: what differs in ASCII case and white space only has equal hashes."""
    return np.array([_hash(_fold(text)) for text in pieces_of(data, offsets)], np.uint64)


def minhash(data: Bytes, offsets: Longs, hashes: int, shingle: int, _threads: int) -> NDArray[np.uint32]:
    """`hashes` numbers for each text; the expected share of equal ones in two texts is their similarity by shingles.

    A shingle is `shingle` characters in a row of the folded text, or the whole text if it is shorter. In round r every
    shingle falls into one bin (from round `hashes` on, all into bin r - hashes), and a bin keeps the smallest value of
    the first round that reached it. Dahlgaard, Knudsen, Thorup: Fast Similarity Sketching, FOCS 2017.
    """
    texts = pieces_of(data, offsets)
    blocks = [
        _sketch([_shingles(text, shingle) for text in texts[i : i + ROWS_AT_ONCE]], hashes)
        for i in range(0, len(texts), ROWS_AT_ONCE)
    ]
    return np.concatenate(blocks) if blocks else np.zeros(0, np.uint32)


def _fold(text: bytes) -> bytes:
    return b" ".join(text.lower().split())


def _hash(text: bytes) -> int:
    value = SEED
    for i in range(0, len(text), 8):
        value = (value ^ int.from_bytes(text[i : i + 8], "little")) * K2 & MASK
        value ^= value >> 32
    return int(mix(np.array([value ^ len(text)], np.uint64))[0])


def _shingles(text: bytes, k: int) -> Words64:
    """The hashes of the different shingles of a text."""
    chars = _characters(np.frombuffer(_fold(text), np.uint8)) + np.uint64(1)
    k = min(k, len(chars))
    total = np.zeros(len(chars) - k + 1 if k else 0, np.uint64)
    for i in range(k):
        total += chars[i : i + len(total)] * np.uint64(pow(K1, k - 1 - i, MASK + 1))
    return np.unique(total)


def _characters(data: Bytes) -> Words64:
    """The last four bytes of each character; one begins at the first byte and wherever no UTF-8 continuation stands."""
    begins = (data & 0xC0) != 0x80
    begins[:1] = True
    number = np.cumsum(begins)
    last = np.flatnonzero(np.diff(number, append=-1))
    values = data[last].astype(np.uint64)
    for back in range(1, 4):
        before = np.maximum(last - back, 0)
        same = (last >= back) & (number[before] == number[last])
        values[same] |= data[before[same]].astype(np.uint64) << np.uint64(8 * back)
    return values


def _sketch(sets: list[Words64], bins: int) -> NDArray[np.uint32]:
    """The signatures of many sets, round by round for all that still have an empty bin."""
    table = np.full((len(sets), bins), 0xFFFFFFFF, np.uint32)
    filled = np.zeros((len(sets), bins), bool)
    waiting = [i for i, members in enumerate(sets) if len(members)]
    rounds = 0
    while waiting:
        shingles = np.concatenate([sets[i] for i in waiting])
        row = np.repeat(waiting, [len(sets[i]) for i in waiting])
        x = mix(shingles + np.uint64(rounds * K0 & MASK))
        column = (x >> np.uint64(32)) * np.uint64(bins) >> np.uint64(32)
        at = row * bins + (column.astype(np.int64) if rounds < bins else rounds - bins)
        free = ~filled.ravel()[at]
        np.minimum.at(table.reshape(-1), at[free], (x[free] & np.uint64(0xFFFFFFFF)).astype(np.uint32))
        filled.reshape(-1)[at[free]] = True
        waiting = [i for i in waiting if not filled[i].all()]
        rounds += 1
    return table.ravel()
