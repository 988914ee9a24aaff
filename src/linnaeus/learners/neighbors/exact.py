"""Exact search: the similarity to every row; and exact scores of what an approximate search found."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from typing import ClassVar

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import CSR, Dense
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.learners.base import to_dense
from linnaeus.types import Array, Arrays, Doubles, Ints, Sparse

BATCH = 1024
"""Queries in one kernel call."""


class BatchedIndex:
    """An index that answers queries in batches; its caches are not pickled."""

    batch: ClassVar[int] = BATCH

    rows: CSR | Dense

    def near(self, X: CSR | Dense, count: int) -> tuple[Ints, Doubles]:
        """Rows near each row of X (n, count), nearest first, and their scores."""
        found = [self._batch(X.rows_slice(at, at + self.batch), count) for at in range(0, len(X), self.batch)]
        if not found:
            return np.zeros((0, count), np.int32), np.zeros((0, count))
        rows, scores = zip(*found, strict=True)
        return np.concatenate(rows), np.concatenate(scores)

    @abstractmethod
    def _batch(self, X: CSR | Dense, count: int) -> tuple[Ints, Doubles]:
        """The same for at most `batch` rows."""

    def state(self) -> Arrays:
        """No arrays: the rows are stored elsewhere, and the index needs nothing else."""
        return {}

    def __getstate__(self) -> dict[str, object]:
        return {part.name: vars(self)[part.name] for part in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)


@dataclass(frozen=True, kw_only=True)
class Exact:
    """Exact search over all rows, with float64 scores; among equally near rows the lowest row number comes first.

    The result is exact: float32 with an error bound selects candidates, and float64 ranks them. Time is proportional to
    the number of rows. The index takes about as much memory as the rows; only the rows are stored.

    >>> index = Exact().index(Dense(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0]])), "cosine", 0)
    >>> rows, scores = index.near(Dense(np.array([[0.0, 3.0]])), 2)
    >>> rows.tolist(), scores.tolist()
    ([[0, 2]], [[1.0, 1.0]])
    """

    def index(self, rows: CSR | Dense, metric: str, seed: int) -> ExactIndex:
        """Build the index; the inverted lists are made at the first query."""
        return ExactIndex(rows, metric)

    def restore(self, tensors: Mapping[str, Array], rows: CSR | Dense, metric: str) -> ExactIndex:
        """Restore the index, which consists of the rows only."""
        return ExactIndex(rows, metric)


@dataclass(frozen=True, eq=False)
class ExactIndex(BatchedIndex):
    """The rows, prepared for exact search."""

    rows: CSR | Dense
    metric: str

    @cached_property
    def kernel(self) -> kernels.Nearest:
        """The kernel with the inverted lists of the rows."""
        rows = self.rows.values if isinstance(self.rows, Dense) else self.rows.arrays
        return kernels.Nearest(rows, self.rows.shape[1])

    def _batch(self, X: CSR | Dense, count: int) -> tuple[Ints, Doubles]:
        search = getattr(self.kernel, self.metric)
        return shaped(search(asked(X, self.rows), count, kernels.thread_count()), count, self.metric)


def shaped(found: tuple[Ints, Doubles], count: int, metric: str) -> tuple[Ints, Doubles]:
    """What a kernel found (n, count); it gives squared distances."""
    rows, scores = found[0].reshape(-1, count), found[1].reshape(-1, count)
    return rows, -np.sqrt(-scores) if metric == "euclidean" else scores


def asked(X: CSR | Dense, rows: CSR | Dense) -> Doubles | Sparse:
    """Queries in the form of the kernels: float64, sparse if the rows are sparse, else dense."""
    if isinstance(rows, Dense):
        return np.ascontiguousarray(to_dense(X))
    sparse = X.to_csr()
    return sparse.indptr, sparse.indices, sparse.data.astype(np.float64)


def as_dense(rows: CSR | Dense, who: str) -> Dense:
    """Dense rows, also of rows that are sparse in name only: at least half of their numbers are stored."""
    if isinstance(rows, Dense):
        return rows
    if 2 * rows.nnz >= rows.shape[0] * rows.shape[1]:
        return Dense(rows.to_scipy().toarray())
    raise UsageError(
        f"{who} needs dense rows, but these are sparse; use features such as Reduced(Words(), width=100), a projection "
        "such as Neighbors(projection=Components(width=64)), or search='exact'."
    )


def by_rows(rows: Dense, metric: str, queries: Doubles, found: Ints) -> tuple[Ints, Doubles]:
    """The rows found for each query (n, count), ordered by their float64 scores; -1 marks missing rows."""
    few = np.flatnonzero((found < 0).any(axis=1))
    if len(few):
        found = found.copy()
        found[few] = ExactIndex(rows, metric).near(Dense(np.ascontiguousarray(queries[few])), found.shape[1])[0]
    scores = _scores(rows.values[found].astype(np.float64), queries[:, None], metric)
    order = np.lexsort((found, -scores), axis=1)
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _scores(V: Doubles, Q: Doubles, metric: str) -> Doubles:
    """How near vectors (n, count, d) are to queries (n, 1, d)."""
    if metric == "euclidean":
        return -np.sqrt(((V - Q) ** 2).sum(axis=2))
    S: Doubles = (V * Q).sum(axis=2)
    if metric == "inner":
        return S
    lengths = np.sqrt((V * V).sum(axis=2)) * np.sqrt((Q * Q).sum(axis=2))
    return np.where(lengths > 0, np.clip(S / np.where(lengths > 0, lengths, 1.0), -1.0, 1.0), 0.0)
