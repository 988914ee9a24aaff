"""The distinct terms of a stream, counted: a tree of tokens and of the longer terms that begin with them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from linnaeus import kernels
from linnaeus.errors import DataError
from linnaeus.features.terms.grams import Grams
from linnaeus.features.terms.vocabulary import Vocabulary, compact
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.types import Bools, Bytes, Ints, Longs

Order = tuple[Ints, Ints, Longs, Longs]


@dataclass(frozen=True, eq=False)
class Counts:
    """Nodes are tokens by bytes, then pairs, then longer terms; each has its documents and its occurrences.

    `parents` and `last` are those of the longer terms, `starts` says where each order begins among the nodes, `wanted`
    which nodes are terms and do not only begin them; n texts were counted, and terms that
    occurred `left_out` times are not here.
    """

    tokens: tuple[Bytes, Longs]
    parents: Ints
    last: Ints
    starts: list[int]
    documents: list[Longs]
    occurrences: list[Longs]
    wanted: Bools
    n: int
    left_out: int
    counter: kernels.TermCounter

    def columns(self, passed: Bools) -> Ints:
        """The column of each node that passed, else -1: a term stands before the longer ones that begin with it."""
        tokens, orders = self.starts[1], list(pairwise(self.starts[1:]))
        parents = [self.parents[start - tokens : end - tokens] for start, end in orders]
        # Siblings lie together: heads are the first of them.
        heads = [np.flatnonzero(np.diff(parent, prepend=-1)) for parent in parents]
        sizes = passed.astype(np.int32)  # how many columns begin with each node, itself included
        for (start, end), parent, head in reversed(list(zip(orders, parents, heads, strict=True))):
            if end > start:
                sizes[parent[head]] += np.add.reduceat(sizes[start:end], head)
        first = np.zeros(len(sizes), np.int32)
        np.cumsum(sizes[: max(tokens - 1, 0)], out=first[1:tokens])
        for (start, end), parent, head in zip(orders, parents, heads, strict=True):
            before = np.cumsum(sizes[start:end], dtype=np.int32)
            before -= sizes[start:end]
            # What stands before the first of the siblings is not theirs; what stands before their parent is, and it.
            offset = first[parent[head]] + passed[parent[head]] - before[head]
            first[start:end] = before + np.repeat(offset, np.diff(np.append(head, end - start)))
        first[~passed] = -1
        return first

    def drop_counts(self) -> None:
        """Give back the memory of the counts once columns are chosen: a vocabulary may have millions of terms."""
        self.documents.clear()
        self.occurrences.clear()

    def vocabulary(self, columns: Ints) -> Vocabulary:
        """The nodes that have a column."""
        return compact(self.tokens, self.parents, self.last, columns)


def count_terms(
    grams: Grams,
    stream: Stream,
    least: Callable[[int], int],
    record: bool = False,
    classes: tuple[Ints, int] | None = None,
) -> Counts:
    """One walk over the stream, which may be recorded for its rows, or counted apart for each of k classes.

    Of n texts, the terms that stand in fewer than least(n) are left out: they are most of all.
    """
    counter, n = kernels.TermCounter(grams.plan, record), 0
    for batch in stream.batches():
        texts = grams.texts(batch)
        if classes is None:
            counter.add(texts.data, texts.offsets, kernels.thread_count())
        else:
            labels = np.ascontiguousarray(classes[0][n : n + len(texts)])
            counter.add_labeled(texts.data, texts.offsets, labels, classes[1], kernels.thread_count())
        n += len(texts)
    data, offsets, documents, counts, orders, left_out = counter.finish(least(n), kernels.thread_count())
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
        left_out,
        counter,
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


def _wanted(starts: list[int], grams: Grams) -> Bools:
    """Which nodes are terms: not the shorter ones that only begin them, nor the edge that every text has."""
    wanted = np.ones(starts[-1], np.bool_)
    if grams.plan.of_words:
        wanted[: starts[grams.low - 1]] = False
    if grams.analysis.tokenizer == "edges":
        wanted[: min(1, starts[1])] = False  # tokens are in order, and no other one begins with a zero byte
    return wanted
