"""The distinct terms of a stream, counted: a tree of tokens and of the longer terms that begin with them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.errors import DataError
from linnaeus.features.indexing.vocabulary import Vocabulary, compact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from linnaeus.features.indexing.grams import Grams
    from linnaeus.protocols import Stream
    from linnaeus.types import Bytes, Ints, Longs

    Order = tuple[Ints, Ints, Longs, Longs]


@dataclass(frozen=True, eq=False)
class Counts:
    """Nodes are tokens by bytes, then pairs, then longer terms; each has its documents and its occurrences.

    `parents` and `last` are those of the longer terms, `starts` says where each order begins among the nodes, `wanted`
    which nodes are terms and do not only begin them; n texts were counted.
    """

    tokens: tuple[Bytes, Longs]
    parents: Ints
    last: Ints
    starts: list[int]
    documents: Sequence[Longs]
    occurrences: Sequence[Longs]
    wanted: NDArray[np.bool_]
    n: int

    def columns(self, passed: NDArray[np.bool_]) -> Ints:
        """The column of each node that passed, else -1: a term stands before the longer ones that begin with it."""
        starts, parents = self.starts, self.parents
        tokens, sizes = starts[1], passed.astype(np.int64)  # how many columns begin with each node, itself included
        for start, end in reversed(list(pairwise(starts[1:]))):
            sizes += np.bincount(parents[start - tokens : end - tokens], sizes[start:end], len(sizes)).astype(np.int64)
        first = np.zeros(len(sizes), np.int64)
        first[1:tokens] = np.cumsum(sizes[: max(tokens - 1, 0)])
        for start, end in pairwise(starts[1:]):
            parent = parents[start - tokens : end - tokens]
            before = np.cumsum(sizes[start:end]) - sizes[start:end]
            # Siblings lie together: what stands before the first of them is not theirs.
            heads = np.flatnonzero(np.diff(parent, prepend=-1))
            own = np.repeat(before[heads], np.diff(np.append(heads, end - start)))
            first[start:end] = first[parent] + passed[parent] + before - own
        return np.where(passed, first, -1).astype(np.int32)

    def vocabulary(self, columns: Ints) -> Vocabulary:
        """The nodes that have a column."""
        return compact(self.tokens, self.parents, self.last, columns)


def count_terms(grams: Grams, stream: Stream) -> Counts:
    """One walk over the stream."""
    counter, n = kernels.TermCounter(grams.plan, False), 0
    for batch in stream.batches():
        texts = grams.texts(batch)
        counter.add(texts.data, texts.offsets, kernels.thread_count())
        n += len(texts)
    data, offsets, documents, counts, orders = counter.finish(kernels.thread_count())
    parents, last, starts = _nodes(len(documents), orders)
    return Counts(
        (data, offsets),
        parents,
        last,
        starts,
        [documents, *(order[2] for order in orders)],
        [counts, *(order[3] for order in orders)],
        _wanted(starts, grams),
        n,
    )


def _nodes(tokens: int, orders: list[Order]) -> tuple[Ints, Ints, list[int]]:
    """Parents and last tokens of all longer terms, with parents as node numbers; where each order starts."""
    starts = [0, tokens]
    parents, last = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for parent, token, _, _ in orders:
        parents.append(parent + np.int32(starts[-2]))
        last.append(token)
        starts.append(starts[-1] + len(parent))
    if starts[-1] > 2**31 - 2:
        raise DataError(f"{starts[-1]:,} distinct terms are more than a vocabulary can hold; use Hashed terms.")
    return np.concatenate(parents), np.concatenate(last), starts


def _wanted(starts: list[int], grams: Grams) -> NDArray[np.bool_]:
    """Which nodes are terms: not the shorter ones that only begin them."""
    wanted = np.ones(starts[-1], np.bool_)
    if grams.unit in ("words", "skips"):
        wanted[: starts[grams.low - 1]] = False
    return wanted
