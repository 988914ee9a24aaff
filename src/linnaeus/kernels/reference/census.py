"""Twin of `native/census.cpp`: the characters, the words and the different words of many texts."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.kernels.reference.characters import MARK, UNSPACED, WORD, classify

if TYPE_CHECKING:
    from linnaeus.types import Bytes, Longs, Words64

CODES = 0x110000
MASK = (1 << 64) - 1


class _Marks(dict[int, str]):
    """What becomes of each code point: words end up in lower case with spaces around them."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        bits = classify(char)
        image = char.lower() if bits & (WORD | MARK) else " "
        self[code] = f" {image} " if bits & UNSPACED else image
        return self[code]


def census(data: Bytes, offsets: Longs, threads: int) -> tuple[Words64, Longs, Words64]:
    """How often each code point occurs, the words of each text, and the hashes of the different words, ascending.

    A word is a run of letters, numbers, underscores and marks in lower case; in scripts written without spaces each
    character is one. Bytes that are no UTF-8 are counted behind the last code point.
    """
    del threads
    raw = data.tobytes()
    characters = np.zeros(CODES + 1, np.uint64)
    words = np.zeros(len(offsets) - 1, np.int64)
    vocabulary: set[str] = set()
    marks = _Marks()
    for i, (start, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        text = raw[start:end].decode("utf-8", "surrogateescape")
        _count(text, characters)
        found = [word for word in text.translate(marks).split(" ") if word]
        words[i] = len(found)
        vocabulary.update(found)
    return characters, words, np.unique(np.array([_hash(word) for word in vocabulary], np.uint64))


def _count(text: str, characters: Words64) -> None:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    found, counts = np.unique(codes, return_counts=True)
    # UTF-8 has no surrogates: each one here stands for a byte that could not be decoded.
    bad = (found >= 0xD800) & (found < 0xE000)
    characters[found[~bad]] += counts[~bad].astype(np.uint64)
    characters[CODES] += np.uint64(counts[bad].sum())


@lru_cache(maxsize=65536)
def _hash(word: str) -> int:
    value = 0xCBF29CE484222325
    for byte in word.encode():
        value = (value ^ byte) * 0x100000001B3 & MASK
    value = (value ^ (value >> 33)) * 0xFF51AFD7ED558CCD & MASK
    value = (value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53 & MASK
    return value ^ (value >> 33)
