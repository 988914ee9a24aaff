"""A small problem in its canonical form: equal examples become one with the sum of their weights, in a fixed order.

The objective is a sum over examples, so it is the same function; but now repeating an example and giving it twice the
weight, or shuffling the rows, give the same problem to the last bit, and so the same model. Learners that look at one
example at a time are different by nature and see the rows as they are. Above `SMALL` entries sorting whole rows would
cost more than it is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.pipeline.matrices import is_sparse
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Longs

SMALL = 1 << 15
"""Rows plus stored values up to which a problem is brought into its canonical form."""


def canonical(matrix: Any, y: Any, weights: Doubles) -> tuple[Longs, Doubles]:
    """The rows to keep, in order, and what each counts; equal examples are kept once.

    >>> X, y = np.array([[2.0], [1.0], [2.0]]), np.array([0, 1, 0])
    >>> [part.tolist() for part in canonical(X, y, np.ones(3))]
    [[0, 1], [2.0, 1.0]]
    """
    keys = [_row(matrix, i) + _truth(y, i) for i in range(matrix.shape[0])]
    first: dict[bytes, int] = {}
    totals: dict[bytes, float] = {}
    for i, key in enumerate(keys):
        first.setdefault(key, i)
        totals[key] = totals.get(key, 0.0) + float(weights[i])
    order = sorted(first)
    return np.array([first[key] for key in order], np.int64), np.array([totals[key] for key in order])


def small(matrix: Any) -> bool:
    """Whether the matrix is worth it."""
    entries = matrix.nnz if is_sparse(matrix) else matrix.size
    return bool(entries + matrix.shape[0] <= SMALL)


def _row(matrix: Any, i: int) -> bytes:
    """The bytes of a row; a negative zero is a zero."""
    if not is_sparse(matrix):
        return bytes((matrix[i] + 0.0).tobytes())
    a, b = matrix.indptr[i], matrix.indptr[i + 1]
    return int(b - a).to_bytes(8, "big") + bytes(matrix.indices[a:b].tobytes() + (matrix.data[a:b] + 0.0).tobytes())


def _truth(y: Any, i: int) -> bytes:
    found = y.labels[y.offsets[i] : y.offsets[i + 1]] if isinstance(y, LabelSets) else np.asarray(y[i])
    return bytes(found.tobytes())
