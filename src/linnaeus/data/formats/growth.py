"""How large columns become when they are read: what is kept once and meant often is counted before it is copied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from linnaeus.data.cells import is_list
from linnaeus.data.streams import growth_limit
from linnaeus.errors import DataError

if TYPE_CHECKING:
    from linnaeus.data.options import ReadOptions
    from linnaeus.data.streams import File

PIECE = 32 << 20
"""Bytes of rows that are decoded at once, where they take fewer in the file."""

_ROWS, _CELLS = 1 << 20, 1 << 24
"""Rows that are counted at once, and cells that may take less than a bit each."""


class Growth:
    """The bytes that the rows of a file took so far, against its size: the rule for compressed files."""

    def __init__(self, file: File, options: ReadOptions) -> None:
        self._file, self._limit, self._total = file, growth_limit(file.size, options), 0

    def add(self, size: int) -> None:
        """Count these bytes, or refuse the file."""
        self._total += size
        if self._total > self._limit:
            raise DataError(
                f"{self._file.name}: unpacks to more than {self._limit:,} bytes from {self._file.size:,}, which looks "
                "like a decompression bomb; if it is not, say with max_bytes= how large it may become."
            )


def pieces(table: pa.RecordBatch, growth: Growth) -> Iterator[pa.RecordBatch]:
    """The rows, all at once or in parts that stay small when they are decoded; each is counted before."""
    for start in range(0, max(1, len(table)), _ROWS):  # of some columns, a billion rows take no bytes
        yield from _parts(table.slice(start, _ROWS), growth)


def _parts(table: pa.RecordBatch, growth: Growth) -> Iterator[pa.RecordBatch]:
    sizes = sum((row_bytes(column) for column in table.columns), np.ones(len(table), np.int64))
    ends = np.cumsum(sizes)
    if not len(ends) or ends[-1] <= max(PIECE, table.nbytes):
        growth.add(int(ends[-1]) if len(ends) else 0)
        yield table
        return
    start, before = 0, 0
    while start < len(ends):
        stop = max(int(np.searchsorted(ends, before + PIECE, side="right")), start + 1)
        growth.add(int(ends[stop - 1]) - before)
        yield table.slice(start, stop - start)
        start, before = stop, int(ends[stop - 1])


def row_bytes(column: pa.Array) -> NDArray[np.int64]:
    """The bytes of each cell once it stands alone: not as a number in a dictionary, nor as a view of shared bytes.

    >>> row_bytes(pa.array(["good", "bad", "good", None]).dictionary_encode()).tolist()
    [4, 3, 4, 0]
    """
    kind = column.type
    if isinstance(column, pa.ExtensionArray):
        return row_bytes(column.storage)
    if len(column) > max(_CELLS, 64 * column.nbytes):
        raise pa.ArrowInvalid(f"{len(column):,} cells in {column.nbytes:,} bytes")
    if pa.types.is_dictionary(kind):
        values = np.append(row_bytes(column.dictionary), 0)  # the last stands for null
        rows = pc.fill_null(column.indices.cast(pa.int64()), len(column.dictionary))
        return np.asarray(values[rows.to_numpy(zero_copy_only=False)], np.int64)
    if is_list(kind):
        return _list_bytes(column)
    if pa.types.is_struct(kind):
        return np.asarray(sum(map(row_bytes, column.flatten()), np.zeros(len(column), np.int64)), np.int64)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return _view_bytes(column)
    if any(test(kind) for test in _TEXTS):
        return np.asarray(pc.fill_null(pc.binary_length(column), 0).to_numpy(zero_copy_only=False), np.int64)
    return np.full(len(column), column.nbytes // max(1, len(column)), np.int64)


def longest_value(column: pa.Array) -> int:
    """The bytes of the longest value that a dictionary has, whether a row points to it or not; else of any cell.

    >>> longest_value(pa.array(["good", "bad"]).dictionary_encode().slice(1))
    4
    """
    if is_list(column.type):
        return longest_value(column.flatten())
    if pa.types.is_struct(column.type):
        return sum(map(longest_value, column.flatten()))
    values = column.dictionary if pa.types.is_dictionary(column.type) else column
    return int(row_bytes(values).max(initial=0))


_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)


def _list_bytes(column: pa.Array) -> NDArray[np.int64]:
    counts = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    ends = np.cumsum(counts)
    total = np.concatenate([[0], np.cumsum(row_bytes(column.flatten()))]).astype(np.int64)
    sizes: NDArray[np.int64] = total[ends] - total[ends - counts]
    return sizes


def _view_bytes(column: pa.Array) -> NDArray[np.int64]:
    """A view has 16 bytes, and the length stands in the first four; that of a null means nothing."""
    views = np.frombuffer(column.buffers()[1], np.int32).reshape(-1, 4)
    lengths = views[column.offset : column.offset + len(column), 0].astype(np.int64)
    return np.where(column.is_null().to_numpy(zero_copy_only=False), 0, lengths)
