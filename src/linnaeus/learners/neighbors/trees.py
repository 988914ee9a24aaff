"""Exact search with scikit-learn's k-d tree and ball tree."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.errors import UsageError, damaged, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.base import to_dense
from linnaeus.learners.neighbors.exact import BatchedIndex, as_dense, by_rows
from linnaeus.types import Array, Doubles, Ints

if TYPE_CHECKING:
    from sklearn.neighbors import BallTree as BinaryTree


@dataclass(frozen=True, kw_only=True)
class TreeSearch:
    """A search with the tree of scikit-learn that has the name of the class."""

    leaf: int = 40

    def __post_init__(self) -> None:
        expect("leaf", self.leaf, int, 1)

    def index(self, rows: CSR | Dense, metric: str, seed: int) -> TreeIndex:
        """Build the index; the tree is built at the first query."""
        kind = type(self).__name__
        if metric == "inner":
            raise UsageError(f"{kind} does not support the metric inner; use cosine or euclidean.")
        return TreeIndex(as_dense(rows, kind), metric, kind, self.leaf)

    def restore(self, tensors: Mapping[str, Array], rows: CSR | Dense, metric: str) -> TreeIndex:
        """Restore the index from the rows of a file."""
        if not isinstance(rows, Dense):
            raise damaged("the rows of its tree have another type")
        return self.index(rows, metric, 0)


@dataclass(frozen=True, kw_only=True)
class KDTree(TreeSearch):
    """Exact search with a k-d tree (Bentley 1975), fast for up to about twenty columns.

    A leaf holds up to `leaf` rows, which are compared one by one. The tree is scikit-learn's. It is not stored: the
    same tree is built again from the rows at the first query. For the cosine it searches the rows scaled to length one.
    Among equally near rows, any may be missing at the end of the result.

    >>> index = KDTree().index(Dense(np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0]])), "euclidean", 0)
    >>> index.near(Dense(np.array([[4.0, 5.0]])), 1)[0].tolist()
    [[2]]
    """


@dataclass(frozen=True, kw_only=True)
class BallTree(TreeSearch):
    """Exact search with a ball tree (Omohundro 1989): faster than `KDTree` if there are more columns.

    >>> index = BallTree().index(Dense(np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0]])), "cosine", 0)
    >>> index.near(Dense(np.array([[4.0, 5.0]])), 1)[0].tolist()
    [[2]]
    """


@dataclass(frozen=True, eq=False)
class TreeIndex(BatchedIndex):
    """Rows, and the kind of tree that is built from them."""

    rows: Dense
    metric: str
    kind: str
    leaf: int

    @cached_property
    def _tree(self) -> BinaryTree:
        from sklearn import neighbors

        return getattr(neighbors, self.kind)(self._placed(to_dense(self.rows)), leaf_size=self.leaf)

    def _placed(self, values: Doubles) -> Doubles:
        """Rows as points of the tree: scaled to length one if the metric is the cosine.

        A row of zeros gets a 1 in an additional column, so that it is orthogonal to all other rows.
        """
        if self.metric == "euclidean":
            return values
        lengths = np.sqrt((values * values).sum(axis=1, keepdims=True))
        return np.hstack([values / np.where(lengths > 0, lengths, 1.0), lengths == 0])

    def _batch(self, X: CSR | Dense, count: int) -> tuple[Ints, Doubles]:
        queries = to_dense(X)
        placed = self._placed(queries)
        if self.metric == "cosine":
            placed[:, -1] = 0.0  # a query of zeros is equally near to all rows
        found = self._tree.query(placed, count, return_distance=False)
        return by_rows(self.rows, self.metric, queries, found.astype(np.int32))
