"""Forms of words, as features of tokens see them: twins of native/forms.cpp.

A form is (change, kind, size): change 1 lowers, 2 writes every digit as 0, 3 both;
`features/tokens/templates.py` names the kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linnaeus.kernels.hashes import MASK, hash_join
from linnaeus.kernels.reference.characters import CASED, DIGIT, MARK, WORD, classify
from linnaeus.kernels.reference.hashing import hash_bytes
from linnaeus.kernels.reference.tokens import texts_of

if TYPE_CHECKING:
    from linnaeus.types import Bytes, Ints, Longs, Words64

KINDS = 9
LARGEST = 64
HYPHENS = "-\u2010\u2011"
NO_FORM = 0


def form_of(word: str, form: tuple[int, int, int]) -> str | None:
    """One form of one word, or None where the word has none.

    >>> form_of("Mid-1990s", (0, 1, 0)), form_of("Mid-1990s", (0, 2, 0)), form_of("Mid", (1, 3, 2))
    ('Xxx-ddddx', 'Xx-dx', 'mi')
    """
    change, kind, size = form
    if change & 1:
        word = word.lower()
    if change & 2:
        word = "".join("0" if classify(char) & DIGIT else char for char in word)
    if kind in (3, 4):
        return None if len(word) < size else word[:size] if kind == 3 else word[len(word) - size :]
    return _KINDS[kind](word)


def _mark(char: str) -> str:
    bits = classify(char)
    if char.lower() != char:
        return "X"
    if bits & CASED:
        return "x"
    return "d" if bits & DIGIT else "o" if bits & (WORD | MARK) and char != "_" else char


def _shape(word: str) -> str:
    return "".join(map(_mark, word))


def _short(word: str) -> str:
    shape = _shape(word)
    return "".join(char for i, char in enumerate(shape) if i == 0 or shape[i - 1] != char)


def _caps(word: str) -> str | None:
    marks = [_mark(char) for char in word]
    # A letter X or x in the word has the mark X or x, and so has no other character.
    upper, lower = marks.count("X"), marks.count("x")
    if not upper:
        return None
    if not lower and upper > 1:
        return "all"
    return "first" if marks[0] == "X" and upper == 1 else "mixed"


def _digits(word: str) -> str | None:
    bits = [classify(char) for char in word]
    digits = [bool(kind & DIGIT) for kind in bits]
    if not any(digits):
        return None
    if all(digits):
        return "all"
    letters = any(kind & (WORD | MARK) and not kind & DIGIT for kind in bits)
    return "some" if letters else "number"


_KINDS: dict[int, Callable[[str], str | None]] = {
    0: lambda word: word,
    1: _shape,
    2: _short,
    5: _caps,
    6: _digits,
    7: lambda word: "yes" if any(char in HYPHENS for char in word) else None,
    8: lambda _: "",
}


def _checked(forms: Ints) -> list[tuple[int, ...]]:
    if forms.ndim != 2 or forms.shape[1] != 4:
        raise ValueError("forms are rows of change, kind, size and salt")
    rows = [tuple(row) for row in forms.tolist()]
    for change, kind, size, _ in rows:
        sized = kind in (3, 4)
        if not (0 <= change < 4 and 0 <= kind < KINDS and (1 <= size <= LARGEST if sized else size == 0)):
            raise ValueError("a form is not known")
    return rows


def form_keys(texts: tuple[Bytes, Longs], forms: Ints, threads: int) -> Words64:
    """A key of 64 bits (u, q) for each form of each word, 0 where a word has none.

    The last number of a form is its salt: equal strings of two forms have two keys.
    """
    del threads
    rows = _checked(forms)
    words = texts_of(*texts)
    keys = np.zeros((len(words), len(rows)), np.uint64)
    for i, word in enumerate(words):
        for j, (change, kind, size, salt) in enumerate(rows):
            value = form_of(word, (change, kind, size))
            keys[i, j] = NO_FORM if value is None else key_of(value, salt)
    return keys


def key_of(value: str, salt: int) -> int:
    """The key of a form's value; neither of the two that mean nothing."""
    key = hash_join(hash_bytes(value.encode()), salt & MASK)
    return key if 0 < key < MASK else 1


def form_texts(texts: tuple[Bytes, Longs], form: Ints, threads: int) -> tuple[Bytes, Longs]:
    """One form (1, 4) of each word as bytes and offsets; a word without it has an empty one."""
    del threads
    ((change, kind, size, _),) = _checked(form)
    found = [(form_of(word, (change, kind, size)) or "").encode() for word in texts_of(*texts)]
    offsets = np.zeros(len(found) + 1, np.int64)
    np.cumsum([len(value) for value in found], out=offsets[1:])
    return np.frombuffer(b"".join(found), np.uint8), offsets


def form_ids(texts: tuple[Bytes, Longs], forms: Ints, slots: Words64, threads: int) -> Ints:
    """The columns (u, q) that a probe table of pairs has for the keys, -1 where it has none."""
    keys = form_keys(texts, forms, threads)
    if len(slots) % 2 or (len(slots) // 2).bit_count() != 1:
        raise ValueError("form_ids: this is no probe table")
    table = slots.reshape(-1, 2)
    table = table[table[:, 0] != np.uint64(MASK)]
    columns = (table[:, 1] >> np.uint64(32)).astype(np.uint32).view(np.int32)
    known = dict(zip(table[:, 0].tolist(), columns.tolist(), strict=True))
    found: NDArray[np.int32] = np.array([known.get(key, -1) for key in keys.ravel().tolist()], np.int32)
    return np.where(keys.ravel() == NO_FORM, -1, found).astype(np.int32).reshape(keys.shape)
