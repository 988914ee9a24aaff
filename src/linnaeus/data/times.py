"""Columns of times as numbers that sort: Arrow times, numbers, or text that writes either (ISO 8601)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from linnaeus.data.cells import settled
from linnaeus.errors import DataError

_KINDS = (pa.float64(), pa.timestamp("us"), pa.timestamp("us", tz="UTC"))


def as_times(columns: Sequence[pa.Array], name: str) -> NDArray[Any]:
    """All cells as numbers: as written where they are numbers, else microseconds since 1970.

    >>> as_times([pa.array(["1970-01-01", "1970-01-01T00:00:01"])], "when").tolist()
    [0, 1000000]
    """
    whole = pa.chunked_array([settled(column) for column in columns])
    if whole.null_count:
        raise DataError(f"column {name!r}: {whole.null_count} rows have no time; fill them in before splitting by it.")
    text = pa.types.is_string(whole.type) or pa.types.is_large_string(whole.type)
    for kind in _KINDS if text else (whole.type,):
        try:
            return _numbers(whole.cast(kind))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    raise DataError(f"column {name!r}: not all cells are times; write them as 2026-11-15T12:00:00, or as numbers.")


def _numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("us"))
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.int64())
    found: NDArray[Any] = column.to_numpy()
    if not np.issubdtype(found.dtype, np.number):
        raise pa.ArrowInvalid("not a time")
    return found
