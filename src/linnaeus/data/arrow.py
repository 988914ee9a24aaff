"""Arrow columns: by their buffers, as text, as lists of text, as numbers, as times."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.errors import DataError, said
from linnaeus.types import AnyInts, Array, Bools, Bytes, Json, Longs, offsets_of

DTYPES = {str(kind): dtype for kind, dtype in ((pa.float64(), "f8"), (pa.int32(), "i4"), (pa.int64(), "i8"))}
"""Types whose numbers lie in memory as NumPy's do, by Arrow's name."""

_WIDE = pa.large_string()
_TYPES = {"float64": pa.float64(), "int32": pa.int32(), "int64": pa.int64()}

FEW = 1 << 16
"""Up to this many strings are numbered in Python; for more, loading the functions of pyarrow pays off."""

FEW_NAMES = 1000
"""The same for names at some places."""


def as_numpy(column: pa.Array) -> Array:
    """A column of numbers or truth values without nulls as an array. Numbers are not copied: do not write to it.

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
    return column.to_numpy(zero_copy_only=False)


# Columns by their buffers: `pyarrow.array` loads pandas first where it is installed, a third of a second.


def from_numpy(values: Array, given: Bools | None = None) -> pa.Array:
    """A column of these numbers, where they lie; null where one is not given.

    >>> from_numpy(np.array([2, 0]), np.array([True, False])).to_pylist()
    [2, None]
    """
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(_TYPES[values.dtype.name], len(values), [_mask(given), pa.py_buffer(values)])


def text_column(values: Sequence[str | None], kind: pa.DataType = _WIDE) -> pa.Array:
    """A column of strings; None is null. `TypeError` if there is something else among them.

    >>> text_column(["ham", None, "spam"]).to_pylist()
    ['ham', None, 'spam']
    """
    given = None
    try:
        data, ends = _pack(values)
    except TypeError:
        given = np.array([value is not None for value in values], bool)
        data, ends = _pack(["" if value is None else value for value in values])
    bounds = ends if kind == _WIDE else ends.astype(np.int32)
    return pa.Array.from_buffers(kind, len(values), [_mask(given), pa.py_buffer(bounds), pa.py_buffer(data)])


def _pack(values: Sequence[Any]) -> tuple[Bytes, Longs]:
    return kernels.pack_texts(list(values), lambda size: np.empty(size, np.uint8), kernels.thread_count())


def first_bytes(strings: pa.Array) -> bytes:
    """The different bytes with which texts begin.

    >>> first_bytes(pa.array(["ham", "", "hat", "=1"]))
    b'=h'
    """
    if not len(strings):
        return b""
    places = text_offsets(strings)
    starts = places[:-1][np.diff(places) > 0]
    found = np.frombuffer(strings.buffers()[2], np.uint8)[starts] if len(starts) else np.zeros(0, np.uint8)
    return bytes(np.flatnonzero(np.bincount(found)).tolist())


def picked(names: Sequence[str], places: AnyInts, given: Bools | None = None) -> pa.Array:
    """The names at these places; null where none is given.

    >>> picked(["ham", "spam"], np.array([1, 0, -1]), np.array([True, True, False])).to_pylist()
    ['spam', 'ham', None]
    """
    if len(places) > FEW_NAMES:
        return text_column(names).take(from_numpy(places.astype(np.int32), given))
    found = text_column([names[place] for place in places.tolist()])
    return pa.Array.from_buffers(found.type, len(found), [_mask(given), *found.buffers()[1:]])


def _mask(given: Bools | None) -> pa.Buffer | None:
    if given is None or given.all():
        return None
    return pa.py_buffer(np.packbits(given, bitorder="little").tobytes())


def _is_given(column: pa.Array) -> Bools:
    """Which cells are not null."""
    start, end = column.offset, column.offset + len(column)
    if not column.null_count:
        return np.ones(len(column), bool)
    bits = np.frombuffer(column.buffers()[0], np.uint8)
    return np.unpackbits(bits, count=end, bitorder="little")[start:].view(bool)


def text_bytes(strings: pa.Array) -> Longs:
    """The bytes of each text; 0 where it is null.

    >>> text_bytes(pa.array(["ham", None, "häm"])[1:]).tolist()
    [0, 4]
    """
    if not len(strings):
        return np.zeros(0, np.int64)
    return np.where(_is_given(strings), np.diff(text_offsets(strings).astype(np.int64)), 0)


def as_strings(column: pa.Array) -> pa.Array:
    """A column of bytes as text, where it lies; `pyarrow.ArrowInvalid` where it is not UTF-8.

    >>> as_strings(pa.array([b"ham", None])).to_pylist()
    ['ham', None]
    """
    found = pa.Array.from_buffers(pa.string(), len(column), column.buffers(), column.null_count, column.offset)
    found.validate(full=True)
    return found


def list_offsets(lists: pa.Array) -> Longs:
    """Where the cells of each list begin in `lists.flatten()`; a list that is null has none."""
    import pyarrow.compute as pc

    return offsets_of(as_numpy(pc.fill_null(pc.list_value_length(lists), 0)))


def text_offsets(strings: pa.Array) -> AnyInts:
    """Where each text begins in the buffer of bytes; there is at least one text."""
    wide = pa.types.is_large_string(strings.type) or pa.types.is_large_binary(strings.type)
    dtype = np.int64 if wide else np.int32
    found: AnyInts = np.frombuffer(strings.buffers()[1], dtype)
    return found[strings.offset : strings.offset + len(strings) + 1]


