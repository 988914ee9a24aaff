"""Parquet, Feather and Arrow IPC: columns that already have types, streamed by row group or record batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from linnaeus.data.cells import settled
from linnaeus.data.formats.base import Chunk
from linnaeus.data.formats.growth import PIECE, Growth, longest_value, pieces
from linnaeus.data.formats.ipc import MAGIC, unpacked_sizes
from linnaeus.data.streams import BLOCK, File, growth_limit, open_raw
from linnaeus.errors import DataError, said
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.ledger import Ledger
    from linnaeus.data.options import ReadOptions

_MOST_ROWS = 1 << 16
_UNREAD = ("run_end_encoded", "list_view", "large_list_view", "union", "dense_union", "sparse_union")
"""Types of columns, by the beginning of their names, whose cells nobody here reads."""


@dataclass(frozen=True, slots=True)
class Parquet:
    """Parquet files: only the wanted columns are read, some rows at a time."""

    options: ReadOptions
    loose: ClassVar[bool] = False

    def schema(self, file: File) -> pa.Schema:
        """The columns with their Arrow types."""
        with _opened(file, "Parquet") as raw:
            return _with_names(_parquet(raw).schema_arrow)

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """The rows of one row group after the other, in pieces of about one block."""
        with _opened(file, "Parquet") as raw:
            reader, growth = _parquet(raw), Growth(file, self.options)
            size, first, groups = file.size, 1, reader.num_row_groups
            for group in range(groups):
                _check_size(file, reader.metadata.row_group(group), self.options)
                for table in _row_group(raw, reader, group, columns):
                    for piece in pieces(_checked(table), growth):
                        yield Chunk(_settled(piece), range(first, first + len(piece)), size * (group + 1) // groups)
                        first += len(piece)


@dataclass(frozen=True, slots=True)
class ArrowFile:
    """Arrow IPC files (Feather version 2) and streams, a record batch at a time."""

    options: ReadOptions
    loose: ClassVar[bool] = False

    def schema(self, file: File) -> pa.Schema:
        """The columns with their Arrow types."""
        with _opened(file, "Arrow") as raw:
            return _with_names(_ipc(raw, None).schema)

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """The record batches; offsets and bytes are checked, because a damaged file must not reach the kernels."""
        with _opened(file, "Arrow") as raw:
            first, growth, unpacked = 1, Growth(file, self.options), Growth(file, self.options)
            for size in unpacked_sizes(raw):
                unpacked.add(size)
            raw.seek(0)
            for table in _record_batches(_ipc(raw, columns)):
                for piece in pieces(_checked(table.select(list(columns))), growth):
                    yield Chunk(_settled(piece), range(first, first + len(piece)), raw.tell())
                    first += len(piece)


@contextmanager
def _opened(file: File, kind: str) -> Iterator[pa.NativeFile]:
    """The file; what pyarrow says of damage becomes one sentence."""
    raw = open_raw(file)
    try:
        if not raw.size():
            raise DataError(f"{file.name}: is empty; fetch or write the {kind} file again.")
        yield raw
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise error if str(error).startswith(file.name) else DataError(f"{file.name}: {error}") from error
        raise DataError(
            f"{file.name}: is not {kind} or is damaged ({said(error)}); fetch or write it again."
        ) from error
    finally:
        raw.close()


def _checked(table: pa.RecordBatch) -> pa.RecordBatch:
    """The rows, whose offsets and bytes are right; some types are not read."""
    table.validate(full=True)
    for entry in table.schema:
        if str(entry.type).startswith(_UNREAD):
            raise DataError(f"column {entry.name!r} holds {entry.type}, which is not read; write it as text or lists.")
    return table


def _settled(table: pa.RecordBatch) -> pa.RecordBatch:
    """The rows with their lists and objects in types that everybody reads; other columns are settled where they go."""
    if not any(pa.types.is_nested(kind) for kind in table.schema.types):
        return table
    return pa.RecordBatch.from_arrays([settled(column) for column in table.columns], names=table.schema.names)


def _with_names(schema: pa.Schema) -> pa.Schema:
    schema.names  # noqa: B018  (refuses bytes that are not UTF-8, which nobody else looks for)
    return schema


def _parquet(raw: pa.NativeFile, before: Any = None, dictionaries: Sequence[str] | None = None) -> Any:
    from pyarrow import parquet

    known = before.metadata if before else None
    return parquet.ParquetFile(raw, metadata=known, pre_buffer=False, read_dictionary=dictionaries)


def _row_group(raw: pa.NativeFile, reader: Any, group: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of one group, so many at a time that a piece is about one block, and small even if all are long.

    The dictionaries of a row group come with its first row, and tell how long texts may be. How many texts a list has
    they do not tell: texts in lists stay numbers in a dictionary until they are counted.
    """
    claims, chosen = reader.metadata.row_group(group), _chosen(group, columns)
    count = _rows_per_block(claims)
    nested = any(pa.types.is_nested(reader.schema_arrow.field(name).type) for name in columns)
    if not nested and count * claims.total_byte_size <= PIECE:
        return _batches(reader, count, chosen)
    coded = _parquet(raw, reader, [reader.schema.column(i).path for i in range(len(reader.schema))])
    try:
        first = next(coded.iter_batches(1, **chosen), None)
    except OSError:  # texts are told by what they share with the one before: each may be as long as all of these
        return _joined(_batches(reader, PIECE // max(1, claims.total_byte_size), chosen))
    if first is None or nested:
        return _batches(coded, count, chosen)
    longest = sum(longest_value(column) for column in first.columns)
    return _batches(reader, min(count, PIECE // max(1, longest)), chosen)


def _batches(reader: Any, count: int, chosen: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    found: Iterator[pa.RecordBatch] = reader.iter_batches(min(_MOST_ROWS, max(1, count)), **chosen)
    return found


def _joined(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Small batches together, up to about a block."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= BLOCK or len(held) >= _MOST_ROWS:
            yield pa.concat_batches(held)
            held, size = [], 0
    if held:
        yield pa.concat_batches(held)


def _chosen(group: int, columns: Sequence[str]) -> dict[str, Any]:
    return {"row_groups": [group], "columns": list(columns), "use_threads": False}


def _ipc(raw: pa.NativeFile, columns: Sequence[str] | None) -> Any:
    magic = raw.read(len(MAGIC))
    raw.seek(0)
    opener = pa.ipc.open_file if magic == MAGIC else pa.ipc.open_stream
    reader: Any = opener(raw)
    if columns is None or magic != MAGIC:
        return reader
    wanted = [reader.schema.names.index(name) for name in columns]
    return opener(raw, options=pa.ipc.IpcReadOptions(included_fields=wanted, use_threads=False))


def _record_batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.RecordBatchFileReader):
        return (reader.get_batch(i) for i in range(reader.num_record_batches))
    return iter(reader)


def _rows_per_block(group: Any) -> int:
    """So many rows that a piece is about one block, if all rows were alike."""
    per_row = max(1, group.total_byte_size // max(1, group.num_rows))
    return int(min(_MOST_ROWS, max(1, BLOCK // per_row)))


def _check_size(file: File, group: Any, options: ReadOptions) -> None:
    # Compared with the whole file: to ask for its columns, of a damaged file, ends the process inside pyarrow.
    limit = growth_limit(file.size, options)
    if group.total_byte_size > limit:
        raise DataError(
            f"{file.name}: a row group unpacks to {group.total_byte_size:,} bytes, more than {limit:,}; if that is "
            "right, say with max_bytes= how large it may become."
        )
