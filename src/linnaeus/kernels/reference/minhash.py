"""Twins of `native/minhash.cpp`: fingerprints of texts, and MinHash signatures by fast similarity sketching."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from linnaeus.types import Bytes, Longs, Words64

MASK = (1 << 64) - 1
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
