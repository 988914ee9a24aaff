"""Arrow columns by their buffers: `to_numpy` would load pandas, a third of a second, and `cast` all of compute."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

DTYPES = {str(kind): dtype for kind, dtype in ((pa.float64(), "f8"), (pa.int32(), "i4"), (pa.int64(), "i8"))}
"""Types whose numbers lie in memory as NumPy's do, by Arrow's name."""

_TYPES = {"float64": pa.float64(), "int32": pa.int32(), "int64": pa.int64()}

FEW = 1 << 16
"""Strings up to which they are told apart here: beyond, what pyarrow needs to be loaded is soon won back."""


def as_numpy(column: pa.Array) -> NDArray[Any]:
    """Numbers or truth values without nulls; numbers are not copied, so the array is not to be written to.

    >>> as_numpy(pa.array([True, False, True])[1:]).tolist(), as_numpy(pa.array([1.5, 2.5])[1:]).tolist()
    ([False, True], [2.5])
    """
    start, end = column.offset, column.offset + len(column)
    boolean = pa.types.is_boolean(column.type)
    if len(column) and not column.null_count and (boolean or str(column.type) in DTYPES):
        held = column.buffers()[1]
        if boolean:
            return np.unpackbits(np.frombuffer(held, np.uint8), count=end, bitorder="little")[start:].view(bool)
        return np.frombuffer(held, DTYPES[str(column.type)], count=end)[start:]
    found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return found


def from_numpy(values: NDArray[Any]) -> pa.Array:
    """A column of these numbers, where they lie: `pyarrow.array` would load pandas as well.

    >>> from_numpy(np.array([2, 0])).to_pylist()
    [2, 0]
    """
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(_TYPES[values.dtype.name], len(values), [None, pa.py_buffer(values)])


def as_strings(column: pa.Array) -> pa.Array:
    """A column of bytes as text, where it lies; `pyarrow.ArrowInvalid` where it is not UTF-8.

    >>> as_strings(pa.array([b"ham", None])).to_pylist()
    ['ham', None]
    """
    found = pa.Array.from_buffers(pa.string(), len(column), column.buffers(), column.null_count, column.offset)
    found.validate(full=True)
    return found


def number(strings: pa.Array) -> tuple[NDArray[np.int64], list[str]]:
    """The different strings in the order in which they come, and for each row which of them it has; no nulls.

    >>> codes, found = number(pa.array(["spam", "ham", "spam"]))
    >>> codes.tolist(), found
    ([0, 1, 0], ['spam', 'ham'])
    """
    wide = pa.types.is_large_string(strings.type)
    if not 0 < len(strings) <= FEW or not (wide or pa.types.is_string(strings.type)):
        encoded = strings.cast(pa.large_string()).dictionary_encode()
        return as_numpy(encoded.indices).astype(np.int64), encoded.dictionary.to_pylist()
    _, bounds, held = strings.buffers()
    places = np.frombuffer(bounds, np.int64 if wide else np.int32)[strings.offset : strings.offset + len(strings) + 1]
    raw = b"" if held is None else held.slice(int(places[0]), int(places[-1] - places[0])).to_pybytes()
    cells = [raw[start:end] for start, end in pairwise((places - places[0]).tolist())]
    known = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    return np.fromiter(map(known.__getitem__, cells), np.int64, len(cells)), [cell.decode() for cell in known]
