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

TYPES = {"float64": pa.float64(), "int32": pa.int32(), "int64": pa.int64()}


def numbers(values: NDArray[Any], given: NDArray[np.bool_] | None = None) -> pa.Array:
    """A column of numbers; null where it is not given.

    >>> numbers(np.array([0.5, 0.25]), np.array([True, False])).to_pylist()
    [0.5, None]
    """
    values = np.ascontiguousarray(values)
    mask = None
    if given is not None and not given.all():
        mask = pa.py_buffer(np.packbits(given, bitorder="little").tobytes())
    return pa.Array.from_buffers(TYPES[values.dtype.name], len(values), [mask, pa.py_buffer(values)])


def strings(values: Sequence[str]) -> pa.Array:
    """A column of strings.

    >>> strings(["ham", "spam"]).to_pylist()
    ['ham', 'spam']
    """
    packed = pack_strings("it", values)
    return as_arrow(Texts(packed["it.bytes"], packed["it.offsets"]))
