"""Twins of pairs.cpp and subsequences.cpp: tokens of texts and candidates compared, and subsequences strings share."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np

from linnaeus.kernels.plan import UNITS, checked
from linnaeus.kernels.reference.rows import misfit, outside, refuse
from linnaeus.kernels.reference.terms import hash_bytes
from linnaeus.kernels.reference.tokens import texts_of, tokens_of
from linnaeus.types import Bytes, Doubles, Ints, Longs, Words64, offsets_of

Keys: TypeAlias = tuple[Longs, Words64]
Members: TypeAlias = tuple[Longs, Longs, Longs]
Sets: TypeAlias = tuple[Keys, Doubles, Longs]
Strings: TypeAlias = tuple[Longs, Ints]
"""Offsets (n+1) and letters."""


LONGEST = 64
"""Tokens of a name that are compared in order."""


def token_keys(data: Bytes, offsets: Longs, case: int, tokenizer: int, _threads: int) -> tuple[Words64, Longs]:
    """The hash of each token of each text, and where each text begins among them."""
    checked((UNITS["words"], case, tokenizer, 1, 1, 0))
    rows = [[hash_bytes(token) for token in tokens_of(text, case, tokenizer)] for text in texts_of(data, offsets)]
    return np.array([key for row in rows for key in row], np.uint64), offsets_of([len(row) for row in rows])


def align_tokens(texts: Keys, candidates: Keys, groups: Members, _threads: int) -> Ints:
    """For each candidate: its tokens that the text has, how many both begin with, end with, the longest common run."""
    own, rows = _rows(texts, "align_tokens"), _rows(candidates, "align_tokens")
    out = [
        _aligned(own[g][:LONGEST], rows[c][:LONGEST])
        for g, _, c in _members(groups, len(own), len(rows), "align_tokens")
    ]
    return np.array(out, np.int32).reshape(-1)


def _aligned(a: list[int], b: list[int]) -> tuple[int, int, int, int]:
    runs = [_common(a[i:], b[j:]) for i in range(len(a)) for j in range(len(b))]
    back = _common(a[::-1], b[::-1])
    return sum(key in a for key in b), _common(a, b), back, max(runs, default=0)


def _common(a: list[int], b: list[int]) -> int:
    least = min(len(a), len(b))
    return next((i for i in range(least) if a[i] != b[i]), least)


def meet_tokens(sets: Sets, texts: Keys, candidates: Keys, groups: Members, _threads: int) -> Doubles:
    """For each candidate: tokens that are not the text's, how many of them are in its set, sum and largest value."""
    keys, values, which = sets
    known, own, rows = (_rows(part, "meet_tokens") for part in (keys, texts, candidates))
    refuse(len(values) != len(keys[1]) or len(which) != len(groups[1]), "meet_tokens: the values do not fit the sets")
    refuse(outside(which, len(known)), "meet_tokens: a group has no set")
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


def _rows(keys: Keys | Strings, kernel: str, what: str = "keys") -> list[list[int]]:
    bounds, values = keys
    refuse(misfit(bounds, len(values)), f"{kernel}: the offsets do not fit the {what}")
    return [values[a:b].tolist() for a, b in pairwise(bounds)]


def _members(groups: Members, owns: int, rows: int, kernel: str) -> list[tuple[int, int, int]]:
    """The own row, the group and the row of each candidate."""
    bounds, own, candidate = groups
    refuse(len(bounds) != len(own) + 1 or bounds[0] != 0, f"{kernel}: the offsets do not fit the groups")
    refuse((bounds[1:] < bounds[:-1]).any() or outside(own, owns), f"{kernel}: a group has no row")
    refuse(bounds[-1] != len(candidate), f"{kernel}: the offsets do not fit the candidates")
    refuse(outside(candidate, rows), f"{kernel}: a candidate has no row")
    return [(own[g], g, c) for g, (a, b) in enumerate(pairwise(bounds)) for c in candidate[a:b]]


LONGEST_LENGTH = 9


def subsequences(
    left: Strings, right: Strings, pairs: tuple[Ints, Ints], how: tuple[int, float], _threads: int
) -> Doubles:
    """Sum of decay^(span in s + span in t) over all common subsequences of `length` letters, for each pair of rows."""
    length, decay = how
    refuse(not 1 <= length <= LONGEST_LENGTH, "subsequences: length is 1 to 9")
    refuse(len(pairs[0]) != len(pairs[1]), "subsequences: a pair has one string")
    lefts, rights = (_rows(strings, "subsequences", "letters") for strings in (left, right))
    refuse(outside(pairs[0], len(lefts)) or outside(pairs[1], len(rights)), "subsequences: a pair has no string")
    found = [_match(lefts[i], rights[j], length, decay) for i, j in zip(*pairs, strict=True)]
    return np.array(found, np.float64)


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
