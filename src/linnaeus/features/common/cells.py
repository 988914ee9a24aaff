"""Reading a further column of the rows, however it came, as numbers or as categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from linnaeus.errors import DataError
from linnaeus.features.common.pieces import column

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.types import Doubles

MISSING = ("", "na", "n/a", "nan", "null", "none")
"""What a numeric column may say, in any case, when it has no number."""

LARGEST = 1e150
"""The largest number a column may hold: its square is still finite."""


def categories(batch: Batch, name: str) -> pa.Array:
    """A column as Arrow strings; null where there is no value."""
    values = column(batch, name, "Columns")
    try:
        return values if pa.types.is_string(values.type) else values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"The column {name!r} holds {values.type}, not categories; turn its cells into text."
        ) from error


def numbers(batch: Batch, name: str) -> Doubles:
    """A column as float64; NaN where there is no value."""
    values = column(batch, name, "Columns")
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = _parse(values, name, batch.start)
    try:
        found: Doubles = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"The column {name!r} holds {values.type}, not numbers; make numbers of its cells, or name it in "
            "categorical=..."
        ) from error
    beyond = np.abs(found) > LARGEST
    if beyond.any():
        row = batch.start + 1 + int(np.flatnonzero(beyond)[0])
        raise DataError(f"Row {row} of the column {name!r} is beyond {LARGEST:g}; leave it empty if it is not known.")
    return found


def _parse(values: pa.Array, name: str, start: int) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(values)
    absent = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(MISSING, trimmed.type))
    present = pc.if_else(absent, None, trimmed)
    try:
        return present.cast(pa.float64())
    except pa.ArrowInvalid:
        row = next(i for i, text in enumerate(present.to_pylist()) if text is not None and not _is_number(text))
    raise DataError(
        f"Row {start + row + 1} of the column {name!r} is {values[row].as_py()!r}, which is not a number; "
        "correct it, or name the column in categorical=..."
    )


def _is_number(text: str) -> bool:
    try:
        pa.array([text]).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True
