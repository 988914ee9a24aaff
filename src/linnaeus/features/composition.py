"""Blocks made of blocks: the union, and the conjunction of every pair of features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from linnaeus.arrays.csr import CSR, hstack, vstack
from linnaeus.data.batch import Batch
from linnaeus.errors import InputTypeError, UsageError, damaged, expect, said
from linnaeus.features.base import Block, Fitted, ascending, empty_rows
from linnaeus.features.names import Names, chained
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.store.states import nest, tensor
from linnaeus.types import Doubles, Floats, Ints, Longs, Place, State, offsets_of, stretches

_Counted: TypeAlias = tuple[Longs, Longs]


MAX_COLUMNS = 2**31 - 1


@dataclass(frozen=True)
class Union(Block):
    """The columns of all blocks, concatenated; `a | b` is the short form.

    >>> from linnaeus.features import Affixes, Shape
    >>> (Shape() | Affixes() | Shape()).fit(["Big cats"]).width
    22
    """

    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        flat: list[Block] = []
        for block in self.blocks:
            if not isinstance(block, Block):
                raise InputTypeError(f"Union joins extractors, not {type(block).__name__}.")
            flat.extend(block.blocks if isinstance(block, Union) else (block,))
        if not flat:
            raise UsageError("Union needs at least one extractor.")
        object.__setattr__(self, "blocks", tuple(flat))

    def learn(self, stream: Stream) -> FittedUnion:
        """Fit each block separately."""
        return FittedUnion(tuple(block.learn(stream) for block in self.blocks))

    def learn_rows(self, stream: Stream) -> tuple[Fitted, CSR]:
        """Fit each block, and return the rows too."""
        fitted = [block.learn_rows(stream) for block in self.blocks]
        return FittedUnion(tuple(features for features, _ in fitted)), hstack([rows for _, rows in fitted])


@dataclass(frozen=True)
class FittedUnion(Fitted):
    """Fitted blocks side by side."""

    blocks: tuple[Fitted, ...]

    def __post_init__(self) -> None:
        if self.width > MAX_COLUMNS:
            raise UsageError(f"Union would have {self.width:,} columns, but at most {MAX_COLUMNS:,} are possible.")

    @property
    def width(self) -> int:
        """The columns of all blocks."""
        return sum(block.width for block in self.blocks)

    def extract(self, batch: Batch) -> CSR:
        """The rows of all blocks, side by side."""
        return hstack([block.extract(batch) for block in self.blocks])

    def locate(self, batch: Batch) -> list[list[Place]]:
        """The places of all blocks, with their columns moved."""
        rows: list[list[Place]] = []
        for shift, block in zip(self._shifts(), self.blocks, strict=True):
            moved = [[place.at(place.column + shift) for place in row] for row in block.locate(batch)]
            rows = [old + new for old, new in zip(rows, moved, strict=True)] if rows else moved
        return rows

    def names(self) -> Names:
        """The names of all blocks, in order."""
        return chained([block.names() for block in self.blocks])

    def keep(self, columns: Ints) -> Fitted:
        """Only these columns; each block keeps its share of them."""
        return FittedUnion(tuple(block.keep(share) for block, share in self._shares(columns)))

    def shrink(self, columns: Ints) -> Fitted:
        """Only these columns, without any data of the others."""
        return FittedUnion(tuple(block.shrink(share) for block, share in self._shares(columns)))

    def _shares(self, columns: Ints) -> Iterator[tuple[Fitted, Ints]]:
        """Each block, and which of its columns are among these."""
        for shift, block in zip(self._shifts(), self.blocks, strict=True):
            share = columns[(columns >= shift) & (columns < shift + block.width)] - shift
            yield block, share.astype(np.int32)

    def state(self) -> State:
        """The states of all blocks."""
        return nest({"kind": "union"}, self.blocks)

    @classmethod
    def from_state(cls, state: State, *blocks: Fitted) -> FittedUnion:
        """Restore from the stored state and its blocks."""
        del state
        try:
            return cls(blocks)
        except UsageError as error:
            raise damaged(said(error).rstrip(".")) from error

    def _shifts(self) -> list[int]:
        """The first column of each block."""
        return np.cumsum([0, *(block.width for block in self.blocks)])[:-1].tolist()


PAIRS_AT_ONCE = 1 << 22
"""Pairs are made for some rows at a time, so that memory is bounded by this, or by one row's pairs."""


