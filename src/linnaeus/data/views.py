"""Arrow columns as NumPy arrays, by their buffers: `to_numpy` of pyarrow would load pandas, a third of a second."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

DTYPES = {str(kind): dtype for kind, dtype in ((pa.float64(), "f8"), (pa.int32(), "i4"), (pa.int64(), "i8"))}
"""Types whose numbers lie in memory as NumPy's do, by Arrow's name."""


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
