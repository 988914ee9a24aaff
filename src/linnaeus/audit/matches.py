"""Pairs of matching rows: repeated texts, near-duplicates, and texts that two data sets share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linnaeus.audit.near import NONE, Near, Pairs, between, within
from linnaeus.audit.tally import Ledger
from linnaeus.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Matches:
    """Pairs of rows, one for each left row. Empty texts agree with nothing.

    `repeats`: rows of the data whose folded text an earlier row has, with the first such row; `near`: rows that are
    first of their text, and nearly repeat an earlier one; `leaks` and `near_leaks`: rows of the other data, with rows
    of the data.
    """

    repeats: Pairs
    near: Pairs
    leaks: Pairs = NONE
    near_leaks: Pairs = NONE


def find_matches(near: Near, data: Ledger, other: Ledger | None) -> Matches:
    """Compare the rows of the data with each other, and with those of the other data."""
    rows = np.flatnonzero(~data.empty)
    first = _first_rows(data.folded[rows], rows)
    late = first != rows
    repeats = _same(rows[late], first[late])
    originals = rows[~late]
    close = within(near, data.sketches, originals)
    if other is None:
        return Matches(repeats, close)
    theirs = np.flatnonzero(~other.empty)
    at = _find(data.folded[originals], other.folded[theirs])
    known = at >= 0
    return Matches(
        repeats,
        close,
        _same(theirs[known], originals[at[known]]),
        between(near, other.sketches, theirs[~known], data.sketches, originals),
    )


def _same(left: NDArray[np.int64], right: NDArray[np.int64]) -> Pairs:
    return Pairs(left, right, np.ones(len(left)))


def _first_rows(keys: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row the first one that has the same key."""
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    chosen: NDArray[np.int64] = rows[first[group]]
    return chosen


def _find(keys: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Where each wanted key stands among distinct keys, -1 where it does not."""
    if len(keys) == 0:
        return np.full(len(wanted), -1)
    order = np.argsort(keys)
    at = order[np.searchsorted(keys[order], wanted) % len(keys)]
    return np.where(keys[at] == wanted, at, -1)
