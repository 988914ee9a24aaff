"""The features by columns: made once, shared by all problems of an objective."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import kernels
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Ints


@dataclass(frozen=True)
class Columns:
    """Compressed sparse columns (n, d): `arrays` are offsets, rows and values."""

    arrays: tuple[Any, Any, Any]
    n: int

    @property
    def d(self) -> int:
        """How many columns."""
        return len(self.arrays[0]) - 1

    def correlate(self, vector: Doubles, threads: int) -> Doubles:
        """X.T v  (d,)."""
        return kernels.correlate(self.arrays, vector, threads)

    def correlate_all(self, vectors: Sequence[Doubles], threads: int) -> Doubles:
        """X.T v for each of the vectors (m, d)."""
        block = np.stack(vectors, axis=1).ravel()
        return kernels.correlate_block(self.arrays, block, len(vectors), threads).reshape(len(vectors), -1)

    def combine(self, picked: Ints, weights: Doubles) -> Doubles:
        """X w for weights that are zero outside of the picked columns (n,)."""
        total = np.empty(self.n)
        kernels.combine(self.arrays, picked, weights, total)
        return total

    def with_constant(self) -> Columns:
        """A last column of ones: a bias that is penalized like every other weight."""
        offsets, rows, values = self.arrays
        stored = int(offsets[-1])
        ones = np.ones(self.n, values.dtype)
        arrays = (
            np.append(offsets, stored + self.n),
            np.concatenate([rows[:stored], np.arange(self.n, dtype=np.int32)]),
            np.concatenate([values[:stored], ones]),
        )
        return Columns(arrays, self.n)


def columns_of(X: Any, threads: int) -> Columns:
    """The columns of rows: a CSR matrix is transposed; of a dense one the zeros are left out, so both give the same.

    >>> columns_of(np.array([[1.0, 0.0], [2.0, 3.0]]), 1).correlate(np.array([1.0, 10.0]), 1).tolist()
    [21.0, 30.0]
    """
    n, d = X.shape
    if hasattr(X, "indptr"):
        data = X.data if X.data.dtype in (np.float32, np.float64) else X.data.astype(np.float64)
        rows = X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False), data
        return Columns(kernels.transpose(rows, d, threads), n)
    flipped = np.ascontiguousarray(np.asarray(getattr(X, "values", X)).T)
    stored = flipped != 0
    offsets = np.concatenate([[0], np.cumsum(stored.sum(axis=1))]).astype(np.int64)
    return Columns((offsets, np.nonzero(stored)[1].astype(np.int32), flipped[stored]), n)
