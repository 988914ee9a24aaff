"""Long vectors: inner products and combinations on all threads; the results do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels

if TYPE_CHECKING:
    from linnaeus.types import Doubles


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
