"""Rows as strings of numbered letters: what string similarities read, as the features `Letters` make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import DataError

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Ints, Longs

    Strings = tuple[Longs, Ints]

BLOCK = 256
MOST = 1 << 24
"""Above all code points; float32 holds whole numbers up to here."""


def strings(X: Any) -> Strings:
    """Offsets (n+1) and letters of all rows, in the order of their columns; zeros are no letters.

    >>> from linnaeus.arrays import Dense
    >>> [part.tolist() for part in strings(Dense(np.array([[98.0, 99.0, 0.0], [98.0, 0.0, 0.0]])))]
    [[0, 2, 3], [98, 99, 98]]
    """
    if hasattr(X, "indptr"):
        offsets = X.indptr - X.indptr[0]
        values = X.data[X.indptr[0] : X.indptr[-1]]
    else:
        there = X.values != 0
        offsets = np.zeros(len(there) + 1, np.int64)
        np.cumsum(there.sum(axis=1), out=offsets[1:])
        values = X.values[there]
    letters = values.astype(np.int32)
    if (letters != values).any() or (len(letters) and not 0 < letters.min() <= letters.max() < MOST):
        raise DataError("String kernels read texts letter by letter; take the features Letters(...) with them.")
    return offsets.astype(np.int64), letters


def normalized(K: Doubles, left: Doubles, right: Doubles) -> Doubles:
    """K over the roots of the self-similarities of its rows and columns, in place; 0 where one of these is 0."""
    for start in range(0, len(K), BLOCK):
        rows = slice(start, start + BLOCK)
        sizes = np.sqrt(left[rows, None] * right[None, :])  # of a string and itself exactly its self-similarity
        np.divide(K[rows], sizes, out=K[rows], where=sizes > 0)
    return K
