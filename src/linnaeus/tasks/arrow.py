"""Arrow arrays from NumPy's, by their buffers: `pyarrow.array` would load pandas first, a third of a second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus.store.states import pack_strings
from linnaeus.text.buffers import as_arrow
from linnaeus.types import Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW = 1000
"""Rows of which each is looked at: for more, `pyarrow.compute` is worth the time to load it."""

TYPES = {"float64": pa.float64(), "int32": pa.int32(), "int64": pa.int64()}


def numbers(values: NDArray[Any], given: NDArray[np.bool_] | None = None) -> pa.Array:
    """A column of numbers; null where it is not given.

    >>> numbers(np.array([0.5, 0.25]), np.array([True, False])).to_pylist()
    [0.5, None]
    """
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(TYPES[values.dtype.name], len(values), [_mask(given), pa.py_buffer(values)])


def strings(values: Sequence[str]) -> pa.Array:
    """A column of strings.

    >>> strings(["ham", "spam"]).to_pylist()
    ['ham', 'spam']
    """
    packed = pack_strings("it", values)
    return as_arrow(Texts(packed["it.bytes"], packed["it.offsets"]))


def picked(names: Sequence[str], places: NDArray[Any], given: NDArray[np.bool_] | None = None) -> pa.Array:
    """The names at these places; null where none is given.

    >>> picked(["ham", "spam"], np.array([1, 0, -1]), np.array([True, True, False])).to_pylist()
    ['spam', 'ham', None]
    """
    if len(places) > FEW:
        return strings(names).take(numbers(places.astype(np.int32), given))
    found = strings([names[place] for place in places.tolist()])
    return pa.Array.from_buffers(found.type, len(found), [_mask(given), *found.buffers()[1:]])


def _mask(given: NDArray[np.bool_] | None) -> pa.Buffer | None:
    if given is None or given.all():
        return None
    return pa.py_buffer(np.packbits(given, bitorder="little").tobytes())
