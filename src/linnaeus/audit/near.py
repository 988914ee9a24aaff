"""Rows that agree: equal texts, and near-duplicates with most of their words in common; a sample for training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from linnaeus import kernels
from linnaeus.data.corpus import Corpus
from linnaeus.errors import expect_within
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.text import as_texts
from linnaeus.types import Array, Bytes, Doubles, Longs, Texts, Words64

if TYPE_CHECKING:
    from linnaeus.audit.tally import Ledger

Rows: TypeAlias = Longs

NEIGHBORS = 8
"""If many texts agree in a band, each is compared with this many others, so that the work stays linear."""

_AT_ONCE = 1 << 15
_CHANCE = 1 / 256  # the probability that eight bits agree by chance
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Near:
    """Near-duplicates: two texts whose shingles (character n-grams) have at least this Jaccard similarity.

    >>> from linnaeus import read
    >>> from linnaeus.audit import check
    >>> rows = read(["turn it up a little bit please", "turn it up a little bit please!"])
    >>> [finding.kind for finding in check(rows, near=Near(0.7)).findings]
    ['near_duplicates']
    """

    threshold: float = 0.8
    shingle: int = 5
    bands: int = 16
    band_rows: int = 5

    def __post_init__(self) -> None:
        expect_within("Near(threshold=...)", self.threshold, float, "(0, 1]")
        for name, most in (("shingle", 1024), ("bands", 256), ("band_rows", 256)):
            expect_within(f"Near({name}=...)", getattr(self, name), int, f"[1, {most}]")

    def sketch(self, texts: Texts) -> Sketches:
        """The signatures of some texts."""
        hashes = self.bands * self.band_rows
        flat = kernels.minhash(texts.data, texts.offsets, hashes, self.shingle, kernels.thread_count())
        table = flat.reshape(len(texts), self.bands, self.band_rows)
        keys = np.zeros(table.shape[:2], np.uint64)
        for row in range(self.band_rows):
            keys = (keys ^ table[:, :, row]) * _ODD
            keys ^= keys >> np.uint64(29)
        return Sketches(flat.astype(np.uint8).reshape(len(texts), hashes), (keys >> np.uint64(32)).astype(np.uint32))


@dataclass(frozen=True, slots=True)
class Sketches:
    """What is kept of the signatures: eight bits of each number (n, hashes), and a key for each band (n, bands)."""

    bits: Bytes
    keys: NDArray[np.uint32]

    def similarity(self, mine: Rows, others: Sketches, theirs: Rows) -> Doubles:
        """The estimated Jaccard similarity of pairs of rows."""
        parts = [np.zeros(0)]
        for i in range(0, len(mine), _AT_ONCE):
            equal = self.bits[mine[i : i + _AT_ONCE]] == others.bits[theirs[i : i + _AT_ONCE]]
            parts.append((equal.mean(axis=1) - _CHANCE) / (1 - _CHANCE))
        return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Rows `left` that agree with rows `right`, one pair for each left row, ascending; and how similar they are."""

    left: Rows
    right: Rows
    similarity: Doubles

    def __len__(self) -> int:
        return len(self.left)

    def take(self, which: Array) -> Pairs:
        """Some of the pairs, as in NumPy indexing."""
        return Pairs(self.left[which], self.right[which], self.similarity[which])


NONE = Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def within(near: Near, sketches: Sketches, rows: Rows) -> Pairs:
    """For each of these rows that nearly repeats an earlier one: that pair, the most similar if there are several."""
    best = NONE
    for band in range(near.bands):
        pairs = _same_band(sketches.keys[rows, band], rows)
        best = _best([best, *(_keep(near, sketches, late, sketches, early) for early, late in pairs)])
    return best


