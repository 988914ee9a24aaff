"""Names of columns, made when they are asked for: millions of them are not held as Python strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, overload

import numpy as np
import pyarrow as pa

from linnaeus.types import Ints

Some: TypeAlias = Callable[[int, int], list[str]]
"""The names from one column up to another, which is excluded."""

BLOCK = 4096
SHOWN = 1000


class Names(Sequence[str]):
    """A sequence of names that reads like a list, and equals one with the same names.

    >>> Names(3, lambda start, end: [f"#{i}" for i in range(start, end)])
    ['#0', '#1', '#2']
    """

    def __init__(self, length: int, some: Some) -> None:
        self._length, self._some = length, some

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, column: int) -> str: ...
    @overload
    def __getitem__(self, column: slice) -> list[str]: ...
    def __getitem__(self, column: int | slice) -> str | list[str]:
        if isinstance(column, slice):
            start, end, step = column.indices(self._length)
            return self._some(start, max(start, end)) if step == 1 else [self[i] for i in range(start, end, step)]
        at = column + self._length if column < 0 else column
        if not 0 <= at < self._length:
            raise IndexError(f"there is no column {column} among {self._length:,}")
        return self._some(int(at), int(at) + 1)[0]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, self._length, BLOCK):
            yield from self._some(start, min(start + BLOCK, self._length))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = self[:SHOWN]
        return repr(shown) if len(self) <= SHOWN else f"{repr(shown)[:-1]}, ... {len(self) - SHOWN:,} more]"


def stored(array: pa.Array, *more: str) -> Names:
    """Names that lie in an Arrow array of strings, and a few after them."""
    first = len(array)

    def some(start: int, end: int) -> list[str]:
        found: list[str] = array.slice(start, max(0, min(end, first) - start)).to_pylist() if start < first else []
        return found + list(more[max(start - first, 0) : max(end - first, 0)])

    return Names(first + len(more), some)


def numbered(width: int, form: str = "#{}", first: int = 0) -> Names:
    """Features that have no other name: the form with their numbers.

    >>> numbered(2), numbered(2, "wave {}", 1)
    (['#0', '#1'], ['wave 1', 'wave 2'])
    """
    return Names(width, lambda start, end: [form.format(column + first) for column in range(start, end)])


def chained(parts: Sequence[Sequence[str]]) -> Names:
    """The names of several blocks, one after the other."""
    ends = np.cumsum([0, *map(len, parts)]).tolist()

    def some(start: int, end: int) -> list[str]:
        found: list[str] = []
        for part, first, last in zip(parts, ends[:-1], ends[1:], strict=True):
            if first < end and start < last:
                found += part[max(start - first, 0) : end - first]
        return found

    return Names(ends[-1], some)


def chosen(names: Sequence[str], columns: Ints) -> Names:
    """Some of the names, in the order of these columns."""
    return Names(len(columns), lambda start, end: [names[column] for column in columns[start:end].tolist()])


def prefixed(before: str, names: Sequence[str]) -> Names:
    """The names, each with this before it."""
    return Names(len(names), lambda start, end: [before + name for name in names[start:end]])
