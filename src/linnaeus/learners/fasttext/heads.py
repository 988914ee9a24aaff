"""From the mean of input vectors to the scores of labels, as each loss of fastText has it.

Scores are log(p + 0.00001), as fastText keeps them. Products are summed in float32, number by number: the table of
sigmoids has steps, and a sum in another order could fall on another step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.store.vector_tables import VectorTable
from linnaeus.types import Floats, Longs

STEPS = 512
REACH = 8
"""Sigmoids are looked up at STEPS places from -REACH to REACH."""
LITTLE = 1e-5
MOST_COUNTED = 10**15
"""Counts of labels are smaller: it stands for a node of the tree that is not there yet."""


def logarithms(P: Floats) -> Floats:
    """log(p + 0.00001), computed in double precision and stored as float32."""
    found: Floats = np.log(P.astype(np.float64) + LITTLE).astype(np.float32)
    return found


@dataclass(frozen=True, eq=False)
class Outputs:
    """The output vectors as columns (width, k), the norms that products are multiplied by, and the counts of labels."""

    columns: Floats
    norms: Floats | None
    counts: Longs

    @classmethod
    def of(cls, table: VectorTable, counts: Longs) -> Outputs:
        """Those of a table, one row for each label."""
        rows, norms = table.directions()
        return cls(np.ascontiguousarray(rows.T), norms, counts)

    def products(self, H: Floats) -> Floats:
        """H (n, width) times each output vector (n, k), in float32, summed from the first number to the last."""
        found = np.zeros((len(H), len(self.counts)), np.float32)
        for h, column in zip(H.T, self.columns, strict=True):
            found += h[:, None] * column
        return found if self.norms is None else found * self.norms

    @cached_property
    def tree(self) -> Children:
        """The Huffman tree of the labels."""
        return huffman(self.counts)


def softmax(H: Floats, outputs: Outputs) -> Floats:
    """Scores by the softmax of the products."""
    S = outputs.products(H)
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return logarithms(E / E.sum(axis=1, keepdims=True, dtype=np.float32))


def one_vs_rest(H: Floats, outputs: Outputs) -> Floats:
    """Scores by the sigmoid of each product, as the table has it."""
    S = outputs.products(H)
    inside = np.clip(S, -REACH, REACH)
    places = ((inside + np.float32(REACH)) * np.float32(STEPS) / np.float32(REACH) / np.float32(2)).astype(np.int64)
    return logarithms(np.where(S < -REACH, np.float32(0), np.where(S > REACH, np.float32(1), sigmoids()[places])))


def sigmoids() -> Floats:
    """The sigmoids of -8, -7.96875 ... 8.

    >>> len(sigmoids()), float(sigmoids()[256])
    (513, 0.5)
    """
    x = np.arange(STEPS + 1, dtype=np.float32) * np.float32(2 * REACH) / np.float32(STEPS) - np.float32(REACH)
    found: Floats = (1.0 / (1.0 + np.exp(-x).astype(np.float64))).astype(np.float32)
    return found


def hierarchical(H: Floats, outputs: Outputs) -> Floats:
    """Scores of the leaves of a Huffman tree: sums over the path from the root, of which each node has a product."""
    k = len(outputs.counts)
    F = outputs.products(H)
    right = (1.0 / (1.0 + np.exp(-F.astype(np.float64)))).astype(np.float32).T
    left = (1.0 - right.astype(np.float64)).astype(np.float32)
    go_left, go_right = logarithms(left), logarithms(right)
    S = np.zeros((2 * k - 1, len(H)), np.float32)
    for node, (first, second) in reversed(list(enumerate(zip(*outputs.tree, strict=True), k))):
        S[first] = S[node] + go_left[node - k]
        S[second] = S[node] + go_right[node - k]
    return np.ascontiguousarray(S[:k].T)


class Children(NamedTuple):
    """The left and right child of each inner node; node i of k leaves is number k + i, and the last is the root."""

    left: list[int]
    right: list[int]


def huffman(counts: Longs) -> Children:
    """The tree that fastText builds of the counts of k labels, which it has from the most frequent to the rarest.

    >>> huffman(np.array([5, 2, 1]))
    Children(left=[2, 3], right=[1, 0])
    """
    k, leaf, node = len(counts), len(counts) - 1, len(counts)
    weights = counts.tolist() + [MOST_COUNTED] * (k - 1)
    found = Children([], [])
    for new in range(k, 2 * k - 1):
        weights[new] = 0
        for side in found:
            if leaf >= 0 and (node >= new or weights[leaf] < weights[node]):
                side.append(leaf)
                leaf -= 1
            else:
                side.append(node)
                node += 1
            weights[new] += weights[side[-1]]
    return found


Head: TypeAlias = Callable[[Floats, Outputs], Floats]

HEADS: dict[str, Head] = {"softmax": softmax, "hs": hierarchical, "ova": one_vs_rest, "ns": one_vs_rest}
"""The scores (n, k) of means (n, width) by each loss."""
