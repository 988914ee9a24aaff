"""Hierarchical softmax: a class is a path in a binary tree, and frequent classes have short paths (Huffman 1952)."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from linnaeus.errors import InputTypeError, UsageError
from linnaeus.frozen import dataclass
from linnaeus.outputs.product import Product
from linnaeus.protocols import ClassScores, FrequencySpace, PathSpace, Readout
from linnaeus.types import Array, Doubles, Ints, LabelSets, Longs, Truth, offsets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CLASSES = 1 << 16


@dataclass(frozen=True)
class Huffman(Product):
    """One of k classes by k - 1 decisions in a tree: P(class) is the product of the chances of its path.

    An example looks at the few scores on the path of its class: about log2 k of them, where softmax looks at k (Morin
    and Bengio, "Hierarchical probabilistic neural network language model", 2005). The tree is built from `counts`, one
    number for each class, which a training fills in; without them all classes count alike. A score is positive where
    the path goes to the rarer side. The structured losses, such as log, are sums over the nodes of a path.

    >>> space = Huffman(counts=(5, 1, 2))
    >>> space.signs(np.array([0, 1, 2]), 2).tolist()  # 1 and 2 are joined first
    [[0.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
    >>> space.decode(np.array([[0.5, 2.0], [3.0, -4.0]])).tolist()
    [1, 0]
    """

    provides: ClassVar[tuple[type, ...]] = (ClassScores, Readout, PathSpace, FrequencySpace)

    counts: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.counts is None:
            return
        if not all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in self.counts):
            raise InputTypeError("Huffman(counts=...) takes a whole number, from 0 up, for each class.")
        if not 2 <= len(self.counts) <= MOST_CLASSES:
            raise UsageError(f"Huffman(counts=...) takes 2 to {MOST_CLASSES:,} numbers, one for each class.")
        object.__setattr__(self, "counts", tuple(self.counts))

    def width(self, k: int) -> int:
        """One score for each inner node."""
        if self.counts is not None and len(self.counts) != k:
            raise UsageError(f"The tree is of {len(self.counts)} classes, not of {k}; leave counts out.")
        if k < 2:
            raise UsageError("A tree needs two classes or more.")
        return k - 1

    def with_counts(self, counts: Longs) -> Huffman:
        """The tree of classes that are so frequent, unless it has counts already."""
        return self if self.counts is not None else Huffman(tuple(counts.tolist()))

    def signs(self, y: Truth, w: int) -> Doubles:
        """+1 or -1 on the path of the class, 0 for all other nodes."""
        offsets, nodes, signs = self.paths(y, w)
        found = np.zeros((len(offsets) - 1, w))
        found[np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), nodes] = signs
        return found

    def paths(self, y: Truth, w: int) -> tuple[Longs, Ints, Array]:
        """The nodes on the path of each example's class, from the root, and the sign of each."""
        if isinstance(y, LabelSets):
            raise UsageError("A tree needs one class for each row; for label sets use multilabel.")
        tree, at = self._tree(w + 1), np.asarray(y)
        sizes = np.diff(tree.offsets)[at]
        offsets = offsets_of(sizes).astype(np.int64)
        inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes) + np.repeat(tree.offsets[at], sizes)
        return offsets, tree.nodes[inside], tree.signs[inside]

    def readout(self, k: int) -> Doubles:
        """The matrix (k - 1, k) from node scores to their signed sums along the path of each class."""
        return np.ascontiguousarray(self.signs(np.arange(k), k - 1).T)

    def class_scores(self, S: Doubles) -> Doubles:
        """Scores of the classes (n, k): logarithms of their chances under the log loss."""
        return self._down(S.shape[1] + 1, -np.logaddexp(0.0, -S), -np.logaddexp(0.0, S))

    def probabilities(self, S: Doubles, chance: Callable[[Doubles], Doubles]) -> Doubles:
        """The product of the chances on the path of each class (n, k)."""
        P = np.clip(np.asarray(chance(S), np.float64), 0.0, 1.0)
        with np.errstate(divide="ignore"):
            return np.exp(self._down(S.shape[1] + 1, np.log(P), np.log1p(-P)))

    def decode(self, S: Doubles) -> NDArray[np.intp]:
        """The class with the best score."""
        return np.argmax(self.class_scores(S), axis=1)

    def _down(self, k: int, yes: Doubles, no: Doubles) -> Doubles:
        """Sums along the paths from the root to each class: `yes` where the path goes to a node's rarer side."""
        tree = self._tree(k)
        sums = np.zeros((len(yes), 2 * k - 1))
        for node in range(k - 2, -1, -1):  # children are built before their parent
            rare, common = tree.children[node]
            sums[:, rare] = sums[:, k + node] + yes[:, node]
            sums[:, common] = sums[:, k + node] + no[:, node]
        return np.ascontiguousarray(sums[:, :k])

    def _tree(self, k: int) -> Tree:
        return build(self.counts or (1,) * k)


class Tree(NamedTuple):
    """Children (k - 1, 2) of each inner node, the rarer first; and the path of each class, from the root."""

    children: Longs
    offsets: Longs
    nodes: Ints
    signs: Array


@lru_cache(maxsize=8)
def build(counts: tuple[int, ...]) -> Tree:
    """The Huffman tree of these counts: the two rarest are joined, ties in the order of classes, then of nodes.

    >>> build((5, 1, 2)).children.tolist()
    [[1, 2], [3, 0]]
    """
    k = len(counts)
    heap = [(count, number) for number, count in enumerate(counts)]
    heapq.heapify(heap)
    children = np.zeros((k - 1, 2), np.int64)
    parents, sides = [0] * (2 * k - 1), [0.0] * (2 * k - 1)
    for node in range(k - 1):
        (rare, first), (common, second) = heapq.heappop(heap), heapq.heappop(heap)
        children[node] = first, second
        parents[first] = parents[second] = k + node
        sides[first], sides[second] = 1.0, -1.0
        heapq.heappush(heap, (rare + common, k + node))
    paths = [_path(number, parents, sides, 2 * k - 2) for number in range(k)]
    nodes = [node - k for path in paths for node, _ in path]
    signs = [sign for path in paths for _, sign in path]
    offsets = offsets_of([len(path) for path in paths]).astype(np.int64)
    return Tree(children, offsets, np.array(nodes, np.int32), np.array(signs, np.float32))


def _path(number: int, parents: list[int], sides: list[float], root: int) -> list[tuple[int, float]]:
    """The nodes above a class, from the root, each with the side on which it goes on."""
    found = []
    while number != root:
        found.append((parents[number], sides[number]))
        number = parents[number]
    return found[::-1]
