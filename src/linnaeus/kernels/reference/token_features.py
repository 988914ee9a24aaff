"""Features of tokens: the forms of words, and the values of words around a token. Twins of forms.cpp and windows.cpp.

A form is (change, kind, size): change 1 lowers, 2 writes every digit as 0, 3 both;
`features/tokens/templates.py` names the kinds.

Sentences are offsets (n+1) and codes (s, m): for each source and token the number of a word, -1 for none. `atoms`
(u, q) holds the values of each word's forms, -1 for none. A template is a row (source, form, at, source, form, at), the
second source -1 where it looks at one place only; beyond a sentence's begin the value is 0, beyond its end 1. The
column of a single value is `tables[starts[t] + value]`, that of a pair lies in a probe table under
t << 56 | first << 28 | second; a column of -1 is none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linnaeus.kernels.hashes import MASK, hash_join
from linnaeus.kernels.reference.characters import CASED, DIGIT, MARK, WORD, classify
from linnaeus.kernels.reference.lookup import is_table, pairs_in
from linnaeus.kernels.reference.rows import misfit, outside, refuse
from linnaeus.kernels.reference.terms import hash_bytes
from linnaeus.kernels.reference.tokens import join, texts_of
from linnaeus.types import Bytes, Floats, Ints, Longs, Words64, offsets_of

Coded = tuple[Longs, Ints]
Plan = tuple[Ints, Ints, Longs]


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
    refuse(forms.ndim != 2 or forms.shape[1] != 4, "forms are rows of change, kind, size and salt")
    rows = [tuple(row) for row in forms.tolist()]
    for change, kind, size, _ in rows:
        sized = kind in (3, 4)
        if not (0 <= change < 4 and 0 <= kind < KINDS and (1 <= size <= LARGEST if sized else size == 0)):
            raise ValueError("a form is not known")
    return rows


def form_keys(texts: tuple[Bytes, Longs], forms: Ints, _threads: int) -> Words64:
    """A key of 64 bits (u, q) for each form of each word, 0 where a word has none.

    The last number of a form is its salt: equal strings of two forms have two keys.
    """
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


def form_texts(texts: tuple[Bytes, Longs], form: Ints, _threads: int) -> tuple[Bytes, Longs]:
    """One form (1, 4) of each word as bytes and offsets; a word without it has an empty one."""
    ((change, kind, size, _),) = _checked(form)
    return join([(form_of(word, (change, kind, size)) or "").encode() for word in texts_of(*texts)])


def form_ids(texts: tuple[Bytes, Longs], forms: Ints, slots: Words64, _threads: int) -> Ints:
    """The columns (u, q) that a probe table of pairs has for the keys, -1 where it has none."""
    keys = form_keys(texts, forms, 1)
    refuse(not is_table(slots), "form_ids: this is no probe table")
    known, _, columns = (part.tolist() for part in pairs_in(slots))
    numbers = {**dict(zip(known, columns, strict=True)), NO_FORM: -1}
    return np.array([numbers.get(key, -1) for key in keys.ravel().tolist()], np.int32).reshape(keys.shape)


BEFORE, AFTER = 0, 1
SHIFT, TEMPLATE = 28, 56


def places(offsets: Longs, at: int) -> Longs:
    """For each token the number of the one `at` places on: -2 before the sentence, -1 behind it."""
    sizes = np.diff(offsets)
    found = np.arange(offsets[-1]) + at
    found[found < np.repeat(offsets[:-1], sizes)] = -2
    found[found >= np.repeat(offsets[1:], sizes)] = -1
    return found


def values_at(coded: Coded, atoms: Ints, part: Ints) -> Longs:
    """The value of a part of a template for each token, -1 for none."""
    offsets, codes = coded
    source, form, at = part.tolist()
    there = places(offsets, at)
    code = codes[source][np.maximum(there, 0)] if codes.shape[1] else codes[source]
    values: Longs = np.append(atoms[:, form], np.int32(-1))[code].astype(np.int64)
    values[there == -2], values[there == -1] = BEFORE, AFTER
    return values


def pair_keys(template: int, first: Longs, second: Longs) -> Words64:
    """Keys of pairs; both values are there."""
    return (np.int64(template) << TEMPLATE | first << SHIFT | second).view(np.uint64)


def _columns(coded: Coded, atoms: Ints, plan: Plan, slots: Words64) -> Ints:
    """The column of each template (T, m), -1 for none."""
    templates, tables, starts = plan
    known, _, columns = pairs_in(slots)
    order = np.argsort(known, kind="stable")
    known, columns = known[order], columns[order]
    found = np.full((len(templates), int(coded[0][-1])), -1, np.int32)
    for t, row in enumerate(templates):
        first = values_at(coded, atoms, row[:3])
        if row[3] < 0:
            own = np.append(tables[starts[t] : starts[t + 1]], np.int32(-1))
            found[t] = own[np.where((first < 0) | (first >= len(own) - 1), -1, first)]
        elif len(known):
            second = values_at(coded, atoms, row[3:])
            keys = pair_keys(t, first, second)
            at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            hit = (known[at] == keys) & (first >= 0) & (second >= 0)
            found[t] = np.where(hit, columns[at], -1)
    return found


def token_rows(coded: Coded, atoms: Ints, plan: Plan, slots: Words64, _threads: int) -> tuple[Longs, Ints]:
    """Offsets and columns of sparse rows, one for each token, in the order of templates."""
    check_plan(coded, atoms, plan, slots)
    found = _columns(coded, atoms, plan, slots).T
    there = found >= 0
    return offsets_of(there.sum(1)), found[there]


def token_scores(coded: Coded, atoms: Ints, plan: Plan, slots: Words64, W: Floats, _threads: int) -> Floats:
    """The product of these rows with W (d, k), in float32: for each place the sum over its templates, then over places.

    Places are (source, at), in the order in which templates first name them; pairs are added last.
    """
    check_plan(coded, atoms, plan, slots)
    found = _columns(coded, atoms, plan, slots)
    refuse(len(found) and found.max(initial=-1) >= len(W), "token_scores: a column is outside the weights")
    padded = np.vstack([W, np.zeros((1, W.shape[1]), np.float32)])
    S = np.zeros((found.shape[1], W.shape[1]), np.float32)
    templates = plan[0]
    single = [tuple(row[[0, 2]].tolist()) if row[3] < 0 else None for row in templates]
    for place in dict.fromkeys(place for place in single if place is not None):
        part = np.zeros_like(S)
        for t in (t for t, own in enumerate(single) if own == place):
            part += padded[found[t]]
        S += part
    for t in (t for t, own in enumerate(single) if own is None):
        S += padded[found[t]]
    return S


def check_plan(coded: Coded, atoms: Ints, plan: Plan, slots: Words64) -> None:
    """Refuse arrays that lead outside each other."""
    (offsets, codes), (templates, tables, starts) = coded, plan
    fits = len(offsets) and offsets[0] == 0 and (np.diff(offsets) >= 0).all() and offsets[-1] == codes.shape[1]
    refuse(not fits, "the offsets do not fit the tokens")
    refuse(codes.size and (codes.min() < -1 or codes.max() >= len(atoms)), "a token is no word of the list")
    refuse(not is_table(slots), "this is no probe table")
    if templates.shape[1:] != (6,) or len(starts) != len(templates) + 1 or len(templates) > 250:
        raise ValueError("the templates do not fit their tables")
    refuse(misfit(starts, len(tables)), "the templates do not fit their tables")
    for part in (templates[:, :3], templates[templates[:, 3] >= 0][:, 3:]):
        missing = outside(part[:, 0], len(codes)) or outside(part[:, 1], atoms.shape[1])
        refuse(missing, "a template looks at what is not there")