@dataclass(frozen=True)
class Conjunction(Block):
    """The product of every feature of `left` with every feature of `right` in the same row; `a * b` is the short form.

    Columns are the pairs that occur in at least `min_df` training rows, ordered by left column, then right column;
    other pairs are ignored. For example, XOR becomes linearly separable with the additional feature x1 x2.

    >>> from linnaeus.features import Lexicon
    >>> pair = Lexicon(["not"], name="negation") * Lexicon(["good"], name="praise")
    >>> pair.fit(["not good"]).names()
    ['negation & praise']
    """

    left: Block
    right: Block
    min_df: int = 1

    def __post_init__(self) -> None:
        for block in (self.left, self.right):
            if not isinstance(block, Block):
                raise InputTypeError(f"Conjunction pairs two extractors, not {type(block).__name__}.")
        expect("Conjunction(min_df=...)", self.min_df, int, 1)

    def learn(self, stream: Stream) -> FittedConjunction:
        """Fit both blocks, then count the rows of each pair in one pass."""
        left, right = self.left.learn(stream), self.right.learn(stream)
        counted: list[_Counted] = []
        for batch in stream.batches():
            for pairs in _products(left.extract(batch), right.extract(batch)):
                _count(counted, pairs.keys)
        seen, df = _sum(counted)
        return FittedConjunction(left, right, seen[df >= self.min_df])


