"""What the labels are: classes, label sets or numbers; numbers are summed up by quantiles and a histogram."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from linnaeus.audit.records import Share, Spread

if TYPE_CHECKING:
    from linnaeus.types import AnyInts, Array

BINS = 12


def lengths(values: AnyInts) -> Spread | None:
    """The spread of lengths, with a histogram over 0, 1, 2, 5, 10, 20, 50 ...; None if there are none.

    >>> lengths(np.array([0, 3, 4, 7])).counts
    (1, 0, 2, 1)
    """
    if len(values) == 0:
        return None
    edges = [0, 1]
    while edges[-1] <= values.max():
        edges.append(edges[-1] * 5 // 2 if str(edges[-1])[0] == "2" else edges[-1] * 2)
    return _spread(values, np.array(edges, np.float64))


def numbers(values: NDArray[np.float64]) -> Spread | None:
    """The spread of real numbers, with bins of equal width; what is not finite is left out."""
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return None
    low, high = float(values.min()), float(values.max())
    # The upper edge lies beyond the largest number, so that every bin can exclude its own.
    edges = np.linspace(low, np.nextafter(high, np.inf), BINS + 1) if high > low else np.array([low, low + 1])
    return _spread(values, edges)


def _spread(values: Array, edges: NDArray[np.float64]) -> Spread:
    bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(bins, minlength=len(edges) - 1)
    middle, high = np.quantile(values, [0.5, 0.95])
    return Spread(
        smallest=float(values.min()),
        median=float(middle),
        mean=float(values.mean(dtype=np.float64)),
        high=float(high),
        largest=float(values.max()),
        edges=tuple(edges.tolist()),
        counts=tuple(counts.tolist()),
    )


MISSING = -1
_SEPARATOR = "\x1f"  # the unit separator of ASCII: no label has it


class LabelBook:
    """Codes for labels, shared by the data sets that are compared.

    >>> book = LabelBook()
    >>> book.encode(pa.array(["spam", "ham", "spam"])).tolist(), book.names(0)
    ([0, 1, 0], ('spam',))
    """

    def __init__(self) -> None:
        self._codes: dict[tuple[str, ...], int] = {}
        self._names: list[tuple[str, ...]] = []

    def encode(self, labels: pa.Array) -> NDArray[np.int64]:
        """The code of each row; MISSING where there is no label."""
        key: Callable[[str], tuple[str, ...]] = _one
        if _is_many(labels.type):
            labels, key = pc.binary_join(labels.cast(pa.list_(pa.string())), _SEPARATOR), _many
        encoded = labels.dictionary_encode()
        known = [self._code(key(value)) for value in encoded.dictionary.to_pylist()]
        at = encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
        codes: NDArray[np.int64] = np.array([*known, MISSING], np.int64)[at]
        return codes

    def names(self, code: int) -> tuple[str, ...]:
        """The labels behind a code, sorted; none for a row without."""
        return () if code == MISSING else self._names[code]

    def show(self, code: int) -> str | None:
        """The labels behind a code for people, None for a row without."""
        return None if code == MISSING else ", ".join(self._names[code]) or "(none)"

    def _code(self, key: tuple[str, ...]) -> int:
        if key not in self._codes:
            self._codes[key] = len(self._names)
            self._names.append(key)
        return self._codes[key]


def kind_of(labels: pa.Array | None) -> str:
    """How rows are labeled: one, many, numeric or none."""
    if labels is None:
        return "none"
    if _is_many(labels.type):
        return "many"
    return "numeric" if pa.types.is_floating(labels.type) or pa.types.is_integer(labels.type) else "one"


def label_table(book: LabelBook, codes: NDArray[np.int64]) -> tuple[Share, ...]:
    """How many rows have each label, the most frequent first."""
    counts: Counter[str] = Counter()
    found, times = np.unique(codes[codes != MISSING], return_counts=True)
    for code, count in zip(found.tolist(), times.tolist(), strict=True):
        counts.update(dict.fromkeys(book.names(code), count))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Share(name, count, count / len(codes)) for name, count in ranked)


def label_numbers(book: LabelBook, codes: NDArray[np.int64]) -> Spread | None:
    """The spread of numeric labels."""
    found, times = np.unique(codes[codes != MISSING], return_counts=True)
    values = np.array([float(book.names(code)[0]) for code in found.tolist()], np.float64)
    return numbers(np.repeat(values, times))


def _is_many(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _one(value: str | float) -> tuple[str, ...]:
    return (value if isinstance(value, str) else repr(value),)


def _many(joined: str) -> tuple[str, ...]:
    # A set of labels has no order and no repetition, and it may be empty.
    return tuple(sorted(set(joined.split(_SEPARATOR)))) if joined else ()
