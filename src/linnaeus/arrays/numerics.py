"""Long vectors, BLAS on one thread, Gram matrices, overflow, the sigmoid: the same bits for any number of threads."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from linnaeus import kernels
from linnaeus.arrays.csr import CSR
from linnaeus.errors import DataError, ModelFileError
from linnaeus.protocols import Rows
from linnaeus.types import Array, Doubles, Matrix

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


def sigmoid(t: Doubles) -> Doubles:
    """1 / (1 + e^-t), without overflow on either side.

    >>> sigmoid(np.array([0.0, -800.0])).tolist()
    [0.5, 0.0]
    """
    small = np.exp(-np.abs(t))
    return np.where(t >= 0, 1.0, small) / (1.0 + small)


def single_blas() -> AbstractContextManager[object]:
    """A context in which every loaded BLAS library uses one thread; libraries loaded later are not affected."""
    return _found("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")


@cache
def _found(scipy: bool) -> ThreadpoolController:
    """The BLAS libraries of this process, searched once (3 ms), and again after SciPy has loaded its own."""
    from threadpoolctl import ThreadpoolController

    del scipy
    return ThreadpoolController()


def dot(a: Doubles, b: Doubles) -> float:
    """The inner product of two vectors.

    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(kernels.inner([a], [b], kernels.thread_count())[0])


def norm(a: Doubles) -> float:
    """The Euclidean length.

    >>> norm(np.array([3.0, 4.0]))
    5.0
    """
    return float(np.sqrt(dot(a, a)))


def products(lefts: Sequence[Doubles], rights: Sequence[Doubles]) -> Doubles:
    """The inner product of each left vector with each right one (a, b), in one pass over all.

    >>> products([np.array([1.0, 2.0])], [np.array([1.0, 0.0]), np.array([0.0, 1.0])]).tolist()
    [[1.0, 2.0]]
    """
    return kernels.inner(list(lefts), list(rights), kernels.thread_count()).reshape(len(lefts), len(rights))


def combine(vectors: Sequence[Doubles], times: Sequence[float], out: Doubles | None = None) -> Doubles:
    """sum_i times_i vector_i, in `out` (which may be one of them) or in new memory.

    >>> combine([np.array([1.0, 2.0]), np.array([1.0, 0.0])], [2.0, -1.0]).tolist()
    [1.0, 4.0]
    """
    out = np.empty_like(vectors[0]) if out is None else out
    kernels.blend(list(vectors), np.array(times, np.float64), out, kernels.thread_count())
    return out


def add_multiple(vector: Doubles, times: float, total: Doubles) -> float:
    """Add times vector to `total`, and return the squared length of the vector. Both may be C-contiguous matrices.

    >>> total = np.array([1.0, 2.0])
    >>> add_multiple(np.array([1.0, 3.0]), 2.0, total), total.tolist()
    (10.0, [3.0, 8.0])
    """
    assert total.flags.c_contiguous  # else the next line would change a copy
    return kernels.add_multiple(vector.reshape(-1), times, total.reshape(-1), kernels.thread_count())


LARGEST = 1e76
"""The largest sum of squares: models are stored in float32, which ends at 3e38, and solvers multiply such sums."""

Scores = TypeVar("Scores", bound=NDArray[np.floating])


def finite_scores(S: Scores) -> Scores:
    """Return the scores (n, ...) unchanged; raise an error if one of them is infinite or not a number.

    >>> finite_scores(np.array([[1.0, 2.0]])).tolist()
    [[1.0, 2.0]]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(S.sum()):  # a sum needs no memory; if it is finite, all scores are
            return S
    odd = ~np.isfinite(S.reshape(len(S), -1)).all(axis=1)
    if not odd.any():
        return S
    raise ModelFileError(
        f"The scores of row {int(odd.argmax())} are not finite: the weights of the model are too large; restore it "
        "from a copy, or train it again with smaller values or more regularization."
    )


def refuse_overflow(name: str, values: Array, what: str) -> None:
    """Refuse numbers whose squares add up to more than solvers can work with."""
    if values.dtype == np.float32:  # squares of all of them fit into float64
        return
    flat = np.ascontiguousarray(values, np.float64).reshape(-1)  # no copy of what lies so already
    with np.errstate(over="ignore", invalid="ignore"):
        if dot(flat, flat) <= LARGEST:
            return
    largest = float(np.abs(flat).max())
    raise DataError(f"{name} holds values so large ({largest:.3g}) that their squares overflow; scale the {what}.")


BLOCK = 1 << 22
"""Entries in one block of unpacked rows."""


def gram(X: Rows, weights: Doubles) -> Doubles:
    """X' diag(weights) X  (d, d).

    >>> from linnaeus.arrays import CSR
    >>> X = CSR(np.array([0, 1, 3]), np.array([0, 0, 1], np.int32), np.array([1.0, 2.0, 3.0]), 2)
    >>> gram(X, np.array([1.0, 2.0])).tolist()
    [[9.0, 12.0], [12.0, 18.0]]
    """
    if isinstance(X, CSR):
        S: Matrix = X.to_scipy().astype(np.float64)
        return np.asarray((S.T @ S.multiply(weights[:, None]).tocsr()).toarray())
    n, d = X.shape
    total, unit, size = np.zeros((d, d)), np.eye(d), max(1, BLOCK // max(1, d))
    for start in range(0, n, size):
        rows = np.arange(start, min(n, start + size))
        D = np.asarray(X.take(rows).dot(unit), dtype=np.float64)
        total += D.T @ (D * weights[rows][:, None])
    return total


def outer(X: Rows) -> Doubles:
    """X X'  (n, n)."""
    if isinstance(X, CSR):
        S: Matrix = X.to_scipy().astype(np.float64)
        return np.asarray((S @ S.T).toarray())
    D = X.dot(np.eye(X.shape[1]))
    return D @ D.T
