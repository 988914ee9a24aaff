"""Splits: held-out and k-fold, stratified, grouped or by time.

Rows get random keys from a counter, splitmix64(seed, row), so a split depends only on the random seed and the row
numbers, not on the batches or on the version of a random number generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linnaeus.errors import DataError, UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.kernels.hashes import GOLDEN, scramble
from linnaeus.types import Array, Bools, Doubles, Longs, Words64

_Codes = Longs


@dataclass(frozen=True, slots=True)
class Split:
    """Row numbers to train on and to test on, both ascending.

    >>> split = holdout(5, share=0.2)
    >>> split.train.size, split.test.size
    (4, 1)
    """

    train: Longs
    test: Longs


def holdout(
    n: int, *, share: float = 0.2, seed: int = 0, strata: ArrayLike | None = None, groups: ArrayLike | None = None
) -> Split:
    """Hold out a share of n rows.

    With `strata` (a value for each row) the share of each stratum is held out, rounded up or down; a stratum of one row
    stays in training. With `groups` each group is in one part only, and shares are as near as whole groups allow.

    >>> holdout(10, share=0.2, strata=[0] * 5 + [1] * 5).test.size
    2
    """
    _check_share(share)
    expect("seed", seed, int)
    _check_rows(n)
    if groups is not None:
        parts = _deal_groups(_codes(groups, n), _codes(strata, n), [1 - share, share], seed)
        return _split(parts == 1)
    codes = _codes(strata, n)
    order = np.lexsort((_keys(seed, n), codes))
    if strata is not None:
        dealt = order[np.bincount(codes)[codes[order]] > 1]
        order = dealt if len(dealt) else order
    places = np.arange(len(order) + 1) * share + 0.5
    chosen = np.floor(places[1:]) > np.floor(places[:-1])
    test = np.zeros(n, bool)
    test[order[chosen] if chosen.any() else order[:1]] = True
    return _split(test)


def folds(
    n: int, k: int = 5, *, seed: int = 0, strata: ArrayLike | None = None, groups: ArrayLike | None = None
) -> list[Split]:
    """K splits for cross-validation: a row is in one test part; sizes, in all and per stratum, differ by one at most.

    With `groups` each group is in one part of a split only.

    >>> [fold.test.size for fold in folds(10, 3)]
    [4, 3, 3]
    """
    expect("k", k, int, 2)
    expect("seed", seed, int)
    if n < k:
        raise DataError(f"{_rows(n)} cannot make {k} folds; take fewer, or read more data.")
    if groups is not None:
        parts = _deal_groups(_codes(groups, n), _codes(strata, n), [1 / k] * k, seed)
    else:
        parts = np.empty(n, np.int64)
        parts[np.lexsort((_keys(seed, n), _codes(strata, n)))] = np.arange(n) % k
    return [_split(parts == part) for part in range(k)]


def holdout_by_time(times: ArrayLike, *, share: float = 0.2) -> Split:
    """Hold out the latest share of rows: all training rows are strictly earlier than all test rows.

    >>> holdout_by_time([3, 1, 2, 3], share=0.25).test.tolist()
    [0, 3]
    """
    _check_share(share)
    when = np.asarray(times)
    (edge,) = _edges(when, [1 - share])
    return _forward(when, edge, None)


def folds_by_time(times: ArrayLike, k: int = 5) -> list[Split]:
    """K splits by time: time is cut into k + 1 parts; each but the first is a test part, trained on all earlier parts.

    >>> [(f.train.size, f.test.size) for f in folds_by_time([1, 2, 3, 4, 5, 6], 2)]
    [(2, 2), (4, 2)]
    """
    expect("k", k, int, 1)
    when = np.asarray(times)
    edges = _edges(when, [i / (k + 1) for i in range(1, k + 1)])
    if len(set(edges)) < k:
        raise DataError(f"there are too few different times for {k} folds; take fewer.")
    return [_forward(when, edge, after) for edge, after in zip(edges, [*edges[1:], None], strict=True)]


def _check_share(share: float) -> None:
    expect("share", share, float)
    if not 0 < share < 1:
        raise UsageError(f"share={share} is not between 0 and 1; 0.2 holds out a fifth of the rows.")


def _check_rows(n: int) -> None:
    if n < 2:
        raise DataError(f"{_rows(n)} cannot be split in two; read more data.")


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n} rows"


def _edges(when: Array, shares: Sequence[float]) -> list[Any]:
    """The times at which these shares of the rows lie before."""
    n = len(when)
    _check_rows(n)
    ordered = np.sort(when)
    if ordered[0] == ordered[-1]:
        raise DataError("all rows have the same time, so none is earlier than another; split in another way.")
    later = ordered[np.searchsorted(ordered, ordered[0], "right")]
    return [max(ordered[min(n - 1, round(share * n))], later) for share in shares]


def _forward(when: Array, edge: Any, after: Any) -> Split:
    test = when >= edge if after is None else (when >= edge) & (when < after)
    return Split(np.flatnonzero(when < edge), np.flatnonzero(test))


def _deal_groups(groups: _Codes, strata: _Codes, shares: Sequence[float], seed: int) -> _Codes:
    """A part for each row. Groups of several rows are dealt first, then single rows fill up what the parts lack."""
    count = int(groups.max()) + 1
    if count < len(shares):
        raise DataError(f"{count} groups cannot make {len(shares)} parts; take fewer parts or another split.")
    keys, sizes = _keys(seed, count), np.bincount(groups)
    lack = np.outer(shares, np.bincount(strata)).astype(float)  # (parts, strata)
    part_of = np.empty(count, np.int64)
    _deal_several(groups, strata, np.lexsort((keys, -sizes))[: int((sizes > 1).sum())], lack, part_of)
    alone = np.flatnonzero(sizes == 1)
    if len(alone):
        stratum = np.empty(count, np.int64)
        stratum[groups] = strata
        order = alone[np.lexsort((keys[alone], stratum[alone]))]
        part_of[order] = _deal_single(stratum[order], lack, np.asarray(shares))
    _fill_empty(part_of, sizes, len(shares))
    return part_of[groups]


def _deal_several(groups: _Codes, strata: _Codes, order: _Codes, lack: Doubles, part_of: _Codes) -> None:
    """Deal groups of several rows, in this order, each to the part that lacks its strata most when it has the group.

    What a part lacks is measured by what it is to have, so that a small part gets its share of groups of every size.
    """
    width, totals = lack.shape[1], np.bincount(strata)
    wanted = np.zeros(len(part_of), bool)
    wanted[order] = True
    rows = np.flatnonzero(wanted[groups])
    pairs, sizes = np.unique(groups[rows] * width + strata[rows], return_counts=True)
    owner, stratum = np.divmod(pairs, width)
    starts = np.searchsorted(owner, order)
    ends = np.searchsorted(owner, order, side="right")
    shares, whole = sizes / totals[stratum], lack.sum(axis=1)
    for group, start, end in zip(order.tolist(), starts.tolist(), ends.tolist(), strict=True):
        which = stratum[start:end]
        left = (lack[:, which] - sizes[start:end]) @ shares[start:end]
        part_of[group] = part = int((left / whole).argmax())
        lack[part, which] -= sizes[start:end]


def _deal_single(strata: _Codes, lack: Doubles, shares: Doubles) -> _Codes:
    """A part for each single row, given its stratum, ascending: each part gets what it lacks of the stratum."""
    found = np.empty(len(strata), np.int64)
    firsts = np.flatnonzero(np.diff(strata, prepend=-1))
    missing = lack.sum(axis=1)
    for start, end in zip(firsts.tolist(), [*firsts[1:].tolist(), len(strata)], strict=True):
        wanted = np.maximum(lack[:, strata[start]], 0.0)
        wanted = wanted if wanted.any() else shares
        quota = wanted * ((end - start) / wanted.sum())
        counts = np.floor(quota + 1e-9).astype(np.int64)
        rest = end - start - int(counts.sum())
        counts[np.lexsort((-missing, -np.round(quota - counts, 6)))[:rest]] += 1
        found[start:end] = np.repeat(np.arange(len(shares)), counts)
        missing -= counts
    return found


def _fill_empty(part_of: _Codes, sizes: _Codes, parts: int) -> None:
    """Give a part that got no group the smallest group of a part that has several."""
    for part in range(parts):
        if not (part_of == part).any():
            several = np.bincount(part_of, minlength=parts)[part_of] > 1
            part_of[np.flatnonzero(several)[np.argmin(sizes[several])]] = part


def _split(test: Bools) -> Split:
    return Split(np.flatnonzero(~test), np.flatnonzero(test))


def _codes(values: ArrayLike | None, n: int) -> _Codes:
    if values is None:
        return np.zeros(n, np.int64)
    found = np.asarray(values)
    if found.shape != (n,):
        raise UsageError(f"strata and groups need one value for each of {n} rows, not the shape {found.shape}.")
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def _keys(seed: int, n: int) -> Words64:
    """Random keys of the counters 0 .. n-1."""
    with np.errstate(over="ignore"):
        start = np.uint64(seed % 2**64) * np.uint64(0xD1342543DE82EF95)
        mixed: Words64 = scramble(start + np.arange(1, n + 1, dtype=np.uint64) * GOLDEN)
    return mixed


SHARE = 0.1
"""A text with more than this share of the rows of a part may be spread over the parts."""
FEW, SMALL = 20, 0.1
"""But not one with so few rows, as long as they are no larger share than this of all rows."""
MANY = 0.1
"""The share of rows that have a text in common with another, from which texts that occur once are judged apart."""


def kept_together(keys: Array | None, groups: Longs | None, part: float) -> Longs | None:
    """A group for each row: rows with equal keys, and rows of one given group, are in the same one; None: all differ.

    `part` is how many rows are held out at a time. Keys of very many rows ("yes" in dialogs) join nothing: new data
    will hold these texts too, and one part could not take them. Where keys would join given groups to more than a part,
    the most frequent ones join nothing either.

    >>> kept_together(np.array([7, 8, 7, 9]), None, part=20).tolist()
    [0, 1, 0, 2]
    >>> kept_together(np.array([7, 8, 7, 9]), np.array([0, 0, 1, 2]), part=20).tolist()
    [0, 0, 0, 1]
    """
    if keys is None:
        return groups
    _, text, counts = np.unique(keys, return_inverse=True, return_counts=True)
    most = max(part * SHARE, min(FEW, len(keys) * SMALL))
    if groups is None:
        joins = _joins(text, counts, most)
        return _numbered(np.where(joins, text, len(counts) + np.arange(len(text)))) if joins.any() else None
    owner = np.unique(groups, return_inverse=True)[1]
    bound = max(part, float(np.bincount(owner).max()))
    while (joins := _joins(text, counts, most)).any():
        found = _components(owner, text, joins)
        if np.bincount(found).max() <= bound:
            return _numbered(found)
        most /= 2
    return groups


def repeated(keys: Array) -> Bools:
    """Whether another row has the key of this one.

    >>> repeated(np.array([7, 8, 7])).tolist()
    [True, False, True]
    """
    _, text, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return counts[text] > 1


def _joins(text: Longs, counts: Longs, most: float) -> Bools:
    """Whether the key of a row joins it with others."""
    return ((counts > 1) & (counts <= most))[text]


def _components(owner: Longs, text: Longs, joins: Bools) -> Longs:
    """The component of each row, where groups and the keys that join them are the nodes."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    nodes = int(owner.max()) + 1
    size = nodes + int(text.max()) + 1
    edges = (owner[joins], nodes + text[joins])
    graph = coo_matrix((np.ones(int(joins.sum()), np.int8), edges), shape=(size, size))
    return connected_components(graph, directed=False)[1][owner].astype(np.int64)


def _numbered(values: Longs) -> Longs:
    """Numbers from 0, in the order in which the values first occur."""
    _, first, codes = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[codes]
