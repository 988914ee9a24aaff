"""Features of tokens from the values of words around them: twins of native/windows.cpp.

Sentences are offsets (n+1) and codes (s, m): for each source and token the number of a word, -1 for none. `atoms`
(u, q) holds the values of each word's forms, -1 for none. A template is a row (source, form, at, source, form, at), the
second source -1 where it looks at one place only; beyond a sentence's begin the value is 0, beyond its end 1. The
column of a single value is `tables[starts[t] + value]`, that of a pair lies in a probe table under
t << 56 | first << 28 | second; a column of -1 is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linnaeus.kernels.hashes import MASK

if TYPE_CHECKING:
    from linnaeus.types import Floats, Ints, Longs, Words64

    Coded = tuple[Longs, Ints]
    Plan = tuple[Ints, Ints, Longs]

BEFORE, AFTER = 0, 1
SHIFT, TEMPLATE = 28, 56


def places(offsets: Longs, at: int) -> Longs:
    """For each token the number of the one `at` places on: -2 before the sentence, -1 behind it."""
    sizes = np.diff(offsets)
    found = np.arange(offsets[-1]) + at
    found[found < np.repeat(offsets[:-1], sizes)] = -2
    found[found >= np.repeat(offsets[1:], sizes)] = -1
    return found


def values_at(coded: Coded, atoms: Ints, part: NDArray[np.int32]) -> Longs:
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
    table = slots.reshape(-1, 2)
    table = table[table[:, 0] != np.uint64(MASK)]
    table = table[np.argsort(table[:, 0], kind="stable")]
    columns = (table[:, 1] >> np.uint64(32)).astype(np.uint32).view(np.int32)
    found = np.full((len(templates), int(coded[0][-1])), -1, np.int32)
    for t, row in enumerate(templates):
        first = values_at(coded, atoms, row[:3])
        if row[3] < 0:
            own = np.append(tables[starts[t] : starts[t + 1]], np.int32(-1))
            found[t] = own[np.where((first < 0) | (first >= len(own) - 1), -1, first)]
        elif len(table):
            second = values_at(coded, atoms, row[3:])
            keys = pair_keys(t, first, second)
            at = np.minimum(np.searchsorted(table[:, 0], keys), len(table) - 1)
            hit = (table[at, 0] == keys) & (first >= 0) & (second >= 0)
            found[t] = np.where(hit, columns[at], -1)
    return found


def token_rows(coded: Coded, atoms: Ints, plan: Plan, slots: Words64, threads: int) -> tuple[Longs, Ints]:
    """Offsets and columns of sparse rows, one for each token, in the order of templates."""
    del threads
    check_plan(coded, atoms, plan, slots)
    found = _columns(coded, atoms, plan, slots).T
    there = found >= 0
    indptr = np.zeros(len(found) + 1, np.int64)
    np.cumsum(there.sum(1), out=indptr[1:])
    return indptr, found[there]


def token_scores(coded: Coded, atoms: Ints, plan: Plan, slots: Words64, W: Floats, threads: int) -> Floats:
    """The product of these rows with W (d, k), in float32: for each place the sum over its templates, then over places.

    Places are (source, at), in the order in which templates first name them; pairs are added last.
    """
    del threads
    check_plan(coded, atoms, plan, slots)
    found = _columns(coded, atoms, plan, slots)
    if len(found) and found.max(initial=-1) >= len(W):
        raise ValueError("token_scores: a column is outside the weights")
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
    if not fits:
        raise ValueError("the offsets do not fit the tokens")
    if codes.size and (codes.min() < -1 or codes.max() >= len(atoms)):
        raise ValueError("a token is no word of the list")
    if len(slots) % 2 or (len(slots) // 2).bit_count() != 1:
        raise ValueError("this is no probe table")
    if templates.shape[1:] != (6,) or len(starts) != len(templates) + 1 or len(templates) > 250:
        raise ValueError("the templates do not fit their tables")
    if starts[0] < 0 or (np.diff(starts) < 0).any() or starts[-1] > len(tables):
        raise ValueError("the templates do not fit their tables")
    for part in (templates[:, :3], templates[templates[:, 3] >= 0][:, 3:]):
        if len(part) and not (
            (part[:, 0] >= 0).all()
            and part[:, 0].max() < len(codes)
            and (part[:, 1] >= 0).all()
            and part[:, 1].max() < atoms.shape[1]
        ):
            raise ValueError("a template looks at what is not there")
