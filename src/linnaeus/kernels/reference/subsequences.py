"""Twin of subsequences.cpp: the gap-weighted subsequences that pairs of strings share."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Strings: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Offsets (n+1) and letters."""

LONGEST = 9


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
    if not 1 <= length <= LONGEST:
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
