"""Columns of any Arrow type as text, as lists of text or as numbers; what cannot be so is marked, not changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from linnaeus.data.views import as_numpy
from linnaeus.errors import DataError, said

MANY = pa.list_(pa.string())
ENTRIES = pa.list_(pa.struct([("index", pa.int32()), ("value", pa.float32())]))


def is_list(kind: pa.DataType) -> bool:
    """Whether cells are lists of one kind or another."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def settled(column: pa.Array) -> pa.Array:
    """The column in a type that everybody reads: views, dictionaries and extensions become what they stand for."""
    if isinstance(column, pa.ExtensionArray):
        return settled(column.storage)
    if pa.types.is_dictionary(column.type):
        values = settled(column.dictionary)  # views are unknown to the kernel that decodes
        return pa.DictionaryArray.from_arrays(column.indices, values).dictionary_decode()
    if is_list(column.type) and _is_coded(column.type.value_type):
        import pyarrow.compute as pc

        lengths = as_numpy(pc.fill_null(pc.list_value_length(column), 0))
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int64())
        mask = column.is_null() if column.null_count else None
        return pa.LargeListArray.from_arrays(offsets, settled(column.flatten()), mask=mask)
    if pa.types.is_struct(column.type) and _is_coded(column.type):
        names = [entry.name for entry in column.type]
        return pa.StructArray.from_arrays([settled(part) for part in column.flatten()], names, mask=column.is_null())
    if pa.types.is_string_view(column.type):
        kind = pa.large_string() if column.get_total_buffer_size() > 2**30 else pa.string()
        try:
            return column.cast(kind)
        except pa.ArrowNotImplementedError:  # in older pyarrow
            return pa.array(column.to_pylist(), kind)
    return column


def _is_coded(kind: pa.DataType) -> bool:
    """Whether cells are dictionaries, views or extensions, or hold such."""
    if is_list(kind) or pa.types.is_struct(kind):
        return any(_is_coded(kind.field(i).type) for i in range(kind.num_fields))
    return bool(pa.types.is_dictionary(kind) or pa.types.is_string_view(kind) or isinstance(kind, pa.BaseExtensionType))


def as_text(column: pa.Array, name: str) -> pa.Array:
    """Cells as text: strings as they are, without a copy; numbers, dates and truth values as they are written."""
    column = settled(column)
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    if pa.types.is_nested(kind):
        raise DataError(f"column {name!r} holds {kind}, not text; name another column, or turn its cells into text.")
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"column {name!r} holds {kind} that is not text ({said(error)}); name another column."
        ) from error


def as_cell(value: Any) -> str | None:
    """A value of JSON as text: strings as they are, numbers as Python writes them, lists and objects as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    import msgspec

    return msgspec.json.encode(value).decode()


def as_texts(column: pa.Array, name: str, separator: str | None) -> pa.Array:
    """Cells as lists of text: lists without their nulls, else the parts between separators without empty ones."""
    import pyarrow.compute as pc

    column = settled(column)
    if is_list(column.type):
        lists, lengths = column, pc.fill_null(pc.list_value_length(column), 0)
        values = as_text(column.flatten(), name)
    else:
        text = as_text(column, name)
        lists = pc.split_pattern(text, separator) if separator else _alone(text)
        lengths = pc.fill_null(pc.list_value_length(lists), 0)
        values = pc.utf8_trim_whitespace(lists.flatten()) if separator else lists.flatten()
    keep = as_numpy(pc.fill_null(pc.not_equal(values, ""), False))
    parents = np.repeat(np.arange(len(column)), as_numpy(lengths))
    counts = np.bincount(parents[keep], minlength=len(column))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    made = values.filter(pa.array(keep)).cast(pa.string())
    return pa.ListArray.from_arrays(pa.array(offsets), made, mask=lists.is_null() if lists.null_count else None)


def as_numbers(column: pa.Array, name: str) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Cells as float64, and which of them are finite numbers; the others become 0."""
    import pyarrow.compute as pc

    column = settled(column)
    if not _is_number(column.type):
        column = as_text(column, name)
    try:
        made = column.cast(pa.float64())
    except pa.ArrowInvalid:
        made = pa.array([_number(cell) for cell in column.to_pylist()], pa.float64())
    good = pc.fill_null(pc.is_finite(made), False)
    if not pc.all(good).as_py() and len(made):
        made = pc.if_else(good, made, 0.0)
    return made, as_numpy(good)


def is_missing(column: pa.Array) -> NDArray[np.bool_]:
    """Null cells, and empty ones where cells are text."""
    missing = as_numpy(column.is_null()) if column.null_count else np.zeros(len(column), bool)
    wide = pa.types.is_large_string(column.type)
    if len(column) and (wide or pa.types.is_string(column.type)):
        bounds = np.frombuffer(column.buffers()[1], np.int64 if wide else np.int32)
        missing |= np.diff(bounds[column.offset : column.offset + len(column) + 1]) == 0
    return missing


def holds_nul(column: pa.Array) -> NDArray[np.bool_]:
    r"""Which cells of text, or of lists of text, hold a NUL character.

    >>> holds_nul(pa.array([["a", "a\0"], ["b"], None])).tolist()
    [True, False, False]
    """
    if is_list(column.type):
        inner = holds_nul(column.flatten())
        ends = np.cumsum([len(cell) if cell.is_valid else 0 for cell in column]) if inner.any() else None
        if ends is None:
            return np.zeros(len(column), bool)
        total = np.concatenate([[0], np.cumsum(inner)])
        return np.asarray(np.diff(total[np.concatenate([[0], ends])]) > 0)
    if b"\0" not in _bytes_of(column):
        return np.zeros(len(column), bool)
    return np.array([cell is not None and "\0" in cell for cell in column.to_pylist()], bool)


def _bytes_of(column: pa.Array) -> bytes:
    """The bytes of cells of text, one after the other."""
    if not len(column):
        return b""
    wide = pa.types.is_large_string(column.type)
    bounds = np.frombuffer(column.buffers()[1], np.int64 if wide else np.int32)
    start, end = int(bounds[column.offset]), int(bounds[column.offset + len(column)])
    held = column.buffers()[2]
    return b"" if held is None else bytes(held.slice(start, end - start).to_pybytes())


def _alone(text: pa.Array) -> pa.Array:
    """Each cell as a list of itself."""
    offsets = pa.array(np.arange(len(text) + 1), pa.int32())
    return pa.ListArray.from_arrays(offsets, text.cast(pa.string()), mask=text.is_null() if text.null_count else None)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _number(cell: Any) -> float | None:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None
