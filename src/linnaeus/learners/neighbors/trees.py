"""Exact search with scikit-learn's k-d tree and ball tree."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.errors import UsageError, damaged, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.neighbors.exact import as_dense, by_rows, to_dense

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linnaeus.types import Array, Arrays, Doubles, Ints


def _refuse(leaf: int) -> None:
    expect("leaf", leaf, int)
    if leaf < 1:
        raise UsageError(f"leaf must be a whole number of at least 1, not {leaf}.")


def _planted(rows: CSR | Dense, metric: str, kind: str, leaf: int) -> TreeIndex:
    if metric == "inner":
        raise UsageError(f"{kind} does not support the metric inner; use cosine or euclidean.")
    return TreeIndex(as_dense(rows, kind), metric, kind, leaf)


@dataclass(frozen=True, kw_only=True)
class KDTree:
    """Exact search with a k-d tree (Bentley 1975), fast for up to about twenty columns.

    A leaf holds up to `leaf` rows, which are compared one by one. The tree is scikit-learn's. It is not stored: the
    same tree is built again from the rows at the first query. For the cosine it searches the rows scaled to length one.
    Among equally near rows, any may be missing at the end of the result.

    >>> index = KDTree().index(Dense(np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0]])), "euclidean", 0)
    >>> index.near(Dense(np.array([[4.0, 5.0]])), 1)[0].tolist()
    [[2]]
    """

    leaf: int = 40

    def __post_init__(self) -> None:
        _refuse(self.leaf)

    def index(self, rows: CSR | Dense, metric: str, seed: int) -> TreeIndex:
        """Build the index; the tree is built at the first query."""
        return _planted(rows, metric, "KDTree", self.leaf)

    def restore(self, tensors: Mapping[str, Array], rows: CSR | Dense, metric: str) -> TreeIndex:
        """Restore the index from the rows of a file."""
        return _restored(rows, metric, "KDTree", self.leaf)


@dataclass(frozen=True, kw_only=True)
class BallTree:
    """Exact search with a ball tree (Omohundro 1989): faster than `KDTree` if there are more columns.

    >>> index = BallTree().index(Dense(np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0]])), "cosine", 0)
    >>> index.near(Dense(np.array([[4.0, 5.0]])), 1)[0].tolist()
    [[2]]
    """

    leaf: int = 40

    def __post_init__(self) -> None:
        _refuse(self.leaf)

    def index(self, rows: CSR | Dense, metric: str, seed: int) -> TreeIndex:
        """Build the index; the tree is built at the first query."""
        return _planted(rows, metric, "BallTree", self.leaf)

    def restore(self, tensors: Mapping[str, Array], rows: CSR | Dense, metric: str) -> TreeIndex:
        """Restore the index from the rows of a file."""
        return _restored(rows, metric, "BallTree", self.leaf)


def _restored(rows: CSR | Dense, metric: str, kind: str, leaf: int) -> TreeIndex:
    if not isinstance(rows, Dense):
        raise damaged("the rows of its tree have another type")
    return _planted(rows, metric, kind, leaf)


@dataclass(frozen=True, eq=False)
class TreeIndex:
    """Rows, and the kind of tree that is built from them."""

    rows: Dense
    metric: str
    kind: str
    leaf: int

    @cached_property
    def _tree(self) -> Any:
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

    def near(self, X: CSR | Dense, count: int) -> tuple[Ints, Doubles]:
        """The nearest rows to each row of X (n, count), nearest first, and how near they are."""
        queries = to_dense(X)
        if not len(queries):
            return np.zeros((0, count), np.int32), np.zeros((0, count))
        placed = self._placed(queries)
        if self.metric == "cosine":
            placed[:, -1] = 0.0  # a query of zeros is equally near to all rows
        found = self._tree.query(placed, count, return_distance=False)
        return by_rows(self.rows, self.metric, queries, found.astype(np.int32))

    def state(self) -> Arrays:
        """No arrays: the rows are stored elsewhere, and the index needs nothing else."""
        return {}

    def __getstate__(self) -> tuple[Any, ...]:
        return self.rows, self.metric, self.kind, self.leaf

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__dict__.update(zip(("rows", "metric", "kind", "leaf"), state, strict=True))