@dataclass(frozen=True, eq=False)
class FittedConjunction(Fitted):
    """Two fitted blocks and the pairs that count: pair (i, j) is the number i * right.width + j, sorted."""

    left: Fitted
    right: Fitted
    pairs: Longs

    @property
    def width(self) -> int:
        """One column for each pair."""
        return len(self.pairs)

    def extract(self, batch: Batch) -> CSR:
        """Products of all pairs in a row that were seen in training."""
        products = _products(self.left.extract(batch), self.right.extract(batch))
        blocks = [self._known(piece) for piece in products]
        return vstack(blocks) if blocks else empty_rows(0, self.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """The places of both members of each pair, half of the pair for each; all of it where only one has places."""
        X, names = self.extract(batch), (self.left.names(), self.right.names())
        rows = zip(self.left.locate(batch), self.right.locate(batch), X.indptr[:-1], X.indptr[1:], strict=True)
        found = []
        for left, right, a, b in rows:
            sides = group_places(left), group_places(right)
            pairs = ((column, *divmod(int(self.pairs[column]), self.right.width)) for column in X.indices[a:b].tolist())
            found.append([place for column, i, j in pairs for place in pair_places(column, (i, j), sides, names)])
        return found

    def names(self) -> Names:
        """The two names with " & " between them."""
        left, right = self.left.names(), self.right.names()

        def some(start: int, end: int) -> list[str]:
            pairs = (divmod(pair, self.right.width) for pair in self.pairs[start:end].tolist())
            return [f"{left[i]} & {right[j]}" for i, j in pairs]

        return Names(self.width, some)

    def keep(self, columns: Ints) -> FittedConjunction:
        """Only these pairs."""
        return FittedConjunction(self.left, self.right, self.pairs[columns])

    def state(self) -> State:
        """Both blocks, and the pairs."""
        return nest({"kind": "conjunction"}, (self.left, self.right), {"pairs": self.pairs})

    @classmethod
    def from_state(cls, state: State, left: Fitted, right: Fitted) -> FittedConjunction:
        """Restore from the stored state and its two blocks."""
        pairs = tensor(state.tensors, "pairs", np.int64)
        if not ascending(pairs, left.width * right.width):
            raise damaged("its pairs are not pairs of its features")
        return cls(left, right, pairs)

    def _known(self, piece: Products) -> CSR:
        at = np.searchsorted(self.pairs, piece.keys)
        known = np.zeros(len(at), bool)
        inside = at < self.width
        known[inside] = self.pairs[at[inside]] == piece.keys[inside]
        return CSR(offsets_of(known)[piece.indptr], at[known].astype(np.int32), piece.values[known], self.width)


@dataclass(frozen=True, eq=False)
class Products:
    """Some rows of products, their columns numbered i * width + j."""

    indptr: Longs
    keys: Longs
    values: Floats | Doubles


def _products(A: CSR, B: CSR) -> Iterator[Products]:
    """All pairs of nonzeros of each row, for some rows at a time; sorted within a row, as both blocks are."""
    for start, stop in stretches(np.diff(A.indptr) * np.diff(B.indptr), PAIRS_AT_ONCE):
        yield products(A.rows_slice(start, stop), B.rows_slice(start, stop))


def products(A: CSR, B: CSR) -> Products:
    """The product of every nonzero of a row of A with every nonzero of the same row of B."""
    a, b = A.indptr, B.indptr
    beside = np.repeat(np.diff(b), np.diff(a))  # for each nonzero of A: how many of B it meets
    first = np.repeat(b[:-1], np.diff(a))
    ends = np.cumsum(beside)
    left = np.repeat(np.arange(a[0], a[-1]), beside)
    right = np.arange(len(left)) + np.repeat(first - (ends - beside), beside)
    keys = A.indices[left].astype(np.int64) * B.width + B.indices[right]
    return Products(offsets_of(np.diff(a) * np.diff(b)), keys, A.data[left] * B.data[right])


def _count(counted: list[_Counted], keys: Longs) -> None:
    """Add a piece's pairs; a pair occurs at most once in a row.

    Counts of about one size are added up, as the digits of a binary number: each pair is moved a logarithmic number of
    times, however long the stream.
    """
    counted.append(np.unique(keys, return_counts=True))
    while len(counted) > 1 and len(counted[-2][0]) <= 2 * len(counted[-1][0]):
        counted.append(_sum([counted.pop(), counted.pop()]))


def _sum(counted: list[_Counted]) -> _Counted:
    """The distinct pairs, sorted, and their counts in all."""
    if not counted:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    keys, counts = (np.concatenate(arrays) for arrays in zip(*counted, strict=True))
    order = np.argsort(keys, kind="stable")  # of sorted runs: a merge
    keys = keys[order]
    heads = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[heads], np.add.reduceat(counts[order], heads) if len(heads) else counts


Grouped: TypeAlias = dict[int, list[Place]]
Sums: TypeAlias = dict[str, float]
"""The names of what stands in one column, and the amount of each; an empty name where the column's own says it."""


def group_places(places: list[Place]) -> Grouped:
    """The places of each column."""
    grouped: Grouped = {}
    for place in places:
        grouped.setdefault(place.column, []).append(place)
    return grouped


def pair_places(
    column: int, pair: tuple[int, int], sides: tuple[Grouped, Grouped], names: tuple[Sequence[str], Sequence[str]]
) -> Iterator[Place]:
    """The places of the pair with this column, from those of its members.

    >>> sides = group_places([Place(0, 0, 3)]), group_places([Place(2, 9, 13), Place(2, 20, 24)])
    >>> [(p.start, p.amount) for p in pair_places(7, (0, 2), sides, (["not"], ["", "", "good"]))]
    [(0, 1.0), (9, 0.5), (20, 0.5)]
    """
    left, right = (side.get(i, []) for side, i in zip(sides, pair, strict=True))
    scale = 0.5 if left and right else 1.0
    spelled = any(place.name for place in (*left, *right))
    one, other = _sums(left), _sums(right)
    for places, beside, order in ((left, other, 1), (right, one, -1)):
        for place in places:
            for name, amount in beside.items():
                said = (place.name, name)[::order]
                full = " & ".join(s or n[i] for s, n, i in zip(said, names, pair, strict=True)) if spelled else ""
                yield Place(column, place.start, place.end, scale * place.amount * amount, full)


def _sums(places: list[Place]) -> Sums:
    sums: Sums = {}
    for place in places:
        sums[place.name] = sums.get(place.name, 0.0) + place.amount
    return sums or {"": 1.0}
