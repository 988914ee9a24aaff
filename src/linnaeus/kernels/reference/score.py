"""Twins of weigh.cpp and score.cpp: counts to values, and the class scores of texts by way of the matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnaeus.kernels.plan import Plan
from linnaeus.kernels.reference.lookup import LONG, NO_PAIR, index_terms
from linnaeus.kernels.reference.matrices import rows_dot
from linnaeus.kernels.reference.terms import hash_terms
from linnaeus.kernels.reference.tokens import flag_texts

if TYPE_CHECKING:
    from linnaeus.kernels.reference.digests import BlockGuard
    from linnaeus.kernels.reference.lookup import Arrays
    from linnaeus.kernels.reference.terms import Rows
    from linnaeus.types import Bytes, Doubles, Floats, Ints, Longs

    Part: TypeAlias = tuple[int, Plan, Arrays | None, tuple[int, int]]
    Group: TypeAlias = tuple[list[Part], Floats, Floats, Ints, int, tuple[float, float, float] | None]


def weigh(
    rows: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]],
    table: NDArray[np.float32],
    weights: NDArray[np.float32],
    length: int,
    threads: int,
) -> None:
    """Rows are offsets, columns and values: sign * table[count] * weights[column], then L1 (1) or L2 (2) length one."""
    del threads
    indptr, indices, data = rows
    if length not in (0, 1, 2):
        raise ValueError("weigh: length is 0, 1 or 2")
    begin, end = (int(indptr[0]), int(indptr[-1])) if len(indptr) else (0, 0)
    if begin < 0 or end > min(len(indices), len(data)) or (np.diff(indptr) < 0).any():
        raise ValueError("weigh: the offsets do not fit the values")
    values = data[begin:end].astype(np.float64)
    if len(table):
        values = _look_up(values, table)
    if len(weights):
        columns = indices[begin:end]
        if ((columns < 0) | (columns >= len(weights))).any():
            raise ValueError("weigh: a column has no weight")
        values = values * weights[columns].astype(np.float64)
    if length:
        values = values * _inverse_lengths(values, np.diff(indptr), length)
    data[begin:end] = values.astype(np.float32)


def _look_up(values: NDArray[np.float64], table: NDArray[np.float32]) -> NDArray[np.float64]:
    counts = np.abs(values)
    if not (counts < len(table)).all():
        raise ValueError("weigh: a count is not in the table")
    return np.copysign(table[counts.astype(np.int64)].astype(np.float64), values)


def _inverse_lengths(values: NDArray[np.float64], sizes: NDArray[np.int64], length: int) -> NDArray[np.float64]:
    """The inverse length of its row for each value, summed in four lanes: bincount adds in order too."""
    rows = np.repeat(np.arange(len(sizes)), sizes)
    lanes = (np.arange(len(values)) - np.repeat(np.cumsum(sizes) - sizes, sizes)) % 4
    terms = np.abs(values) if length == 1 else values * values
    sums = np.bincount(4 * rows + lanes, weights=terms, minlength=4 * len(sizes)).reshape(-1, 4)
    found = (sums[:, 0] + sums[:, 1]) + (sums[:, 2] + sums[:, 3])
    found = found if length == 1 else np.sqrt(found)
    with np.errstate(divide="ignore", over="ignore"):
        inverse: NDArray[np.float64] = np.where(found == 0, 1.0, 1.0 / found)[rows]
    return inverse


MOST_SOURCES = 64
LOW = np.uint64(0xFFFFFFFF)
NO_TEXTS = np.zeros(0, np.uint8), np.zeros(1, np.int64)


class Scorer:
    """S = X W + b for texts whose rows X are groups side by side, each of counted parts side by side.

    A part is (source, plan, vocabulary, (width, unknown)) or (source, plan, None, (bits, signed)); a group is (parts,
    table, weights, kept, length, saturation): counts are saturated where (k1, b, mean length) of BM25 are given, valued
    and weighed as by `weigh`, and of the columns those stay that have a number in `kept` (none there: all stay).
    """

    def __init__(
        self, groups: list[Group], weights: Floats, bias: Doubles, wanted: int, guard: BlockGuard | None = None
    ) -> None:
        """A text with one of the flags `wanted` (see `flag_texts`) has to be prepared by the caller.

        Rows of weights with a guard are looked at before they are first used: RuntimeError where one is damaged.
        """
        self._groups, self._weights, self._bias, self._wanted = groups, weights, bias, wanted
        self._guard = guard
        if guard is not None and not guard.holds(weights):
            raise ValueError("Scorer: these are not the weights that are guarded")
        widths = [_check(group) for group in groups]
        self._sources = max((part[0] + 1 for group in groups for part in group[0]), default=0)
        if sum(widths) != len(weights) or self._sources > MOST_SOURCES:
            raise ValueError("Scorer: the weights do not fit the columns")
        if weights.ndim != 2 or bias.shape != weights.shape[1:]:
            raise ValueError("Scorer: the bias does not fit the weights")

    def choose(self, text: str, curve: tuple[float, float]) -> tuple[int, float] | None:
        """The best class (the first of equals) and its share of the chances 1 / (1 + e^-(s/T + b)), for a curve (T, b).

        With b of minus infinity that is softmax(s / T). A single score s stands for two classes, 0 and s.
        """
        S = self.score(text)
        if S is None:
            return None
        best, chance = self._most_likely(S[np.newaxis], curve)
        return int(best[0]), float(chance[0])

    def choices(
        self, sources: list[tuple[Bytes, Longs]], best: Ints, chance: Doubles, curve: tuple[float, float], threads: int
    ) -> None:
        """The same of n texts into `best` and `chance` (n)."""
        if len(best) != len(chance):
            raise ValueError("Scorer: the result does not fit the texts")
        S = np.zeros((len(best), len(self._bias)))
        self.scores(sources, S, threads)
        best[:], chance[:] = self._most_likely(S, curve)

    def _most_likely(self, S: Doubles, curve: tuple[float, float]) -> tuple[Longs, Doubles]:
        T, b = curve
        if not len(self._bias) or not T > 0 or not b < np.inf:
            raise ValueError("Scorer: there is nothing to choose from")
        S = np.hstack([np.zeros_like(S), S]) if S.shape[1] == 1 else S
        best, top = S.argmax(axis=1), S.max(axis=1, keepdims=True)
        with np.errstate(over="ignore", invalid="ignore"):  # of what is not taken in the end
            high = top / T + b if b > -np.inf else np.full_like(top, b)
            E = np.exp((S - top) / T)
            near = E / (1.0 + np.exp(np.minimum(high, 0.0)) * E)
            chances = np.where(high > 0, 1.0 / (1.0 + np.exp(-(S / T + b))), near)
        return best, chances[np.arange(len(S)), best] / chances.sum(axis=1)

    def score(self, text: str) -> Doubles | None:
        """The scores of one text (k); None where it has to be prepared."""
        raw = np.frombuffer(text.encode(), np.uint8)
        offsets = np.array([0, len(raw)], np.int64)
        if self._wanted and flag_texts(raw, offsets, 1)[0] & self._wanted:
            return None
        out = np.zeros((1, self._weights.shape[1]))
        self.scores([(raw, offsets)] * self._sources, out, 1)
        found: Doubles = out[0]
        return found

    def scores(self, sources: list[tuple[Bytes, Longs]], out: Doubles, threads: int) -> None:
        """The scores of n texts into `out` (n, k); the texts are given in each form that a part reads."""
        if len(sources) < self._sources:
            raise ValueError("Scorer: a form of the texts is missing")
        if any(max(len(offsets) - 1, 0) != len(out) for _, offsets in sources):
            raise ValueError("Scorer: the result does not fit the texts")
        if out.shape[1:] != self._bias.shape:
            raise ValueError("Scorer: the result does not fit the weights")
        if not len(out):
            return
        rows = _beside([(_rows(group, sources, threads), _width(group)) for group in self._groups], len(out))
        if self._guard is not None:
            self._guard.check_rows(rows[1], self._weights.shape[1] * self._weights.itemsize)
        rows_dot(rows, self._weights, out, threads)
        out += self._bias


def _check(group: Group) -> int:
    """The columns that a group has in the end, where its arrays fit each other."""
    parts, _, weights, kept, length, _ = group
    for part in parts:
        _count(part, [NO_TEXTS] * (part[0] + 1), 1)  # refuses what does not fit
        if part[2] is not None:
            _check_tables(part[2])
    counted = sum(_counted(part) for part in parts)
    if length not in (0, 1, 2):
        raise ValueError("Scorer: length is 0, 1 or 2")
    if len(weights) not in (0, counted):
        raise ValueError("Scorer: a column has no weight")
    if len(kept) not in (0, counted):
        raise ValueError("Scorer: the kept columns do not fit the columns")
    numbers = np.sort(kept[kept >= 0])
    if not np.array_equal(numbers, np.arange(len(numbers))):
        raise ValueError("Scorer: the kept columns are not numbered")
    return _width(group)


def _check_tables(vocabulary: Arrays) -> None:
    """No look-up can be led out of the tables, or around in them for ever."""
    _, offsets, token_slots, _, pair_slots = vocabulary
    tokens, pairs = token_slots.reshape(-1, 2), pair_slots.reshape(-1, 2)
    used = tokens[tokens[:, 1] >> np.uint64(32) != 0, 1]
    if (used & LOW >= len(offsets) - 1).any():
        raise ValueError("Scorer: a token of the vocabulary is not among its tokens")
    numbers, tags = (used & LOW).astype(np.int64), (used >> np.uint64(32)).astype(np.int64)
    lengths = tags & (LONG - 1)
    if ((lengths > 8) & (np.diff(offsets)[numbers] < lengths)).any():
        raise ValueError("Scorer: a token of the vocabulary is not among its tokens")
    if len(used) == len(tokens) or (pairs[:, 0] != np.uint64(NO_PAIR)).all():
        raise ValueError("Scorer: a table of the vocabulary is full")


def _counted(part: Part) -> int:
    return 1 << part[3][0] if part[2] is None else part[3][0]


def _width(group: Group) -> int:
    parts, _, _, kept, _, _ = group
    return int((kept >= 0).sum()) if len(kept) else sum(_counted(part) for part in parts)


def _rows(group: Group, sources: list[tuple[Bytes, Longs]], threads: int) -> Rows:
    """The rows of one group."""
    parts, table, weights, kept, length, saturation = group
    n = len(sources[0][1]) - 1
    indptr, indices, data = _beside([(_count(part, sources, threads), _counted(part)) for part in parts], n)
    if saturation is not None:
        data = _saturated(indptr, data, saturation)
    if len(table) and (np.abs(data) >= len(table)).any():
        raise OverflowError("score: a count is not in the table")
    weigh((indptr, indices, data), table, weights, length, threads)
    if not len(kept):
        return indptr, indices, data
    now = kept[indices]
    before = np.concatenate([[0], np.cumsum(now >= 0)])
    return before[indptr], now[now >= 0], data[now >= 0]


def _count(part: Part, sources: list[tuple[Bytes, Longs]], threads: int) -> Rows:
    source, plan, vocabulary, (size, other) = part
    data, offsets = sources[source]
    if vocabulary is None:
        return hash_terms(data, offsets, plan, size, bool(other), threads)
    return index_terms(data, offsets, plan, vocabulary, (size, other), threads)


def _beside(blocks: list[tuple[Rows, int]], n: int) -> Rows:
    """Rows side by side: those of each block, whose width is given."""
    shifts = np.cumsum([0] + [width for _, width in blocks])
    row = np.concatenate([np.repeat(np.arange(n), np.diff(rows[0])) for rows, _ in blocks])
    order = np.argsort(row, kind="stable")
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=n), out=indptr[1:])
    columns = np.concatenate([rows[1] + shift for (rows, _), shift in zip(blocks, shifts, strict=False)])
    data = np.concatenate([rows[2] for rows, _ in blocks])
    return indptr, columns[order].astype(np.int32), data[order]


def _saturated(indptr: Longs, data: Floats, saturation: tuple[float, float, float]) -> Floats:
    k1, b, mean = saturation
    tf, sizes = np.abs(data.astype(np.float64)), np.diff(indptr)
    lengths = np.bincount(np.repeat(np.arange(len(sizes)), sizes), weights=tf, minlength=len(sizes))
    discount = np.repeat(k1 * (1 - b + b * lengths / mean), sizes)
    saturated: Floats = np.copysign(tf * (k1 + 1) / (tf + discount), data).astype(np.float32)
    return saturated
