"""Rows of the features `Letters` as strings of numbered letters, the input of string kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import DataError

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Ints, Longs

    Strings = tuple[Longs, Ints]

BLOCK = 256
MOST = 1 << 24
"""Larger than every code point; float32 is exact for whole numbers up to here."""


def strings(X: Any) -> Strings:
    """Offsets (n+1) and letters of all rows, in the order of their columns; zeros are left out.

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
        raise DataError("String kernels compare texts letter by letter; use them with the features Letters(...).")
    return offsets.astype(np.int64), letters


def normalized(K: Doubles, left: Doubles, right: Doubles) -> Doubles:
    """Divide K by the square roots of the self-similarities, in place; 0 where a self-similarity is 0."""
    for start in range(0, len(K), BLOCK):
        rows = slice(start, start + BLOCK)
        sizes = np.sqrt(left[rows, None] * right[None, :])  # for a string and itself, exactly its self-similarity
        np.divide(K[rows], sizes, out=K[rows], where=sizes > 0)
    return K
