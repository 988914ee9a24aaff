"""`Outline`: the shape of a label tree; made by clustering labels, or from a taxonomy."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import CSR
from linnaeus.frozen import dataclass
from linnaeus.learners.label_tree.chunks import MOST_LANES
from linnaeus.types import Doubles, Ints, LabelSets, Longs, Truth

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SHAPES = '"similar", "huffman", a separator without letters and digits, such as "/" or " > ", or the name of a file'
"""What `LabelTree(shape=...)` may be."""
FLAT, USUAL_LEAF = 1000, 64
"""Labels up to which there is one ranker for each, and those of a group where there are more."""
ROUNDS = 12
"""The most rounds of 2-means in which a group of labels is halved."""


@dataclass(frozen=True, eq=False)
class Outline:
    """The nodes of each level, from the root down; below the last level are the labels, in this `order`.

    A level is a pair: where the children of each of its nodes begin, and where the labels of each child begin in
    `order`. The children of one level are the nodes of the next; those of the last level are single labels.

    >>> tree = outline(np.array([2, 0, 1, 3], np.int32), [np.array([0, 2, 4])])
    >>> [(starts.tolist(), bounds.tolist()) for starts, bounds in tree.levels]
    [([0, 2], [0, 2, 4]), ([0, 2, 4], [0, 1, 2, 3, 4])]
    """

    order: Ints
    levels: tuple[tuple[Longs, Longs], ...]

    def places(self, y: Truth) -> tuple[Longs, Ints]:
        """The labels of each row as places in the order of the tree: offsets and places, ascending in each row."""
        at = np.empty(len(self.order), np.int32)
        at[self.order] = np.arange(len(self.order), dtype=np.int32)
        if not isinstance(y, LabelSets):
            return np.arange(len(y) + 1, dtype=np.int64), at[y]
        places = at[y.labels]
        owner = np.repeat(np.arange(len(y)), np.diff(y.offsets))
        return y.offsets, places[np.lexsort((places, owner))]


def outline(order: Ints, groups: list[Longs]) -> Outline:
    """The outline in which each of these divisions of the ordered labels, from coarse to fine, is a level of nodes."""
    k = len(order)
    bounds = [np.array([0, k], np.int64), *map(np.unique, groups), np.arange(k + 1, dtype=np.int64)]  # no empty ones
    levels = []
    for above, below in pairwise(bounds):
        levels.append((np.searchsorted(below, above).astype(np.int64), below.astype(np.int64)))
    return Outline(order, tuple(levels))


def clustered(vectors: CSR, leaf: int, width: int, seed: int) -> Outline:
    """Labels with these vectors in groups of about `leaf` similar ones; a node has at most `width` nodes below it.

    Labels are halved by balanced 2-means until groups are small enough; the levels of the tree are some of the
    halvings. With `leaf` labels or fewer the tree is the root alone: one ranker for each label.
    """
    k = len(vectors)
    least = max(0, int(np.ceil(np.log2(max(1, k) / MOST_LANES))))
    halvings = max(least, round(np.log2(max(1, k) / leaf)))
    rare, by = sharpened(vectors), (halvings, ROUNDS, seed)
    order, bounds = kernels.label_order(rare.arrays, rare.width, by, kernels.thread_count())
    most = max(1, int(np.log2(width)))
    count = -(-halvings // most)
    cuts = [halvings * (i + 1) // count for i in range(count)]
    return outline(order, [np.ascontiguousarray(bounds[:: 1 << (halvings - cut)]) for cut in cuts])


def sharpened(vectors: CSR) -> CSR:
    """Vectors in which columns that many labels have weigh less, of length 1: else common words decide alone.

    A column is weighed by log(labels / labels that have it), squared.
    """
    counts = np.bincount(vectors.indices[: vectors.nnz], minlength=vectors.width)
    rare = np.log(len(vectors) / np.maximum(counts, 1)).astype(np.float32) ** 2
    return unit(CSR(vectors.indptr, vectors.indices, vectors.data * rare[vectors.indices], vectors.width))


def from_scipy(rows: csr_matrix) -> CSR:
    """Rows that SciPy has summed."""
    return CSR(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, rows.shape[1])


def unit(rows: CSR) -> CSR:
    """The same directions with length 1; rows of zeros stay."""
    lengths = np.sqrt(np.add.reduceat(np.append(rows.data.astype(np.float64) ** 2, 0.0), rows.indptr[:-1]))
    lengths[(np.diff(rows.indptr) == 0) | (lengths == 0)] = 1.0
    data = (rows.data / np.repeat(lengths, np.diff(rows.indptr))).astype(np.float32)
    return CSR(rows.indptr, rows.indices, data, rows.width)


def means(X: CSR, y: Truth, k: int, weights: Doubles) -> CSR:
    """The direction of the mean of each label's rows, of length 1, float32 (k, d); zeros where there are no rows.

    >>> X = CSR(np.array([0, 1, 2]), np.array([0, 1], np.int32), np.array([3.0, 4.0], np.float32), 2)
    >>> means(X, np.array([0, 0]), 1, np.ones(2)).data.astype(np.float64).round(2).tolist()
    [0.6, 0.8]
    """
    from scipy.sparse import csr_matrix

    offsets, labels = (y.offsets, y.labels) if isinstance(y, LabelSets) else (np.arange(len(y) + 1), y)
    shares = np.repeat(weights, np.diff(offsets)).astype(np.float32)
    sums = csr_matrix((shares, labels, offsets), shape=(len(X), k)).T.tocsr() @ X.to_scipy()
    sums.sort_indices()
    return unit(from_scipy(sums))
