"""Blocks around a block whose rows have a number in every column: what they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.errors import InputTypeError, UsageError, expect

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Floats

ROWS = 4096
"""Rows that are made together, in float64."""


def full_rows(X: CSR, make: Callable[[CSR], Doubles], width: int) -> CSR:
    """The rows that `make` gives for those of X, some at a time, with all their numbers stored.

    >>> X = CSR(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.float32), 1)
    >>> full_rows(X, lambda rows: rows.dot(np.array([[2.0, 0.0]])), 2).data.tolist()
    [2.0, 0.0]
    """
    n = len(X)
    values: Floats = np.empty((n, width), np.float32)
    for start in range(0, n, ROWS):
        values[start : start + ROWS] = make(X.rows_slice(start, start + ROWS))
    columns = np.tile(np.arange(width, dtype=np.int32), n)
    return CSR(np.arange(n + 1, dtype=np.int64) * width, columns, values.reshape(-1), width)


def check_around(piece: Any, block: type) -> None:
    """Refuse a block that is not an extractor, a width below 1 and a seed below 0."""
    name = type(piece).__name__
    if not isinstance(piece.block, block):
        raise InputTypeError(f"{name} takes an extractor's features, not {type(piece.block).__name__}.")
    for part, least in (("width", 1), ("seed", 0)):
        expect(f"{name}({part}=...)", getattr(piece, part), int)
        if getattr(piece, part) < least:
            raise UsageError(f"{name}({part}=...) must be at least {least}, not {getattr(piece, part)}.")
