"""Bytes to text: cells that are not UTF-8 are refused, with the row and the place in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus.data.formats.base import Chunk
from linnaeus.data.streams import first_undecodable, undecodable
from linnaeus.data.views import as_strings

if TYPE_CHECKING:
    from linnaeus.data.ledger import Ledger
    from linnaeus.data.options import ReadOptions
    from linnaeus.data.streams import File


def readable(chunk: Chunk, file: File, options: ReadOptions, ledger: Ledger) -> Chunk:
    """The chunk with its columns of bytes as text, without the rows that are none. Valid bytes are not copied."""
    pairs = [_decoded(column) for column in chunk.table.columns]
    table = pa.RecordBatch.from_arrays([column for column, _ in pairs], names=chunk.table.schema.names)
    bad = sorted({row for _, rows in pairs for row in rows})
    if not bad:
        return Chunk(table, chunk.rows, chunk.done)
    where = f"row {chunk.rows[bad[0]]}"
    if not ledger.skips:
        raise undecodable(file, where, first_undecodable(file, options), options.encoding)
    ledger.reject(f"{file.name}, {where}", f"bytes that are not {options.encoding}", "", len(bad))
    keep = np.setdiff1d(np.arange(len(table)), bad)
    return Chunk(table.take(pa.array(keep)), [chunk.rows[i] for i in keep], chunk.done)


def _decoded(column: pa.Array) -> tuple[pa.Array, list[int]]:
    """The column as text, and which rows are not UTF-8 (they become empty)."""
    if pa.types.is_list(column.type):
        values, bad = _decoded(column.flatten())
        made = pa.ListArray.from_arrays(_offsets(column), values)
        return made, sorted(set(_parents(column, bad)))
    if not pa.types.is_binary(column.type):
        return column, []
    try:
        return as_strings(column), []
    except pa.ArrowInvalid:
        cells = column.to_pylist()
        bad = [i for i, cell in enumerate(cells) if cell is not None and not _is_text(cell)]
        for i in bad:
            cells[i] = b""
        return pa.array(cells, pa.binary()).cast(pa.string()), bad


def _parents(column: pa.Array, cells: list[int]) -> list[int]:
    """The lists in which these of their cells stand."""
    import pyarrow.compute as pc

    parents = pc.list_parent_indices(column)
    return [parents[i].as_py() for i in cells]


def _offsets(column: pa.Array) -> pa.Array:
    """Offsets into the flattened values; the lists of our own readers have no nulls."""
    import pyarrow.compute as pc

    lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())


def _is_text(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True