def number(strings: pa.Array) -> tuple[Longs, list[str]]:
    """The different strings in the order in which they come, and for each row which of them it has; no nulls.

    >>> codes, found = number(pa.array(["spam", "ham", "spam"]))
    >>> codes.tolist(), found
    ([0, 1, 0], ['spam', 'ham'])
    """
    if not 0 < len(strings) <= FEW or not _is_string(strings.type):
        encoded = strings.cast(pa.large_string()).dictionary_encode()
        return as_numpy(encoded.indices).astype(np.int64), encoded.dictionary.to_pylist()
    raw, places = _bytes_of(strings), text_offsets(strings)
    cells = [raw[start:end] for start, end in pairwise((places - places[0]).tolist())]
    known = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    return np.fromiter(map(known.__getitem__, cells), np.int64, len(cells)), [cell.decode() for cell in known]


MANY = pa.list_(pa.string())
ENTRIES = pa.list_(pa.struct([("index", pa.int32()), ("value", pa.float32())]))


def is_list(kind: pa.DataType) -> bool:
    """Whether cells are lists of one kind or another."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def is_vector(kind: pa.DataType) -> bool:
    """Whether cells are lists of numbers, or lists of such lists."""
    if is_list(kind):
        return bool(is_list(kind.value_type) and is_vector(kind.value_type)) or _is_number(kind.value_type)
    return False


def settled(column: pa.Array) -> pa.Array:
    """The column in a type that everybody reads: views, dictionaries and extensions become what they stand for."""
    if isinstance(column, pa.ExtensionArray):
        return settled(column.storage)
    if pa.types.is_dictionary(column.type):
        values = settled(column.dictionary)  # views are unknown to the kernel that decodes
        return pa.DictionaryArray.from_arrays(column.indices, values).dictionary_decode()
    if is_list(column.type) and _is_coded(column.type.value_type):
        mask = column.is_null() if column.null_count else None
        return pa.LargeListArray.from_arrays(pa.array(list_offsets(column)), settled(column.flatten()), mask=mask)
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
    if _is_string(kind):
        return column
    if pa.types.is_nested(kind):
        raise DataError(f"column {name!r} holds {kind}, not text; name another column, or turn its cells into text.")
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"column {name!r} holds {kind} that is not text ({said(error)}); name another column."
        ) from error


def as_cell(value: Json) -> str | None:
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
        lists, values = column, as_text(column.flatten(), name)
    else:
        text = as_text(column, name)
        lists = pc.split_pattern(text, separator) if separator else _alone(text)
        values = pc.utf8_trim_whitespace(lists.flatten()) if separator else lists.flatten()
    keep = as_numpy(pc.fill_null(pc.not_equal(values, ""), False))
    offsets = offsets_of(keep)[list_offsets(lists)].astype(np.int32)
    made = values.filter(pa.array(keep)).cast(pa.string())
    return pa.ListArray.from_arrays(pa.array(offsets), made, mask=lists.is_null() if lists.null_count else None)


def as_numbers(column: pa.Array, name: str) -> tuple[pa.Array, Bools]:
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


def is_missing(column: pa.Array) -> Bools:
    """Null cells, and empty ones where cells are text."""
    missing = as_numpy(column.is_null()) if column.null_count else np.zeros(len(column), bool)
    if len(column) and _is_string(column.type):
        missing |= np.diff(text_offsets(column)) == 0
    return missing


def holds_nul(column: pa.Array) -> Bools:
    r"""Which cells of text, or of lists of text, hold a NUL character.

    >>> holds_nul(pa.array([["a", "a\0"], ["b"], None])).tolist()
    [True, False, False]
    """
    if is_list(column.type):
        inner = holds_nul(column.flatten())
        return np.diff(offsets_of(inner)[list_offsets(column)]) > 0 if inner.any() else np.zeros(len(column), bool)
    if b"\0" not in _bytes_of(column):
        return np.zeros(len(column), bool)
    return np.array([cell is not None and "\0" in cell for cell in column.to_pylist()], bool)


def _bytes_of(column: pa.Array) -> bytes:
    """The bytes of cells of text, one after the other."""
    if not len(column):
        return b""
    held, places = column.buffers()[2], text_offsets(column)
    return b"" if held is None else bytes(held.slice(int(places[0]), int(places[-1] - places[0])).to_pybytes())


def _alone(text: pa.Array) -> pa.Array:
    """Each cell as a list of itself."""
    offsets = pa.array(np.arange(len(text) + 1), pa.int32())
    return pa.ListArray.from_arrays(offsets, text.cast(pa.string()), mask=text.is_null() if text.null_count else None)


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _number(cell: Json) -> float | None:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None


_KINDS = (pa.float64(), pa.timestamp("us"), pa.timestamp("us", tz="UTC"))


def as_times(columns: Sequence[pa.Array], name: str) -> Array:
    """All cells as numbers: as written where they are numbers, else microseconds since 1970.

    >>> as_times([pa.array(["1970-01-01", "1970-01-01T00:00:01"])], "when").tolist()
    [0, 1000000]
    """
    whole = pa.chunked_array([settled(column) for column in columns])
    if whole.null_count:
        raise DataError(f"column {name!r}: {whole.null_count} rows have no time; fill them in before splitting by it.")
    for kind in _KINDS if _is_string(whole.type) else (whole.type,):
        try:
            return _numbers(whole.cast(kind))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    raise DataError(f"column {name!r}: not all cells are times; write them as 2026-11-15T12:00:00, or as numbers.")


def _numbers(column: pa.ChunkedArray) -> Array:
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("us"))
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.int64())
    found: Array = column.to_numpy()
    if not np.issubdtype(found.dtype, np.number):
        raise pa.ArrowInvalid("not a time")
    return found
