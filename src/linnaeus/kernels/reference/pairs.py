"""Twins of pairs.cpp and subsequences.cpp: tokens of texts and candidates compared, and subsequences strings share."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnaeus.kernels.plan import UNITS, checked
from linnaeus.kernels.reference.terms import hash_bytes
from linnaeus.kernels.reference.tokens import texts_of, tokens_of

if TYPE_CHECKING:
    from linnaeus.types import Bytes, Doubles, Ints, Longs, Words64

    Keys: TypeAlias = tuple[Longs, Words64]
    Members: TypeAlias = tuple[Longs, Longs, Longs]
    Sets: TypeAlias = tuple[Keys, Doubles, Longs]

LONGEST = 64
"""Tokens of a name that are compared in order."""


def token_keys(data: Bytes, offsets: Longs, case: int, tokenizer: int, threads: int) -> tuple[Words64, Longs]:
    """The hash of each token of each text, and where each text begins among them."""
    del threads
    checked((UNITS["words"], case, tokenizer, 1, 1, 0))
    rows = [[hash_bytes(token) for token in tokens_of(text, case, tokenizer)] for text in texts_of(data, offsets)]
    found = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=found[1:])
    return np.array([key for row in rows for key in row], np.uint64), found


def align_tokens(texts: Keys, candidates: Keys, groups: Members, threads: int) -> Ints:
    """For each candidate: its tokens that the text has, how many both begin with, end with, the longest common run."""
    del threads
    own, rows = _rows(texts, "align_tokens"), _rows(candidates, "align_tokens")
    out = [
        _aligned(own[g][:LONGEST], rows[c][:LONGEST])
        for g, _, c in _members(groups, len(own), len(rows), "align_tokens")
    ]
    return np.array(out, np.int32).reshape(-1)


def _aligned(a: list[int], b: list[int]) -> tuple[int, int, int, int]:
    runs = [
        next((k for k in range(min(len(a) - i, len(b) - j)) if a[i + k] != b[j + k]), min(len(a) - i, len(b) - j))
        for i in range(len(a))
        for j in range(len(b))
    ]
    back = _common(a[::-1], b[::-1])
    return sum(key in a for key in b), _common(a, b), back, max(runs, default=0)


def _common(a: list[int], b: list[int]) -> int:
    least = min(len(a), len(b))
    return next((i for i in range(least) if a[i] != b[i]), least)


def meet_tokens(sets: Sets, texts: Keys, candidates: Keys, groups: Members, threads: int) -> Doubles:
    """For each candidate: tokens that are not the text's, how many of them are in its set, sum and largest value."""
    del threads
    keys, values, which = sets
    known, own, rows = (_rows(part, "meet_tokens") for part in (keys, texts, candidates))
    if len(values) != len(keys[1]) or len(which) != len(groups[1]):
        raise ValueError("meet_tokens: the values do not fit the sets")
    if len(which) and not 0 <= which.min() <= which.max() < len(known):
        raise ValueError("meet_tokens: a group has no set")
    out = np.zeros((len(groups[2]), 4))
    for i, (own_row, group, row) in enumerate(_members(groups, len(own), len(rows), "meet_tokens")):
        at, chosen = int(keys[0][which[group]]), known[which[group]]
        table = {key: float(values[at + j]) for j, key in reversed(list(enumerate(chosen)))}
        left = [key for key in rows[row] if key not in own[own_row]]
        met = [table[key] for key in left if key in table]
        total = 0.0
        for value in met:
            total += value
        out[i] = len(left), len(met), total, max([0.0, *met])
    return out.reshape(-1)


def _rows(keys: Keys, kernel: str) -> list[list[int]]:
    bounds, values = keys[0].tolist(), keys[1].tolist()
    if any(a > b for a, b in pairwise([0, *bounds, len(values)])):
        raise ValueError(f"{kernel}: the offsets do not fit the keys")
    return [values[a:b] for a, b in pairwise(bounds)]


def _members(groups: Members, owns: int, rows: int, kernel: str) -> list[tuple[int, int, int]]:
    """The own row, the group and the row of each candidate."""
    bounds, own, candidate = (part.tolist() for part in groups)
    if len(bounds) != len(own) + 1 or bounds[0] != 0:
        raise ValueError(f"{kernel}: the offsets do not fit the groups")
    if any(a > b for a, b in pairwise(bounds)) or not all(0 <= row < owns for row in own):
        raise ValueError(f"{kernel}: a group has no row")
    if bounds[-1] != len(candidate):
        raise ValueError(f"{kernel}: the offsets do not fit the candidates")
    if not all(0 <= row < rows for row in candidate):
        raise ValueError(f"{kernel}: a candidate has no row")
    return [(own[g], g, c) for g, (a, b) in enumerate(pairwise(bounds)) for c in candidate[a:b]]


Strings: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Offsets (n+1) and letters."""

LONGEST_LENGTH = 9


def subsequences(
    left: Strings,
    right: Strings,
    pairs: tuple[NDArray[np.int32], NDArray[np.int32]],
    how: tuple[int, float],
    threads: int,
) -> NDArray[np.float64]:
    """Sum of decay^(span in s + span in t) over all common subsequences of `length` letters, for each pair of rows."""
    del threads
    length, decay = how
    if not 1 <= length <= LONGEST_LENGTH:
        raise ValueError("subsequences: length is 1 to 9")
    if len(pairs[0]) != len(pairs[1]):
        raise ValueError("subsequences: a pair has one string")
    for (offsets, letters), rows in zip((left, right), pairs, strict=True):
        if len(offsets) and (offsets[0] < 0 or offsets[-1] > len(letters) or (np.diff(offsets) < 0).any()):
            raise ValueError("subsequences: the offsets do not fit the letters")
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(offsets) - 1:
            raise ValueError("subsequences: a pair has no string")
    found = [_match(_row(left, i), _row(right, j), length, decay) for i, j in zip(*pairs, strict=True)]
    return np.array(found, np.float64)


def _row(strings: Strings, row: int) -> list[int]:
    offsets, letters = strings
    found: list[int] = letters[offsets[row] : offsets[row + 1]].tolist()
    return found


def _match(s: list[int], t: list[int], length: int, decay: float) -> float:
    """The recursion of Lodhi et al.: `before[b][i]` is K'_(i+1) of the letters of s so far and t[:b]."""
    total, square, lanes = 0.0, decay * decay, length - 1
    before = [[0.0] * lanes for _ in range(len(t) + 1)]
    for x in s:
        running, old = [0.0] * lanes, [0.0] * lanes
        for b, u in enumerate(t):
            place, hit = before[b + 1], square if u == x else 0.0
            if hit != 0:
                total += hit * (1.0 if length == 1 else old[length - 2])
            for i in reversed(range(lanes)):
                running[i] = decay * running[i] + hit * (old[i - 1] if i else 1.0)
            for i in range(lanes):
                old[i] = place[i]
                place[i] = decay * place[i] + running[i]
    return total
