"""Twins of digests.cpp and minhash.cpp: XXH64 of blocks, fingerprints of texts, and MinHash signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from linnaeus.types import Bytes, Floats, Ints, Longs, Words64

BLOCK = 1 << 14
"""Bytes of a block; the last one may have fewer."""

P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
MASK = (1 << 64) - 1


def block_digests(data: Bytes, threads: int) -> Words64:
    """The digest of each block."""
    del threads
    whole = len(data) // BLOCK
    found = _whole_blocks(np.ascontiguousarray(data[: whole * BLOCK]).view("<u8").reshape(whole, BLOCK // 8))
    rest = data[whole * BLOCK :].tobytes()
    return np.append(found, np.uint64(xxh64(rest))) if rest else found


class BlockGuard:
    """Bytes and the digests of their blocks; a block is looked at once, when it is first asked about."""

    def __init__(self, data: Bytes, digests: Words64) -> None:
        """The digests are one for each block."""
        if len(digests) != -(-len(data) // BLOCK):
            raise ValueError("BlockGuard: there is not one digest for each block")
        self._data, self._digests = data, digests
        self._seen = np.zeros(len(digests), bool)

    def check(self, start: int, end: int, threads: int) -> bool:
        """Whether the blocks that have some of these bytes are those of their digests."""
        if not 0 <= start <= end <= len(self._data):
            raise ValueError("BlockGuard: there are no such bytes")
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


def xxh64(data: bytes) -> int:
    """XXH64 with seed 0.

    >>> hex(xxh64(b"abc"))
    '0x44bc2cf5ad770999'
    """
    words = np.frombuffer(data[: len(data) // 8 * 8], "<u8").tolist()
    lanes, h, at = [(P1 + P2) & MASK, P2, 0, -P1 & MASK], P5, 0
    if len(data) >= 32:
        at = len(words) // 4 * 4
        for i in range(at):
            lanes[i % 4] = _round(lanes[i % 4], words[i])
        h = sum(_turn(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & MASK
        for lane in lanes:
            h = ((h ^ _round(0, lane)) * P1 + P4) & MASK
    h = (h + len(data)) & MASK
    for word in words[at:]:
        h = (_turn(h ^ _round(0, word), 27) * P1 + P4) & MASK
    rest = data[len(words) * 8 :]
    if len(rest) >= 4:
        h = (_turn(h ^ (int.from_bytes(rest[:4], "little") * P1 & MASK), 23) * P2 + P3) & MASK
        rest = rest[4:]
    for byte in rest:
        h = _turn(h ^ (byte * P5 & MASK), 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def _turn(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & MASK


def _round(lane: int, word: int) -> int:
    return _turn((lane + word * P2) & MASK, 31) * P1 & MASK


def _whole_blocks(words: Words64) -> Words64:
    """The digests of whole blocks (m, 2048 words), all of them at a time."""
    lanes = [np.full(len(words), start, np.uint64) for start in ((P1 + P2) & MASK, P2, 0, -P1 & MASK)]
    with np.errstate(over="ignore"):
        for i in range(words.shape[1]):
            lanes[i % 4] = _rounds(lanes[i % 4], words[:, i])
        h = _turns(lanes[0], 1) + _turns(lanes[1], 7) + _turns(lanes[2], 12) + _turns(lanes[3], 18)
        for lane in lanes:
            h = (h ^ _rounds(np.zeros_like(lane), lane)) * np.uint64(P1) + np.uint64(P4)
        h += np.uint64(BLOCK)
        h = (h ^ h >> np.uint64(33)) * np.uint64(P2)
        h = (h ^ h >> np.uint64(29)) * np.uint64(P3)
        found: Words64 = h ^ h >> np.uint64(32)
    return found


def _turns(words: Words64, by: int) -> Words64:
    found: Words64 = words << np.uint64(by) | words >> np.uint64(64 - by)
    return found


def _rounds(lanes: Words64, words: Words64) -> Words64:
    found: Words64 = _turns(lanes + words * np.uint64(P2), 31) * np.uint64(P1)
    return found


SEED = 0x6C696E6E61657573
STEP = 0x9E3779B97F4A7C15
BASE = 0xD6E8FEB86659FD93
WORD = 0xA0761D6478BD642F
ROWS_AT_ONCE = 256


def fingerprint(data: Bytes, offsets: Longs, threads: int) -> Words64:
    """A 64-bit hash of the exact bytes of each text."""
    del threads
    return np.array([_hash(text) for text in _texts(data, offsets)], np.uint64)


def fingerprint_folded(data: Bytes, offsets: Longs, threads: int) -> Words64:
    """The same for the folded texts: what differs in ASCII case and white space only has equal hashes."""
    del threads
    return np.array([_hash(_fold(text)) for text in _texts(data, offsets)], np.uint64)


def minhash(data: Bytes, offsets: Longs, hashes: int, shingle: int, threads: int) -> NDArray[np.uint32]:
    """`hashes` numbers for each text; the expected share of equal ones in two texts is their similarity by shingles.

    A shingle is `shingle` characters in a row of the folded text, or the whole text if it is shorter. In round r every
    shingle falls into one bin (from round `hashes` on, all into bin r - hashes), and a bin keeps the smallest value of
    the first round that reached it. Dahlgaard, Knudsen, Thorup: Fast Similarity Sketching, FOCS 2017.
    """
    del threads
    texts = _texts(data, offsets)
    blocks = [
        _sketch([_shingles(text, shingle) for text in texts[i : i + ROWS_AT_ONCE]], hashes)
        for i in range(0, len(texts), ROWS_AT_ONCE)
    ]
    return np.concatenate(blocks) if blocks else np.zeros(0, np.uint32)


def _texts(data: Bytes, offsets: Longs) -> list[bytes]:
    raw = data.tobytes()
    return [raw[a:b] for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]


def _fold(text: bytes) -> bytes:
    return b" ".join(text.lower().split())


def _hash(text: bytes) -> int:
    value = SEED
    for i in range(0, len(text), 8):
        value = (value ^ int.from_bytes(text[i : i + 8], "little")) * WORD & MASK
        value ^= value >> 32
    return int(_mix(np.array([value ^ len(text)], np.uint64))[0])


def _mix(x: Words64) -> Words64:
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return x ^ (x >> np.uint64(33))


def _shingles(text: bytes, k: int) -> Words64:
    """The hashes of the different shingles of a text."""
    chars = _characters(np.frombuffer(_fold(text), np.uint8)) + np.uint64(1)
    k = min(k, len(chars))
    total = np.zeros(len(chars) - k + 1 if k else 0, np.uint64)
    for i in range(k):
        total += chars[i : i + len(total)] * np.uint64(pow(BASE, k - 1 - i, MASK + 1))
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
        x = _mix(shingles + np.uint64(rounds * STEP & MASK))
        column = (x >> np.uint64(32)) * np.uint64(bins) >> np.uint64(32)
        at = row * bins + (column.astype(np.int64) if rounds < bins else rounds - bins)
        free = ~filled.ravel()[at]
        np.minimum.at(table.reshape(-1), at[free], (x[free] & np.uint64(0xFFFFFFFF)).astype(np.uint32))
        filled.reshape(-1)[at[free]] = True
        waiting = [i for i in waiting if not filled[i].all()]
        rounds += 1
    return table.ravel()