def between(near: Near, mine: Sketches, rows: Rows, others: Sketches, their_rows: Rows) -> Pairs:
    """For each of these rows that is nearly a row of the others: that pair, the most similar if there are several."""
    best = NONE
    for band in range(near.bands):
        found = [best]
        order = np.argsort(others.keys[their_rows, band], kind="stable")
        sorted_keys, keys = others.keys[their_rows, band][order], mine.keys[rows, band]
        first = np.searchsorted(sorted_keys, keys, side="left")
        size = np.searchsorted(sorted_keys, keys, side="right") - first
        for step in range(min(NEIGHBORS, int(size.max(initial=0)))):
            hit = size > step
            found.append(_keep(near, mine, rows[hit], others, their_rows[order[first[hit] + step]]))
        best = _best(found)
    return best


def _same_band(keys: NDArray[np.uint32], rows: Rows) -> Iterator[tuple[Rows, Rows]]:
    """Pairs of rows with one key: each row with the next few of its crowd."""
    order = np.argsort(keys, kind="stable")
    keys, rows = keys[order], rows[order]
    for step in range(1, NEIGHBORS + 1):
        same = np.flatnonzero(keys[step:] == keys[:-step])
        if len(same) == 0:
            return
        yield rows[same], rows[same + step]


def _keep(near: Near, mine: Sketches, left: Rows, others: Sketches, right: Rows) -> Pairs:
    pairs = Pairs(left, right, mine.similarity(left, others, right))
    return pairs.take(pairs.similarity >= near.threshold)


def _best(found: list[Pairs]) -> Pairs:
    """One pair for each left row: the most similar, of equals the one with the earliest right row."""
    columns = zip(*((pairs.left, pairs.right, pairs.similarity) for pairs in found), strict=True)
    every = Pairs(*map(np.concatenate, columns))
    order = np.lexsort((every.right, -every.similarity, every.left))
    return every.take(order[np.diff(every.left[order], prepend=-1) != 0])


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


def _same(left: Rows, right: Rows) -> Pairs:
    return Pairs(left, right, np.ones(len(left)))


def _first_rows(keys: Words64, rows: Rows) -> Rows:
    """For each row the first one that has the same key."""
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first[group]]


def _find(keys: Words64, wanted: Words64) -> Rows:
    """Where each wanted key stands among distinct keys, -1 where it does not."""
    if len(keys) == 0:
        return np.full(len(wanted), -1)
    order = np.argsort(keys)
    at = order[np.searchsorted(keys[order], wanted) % len(keys)]
    return np.where(keys[at] == wanted, at, -1)


ROWS, BYTES = 20_000, 1 << 24
"""The largest sample in rows and bytes of text, which takes a fraction of a second."""


@dataclass(frozen=True, slots=True)
class NearShare:
    """How many rows of the sample nearly repeat an earlier one."""

    near: int
    rows: int

    @property
    def share(self) -> float:
        """The share of the rows."""
        return self.near / self.rows if self.rows else 0.0


def near_share(stream: Stream, rows: int, near: Near | None = None) -> NearShare:
    """Near-duplicates among rows taken at equal distances; equal texts count once. A sample shows fewer than there are.

    >>> from linnaeus import read
    >>> near_share(read(["turn it up a little bit please", "turn it up a little bit please!", "stop"]), 3, Near(0.7))
    NearShare(near=1, rows=3)
    """
    near, found = near or Near(), _sampled(stream, max(1, -(-rows // ROWS)))
    if found is None:
        return NearShare(0, 0)
    sizes = np.diff(as_texts(found).offsets)
    step = max(1, -(-int(sizes.sum()) // BYTES))
    texts = as_texts(found.take(pa.array(np.arange(0, len(found), step))))
    folded = kernels.fingerprint_folded(texts.data, texts.offsets, kernels.thread_count())
    first = np.sort(np.unique(folded, return_index=True)[1])
    return NearShare(len(within(near, near.sketch(texts), first)), len(texts))


def _sampled(stream: Stream, step: int) -> pa.Array | None:
    """Texts at equal distances."""
    parts, seen = [], 0
    for batch in (stream.watch(None) if isinstance(stream, Corpus) else stream).batches():
        if batch.text is not None:
            parts.append(batch.text.take(pa.array(np.arange(-seen % step, len(batch), step))))
        seen += len(batch)
    return pa.concat_arrays(parts) if parts else None
