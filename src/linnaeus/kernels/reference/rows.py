"""Helpers of the twins: checks of arguments, and access to rows that are given by offsets."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from linnaeus.types import AnyInts, Array, Doubles, Ints, Longs

Rows: TypeAlias = tuple[Longs, Ints, Array]
"""Offsets (n+1), columns and values; in this way a matrix is given by its columns too."""


def refuse(wrong: object, sentence: str) -> None:
    """Raise a ValueError with this sentence if something is wrong."""
    if wrong:
        raise ValueError(sentence)


def outside(numbers: AnyInts, count: int) -> bool:
    """Whether one of these is no number from 0 to count - 1."""
    return numbers.size > 0 and not 0 <= numbers.min() <= numbers.max() < count


def misfit(offsets: AnyInts, size: int) -> bool:
    """Whether these offsets fall, or lead out of so many values."""
    return len(offsets) > 0 and bool(offsets[0] < 0 or offsets[-1] > size or (offsets[1:] < offsets[:-1]).any())


def check_offsets(rows: Rows, kernel: str) -> None:
    """Offsets rise, and end within the values."""
    refuse(misfit(rows[0], min(len(rows[1]), len(rows[2]))), f"{kernel}: the offsets do not fit the values")


def row_of(rows: Rows, i: int | np.integer) -> tuple[Ints, Array]:
    """Columns and values of one row."""
    inside = slice(rows[0][i], rows[0][i + 1])
    return rows[1][inside], rows[2][inside]


def stored(rows: Rows, kernel: str) -> tuple[Longs, Ints, Doubles]:
    """Row, column and value of everything stored, where the offsets fit."""
    check_offsets(rows, kernel)
    indptr, columns, values = rows
    inside = slice(indptr[0], indptr[-1]) if len(indptr) else slice(0)
    row = np.repeat(np.arange(max(len(indptr) - 1, 0)), np.diff(indptr))
    return row, columns[inside], values[inside].astype(np.float64)
