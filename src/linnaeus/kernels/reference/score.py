"""Twins of weigh.cpp and score.cpp: counts to values, and the class scores of texts by way of the matrix."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from linnaeus.kernels.plan import Plan
from linnaeus.kernels.reference.digests import BlockGuard
from linnaeus.kernels.reference.lookup import LONG, LOW, NO_PAIR, SHIFT, Arrays, index_terms
from linnaeus.kernels.reference.matrices import gather_rows, rows_dot
from linnaeus.kernels.reference.rows import Rows, check_offsets, outside, refuse
from linnaeus.kernels.reference.terms import hash_terms
from linnaeus.kernels.reference.tokens import flag_texts
from linnaeus.types import Bytes, Doubles, Floats, Ints, Longs, offsets_of

Part: TypeAlias = tuple[int, Plan, Arrays | None, tuple[int, int]]
Group: TypeAlias = tuple[list[Part], Floats, Floats, Ints, int, tuple[float, float, float] | None]


Sources: TypeAlias = list[tuple[Bytes, Longs]]


def weigh(rows: Rows, table: Floats, weights: Floats, length: int, _threads: int) -> None:
    """Rows are offsets, columns and values: sign * table[count] * weights[column], then L1 (1) or L2 (2) length one."""
    check_offsets(rows, "weigh")
    indptr, indices, data = rows
    refuse(length not in (0, 1, 2), "weigh: length is 0, 1 or 2")
    begin, end = (indptr[0], indptr[-1]) if len(indptr) else (0, 0)
    values = data[begin:end].astype(np.float64)
    if len(table):
        values = _look_up(values, table)
    if len(weights):
        columns = indices[begin:end]
        refuse(outside(columns, len(weights)), "weigh: a column has no weight")
        values = values * weights[columns].astype(np.float64)
    if length:
        values = values * _inverse_lengths(values, np.diff(indptr), length)
    data[begin:end] = values.astype(np.float32)


def _look_up(values: Doubles, table: Floats) -> Doubles:
    counts = np.abs(values)
    refuse(not (counts < len(table)).all(), "weigh: a count is not in the table")
    return np.copysign(table[counts.astype(np.int64)].astype(np.float64), values)


def _inverse_lengths(values: Doubles, sizes: Longs, length: int) -> Doubles:
    """The inverse length of its row for each value, summed in four lanes: bincount adds in order too."""
    rows = np.repeat(np.arange(len(sizes)), sizes)
    lanes = (np.arange(len(values)) - np.repeat(np.cumsum(sizes) - sizes, sizes)) % 4
    terms = np.abs(values) if length == 1 else values * values
    sums = np.bincount(4 * rows + lanes, weights=terms, minlength=4 * len(sizes)).reshape(-1, 4)
    found = (sums[:, 0] + sums[:, 1]) + (sums[:, 2] + sums[:, 3])
    found = found if length == 1 else np.sqrt(found)
    with np.errstate(divide="ignore", over="ignore"):
        inverse: Doubles = np.where(found == 0, 1.0, 1.0 / found)[rows]
    return inverse


MOST_SOURCES = 64
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
        refuse(guard is not None and not guard.holds(weights), "Scorer: these are not the weights that are guarded")
        widths = [_check(group) for group in groups]
        self._sources = max((part[0] + 1 for group in groups for part in group[0]), default=0)
        if sum(widths) != len(weights) or self._sources > MOST_SOURCES:
            raise ValueError("Scorer: the weights do not fit the columns")
        refuse(weights.ndim != 2 or bias.shape != weights.shape[1:], "Scorer: the bias does not fit the weights")

    def choose(self, text: str, curve: tuple[float, float]) -> tuple[int, float] | None:
        """The best class (the first of equals) and its share of the chances 1 / (1 + e^-(s/T + b)), for a curve (T, b).

        With b of minus infinity that is softmax(s / T). A single score s stands for two classes, 0 and s.
        """
        S = self.score(text)
        if S is None:
            return None
        best, chance = self._most_likely(S[np.newaxis], curve)
        return int(best[0]), float(chance[0])

    def choices(self, sources: Sources, best: Ints, chance: Doubles, curve: tuple[float, float], _threads: int) -> None:
        """The same of n texts into `best` and `chance` (n)."""
        refuse(len(best) != len(chance), "Scorer: the result does not fit the texts")
        S = np.zeros((len(best), len(self._bias)))
        self.scores(sources, S, 1)
        best[:], chance[:] = self._most_likely(S, curve)

    def _most_likely(self, S: Doubles, curve: tuple[float, float]) -> tuple[Longs, Doubles]:
        T, b = curve
        refuse(not len(self._bias) or not T > 0 or not b < np.inf, "Scorer: there is nothing to choose from")
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
        return out[0]

    def scores(self, sources: Sources, out: Doubles, _threads: int) -> None:
        """The scores of n texts into `out` (n, k); the texts are given in each form that a part reads."""
        refuse(len(sources) < self._sources, "Scorer: a form of the texts is missing")
        if any(max(len(offsets) - 1, 0) != len(out) for _, offsets in sources):
            raise ValueError("Scorer: the result does not fit the texts")
        refuse(out.shape[1:] != self._bias.shape, "Scorer: the result does not fit the weights")
        if not len(out):
            return
        rows = _beside([(_rows(group, sources), _width(group)) for group in self._groups], len(out))
        if self._guard is not None:
            self._guard.check_rows(rows[1], self._weights.shape[1] * self._weights.itemsize)
        rows_dot(rows, self._weights, out, 1)
        out += self._bias


def _check(group: Group) -> int:
    """The columns that a group has in the end, where its arrays fit each other."""
    parts, _, weights, kept, length, _ = group
    for part in parts:
        _count(part, [NO_TEXTS] * (part[0] + 1))  # refuses what does not fit
        if part[2] is not None:
            _check_tables(part[2])
    counted = sum(_counted(part) for part in parts)
    refuse(length not in (0, 1, 2), "Scorer: length is 0, 1 or 2")
    refuse(len(weights) not in (0, counted), "Scorer: a column has no weight")
    refuse(len(kept) not in (0, counted), "Scorer: the kept columns do not fit the columns")
    numbers = np.sort(kept[kept >= 0])
    refuse(not np.array_equal(numbers, np.arange(len(numbers))), "Scorer: the kept columns are not numbered")
    return _width(group)


def _check_tables(vocabulary: Arrays) -> None:
    """No look-up can be led out of the tables, or around in them for ever."""
    _, offsets, token_slots, _, pair_slots = vocabulary
    tags, numbers = (token_slots[1::2] >> SHIFT).astype(np.int64), (token_slots[1::2] & LOW).astype(np.int64)
    used, sizes = tags != 0, np.diff(offsets)
    numbers, lengths = numbers[used], tags[used] & (LONG - 1)
    lost = outside(numbers, len(sizes)) or ((lengths > 8) & (sizes[numbers] < lengths)).any()
    refuse(lost, "Scorer: a token of the vocabulary is not among its tokens")
    full = used.all() or (pair_slots[::2] != np.uint64(NO_PAIR)).all()
    refuse(full, "Scorer: a table of the vocabulary is full")


def _counted(part: Part) -> int:
    return 1 << part[3][0] if part[2] is None else part[3][0]


def _width(group: Group) -> int:
    parts, _, _, kept, _, _ = group
    return int((kept >= 0).sum()) if len(kept) else sum(_counted(part) for part in parts)


def _rows(group: Group, sources: Sources) -> Rows:
    """The rows of one group."""
    parts, table, weights, kept, length, saturation = group
    n = len(sources[0][1]) - 1
    indptr, indices, data = _beside([(_count(part, sources), _counted(part)) for part in parts], n)
    if saturation is not None:
        data = _saturated(indptr, data, saturation)
    if len(table) and (np.abs(data) >= len(table)).any():
        raise OverflowError("score: a count is not in the table")
    weigh((indptr, indices, data), table, weights, length, 1)
    if not len(kept):
        return indptr, indices, data
    now = kept[indices]
    return offsets_of(now >= 0)[indptr], now[now >= 0], data[now >= 0]


def _count(part: Part, sources: Sources) -> Rows:
    source, plan, vocabulary, (size, other) = part
    data, offsets = sources[source]
    if vocabulary is None:
        return hash_terms(data, offsets, plan, size, bool(other), 1)
    return index_terms(data, offsets, plan, vocabulary, (size, other), 1)


def _beside(blocks: list[tuple[Rows, int]], n: int) -> Rows:
    """Rows side by side: those of each block, whose width is given."""
    widths = [width for _, width in blocks]
    return gather_rows([rows for rows, _ in blocks], np.arange(n), np.cumsum([0, *widths])[:-1], 1)


def _saturated(indptr: Longs, data: Floats, saturation: tuple[float, float, float]) -> Floats:
    k1, b, mean = saturation
    tf, sizes = np.abs(data.astype(np.float64)), np.diff(indptr)
    lengths = np.bincount(np.repeat(np.arange(len(sizes)), sizes), weights=tf, minlength=len(sizes))
    discount = np.repeat(k1 * (1 - b + b * lengths / mean), sizes)
    return np.copysign(tf * (k1 + 1) / (tf + discount), data).astype(np.float32)
