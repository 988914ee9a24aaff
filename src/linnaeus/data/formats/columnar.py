"""Parquet, Feather and Arrow IPC: columns that already have types, streamed by row group or record batch."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from linnaeus.data.arrow import is_list, list_offsets, settled, text_bytes
from linnaeus.data.formats import Chunk, Format
from linnaeus.data.ledger import Ledger
from linnaeus.data.options import ReadOptions
from linnaeus.data.streams import BLOCK, File, growth_limit, open_raw, refuse_growth
from linnaeus.errors import DataError, said
from linnaeus.types import Json, Longs, offsets_of, stretches

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile, RowGroupMetaData


_IpcReader: TypeAlias = pa.RecordBatchFileReader | pa.RecordBatchStreamReader


_MAX_BATCH_ROWS = 1 << 16
_UNREAD = ("run_end_encoded", "list_view", "large_list_view", "union", "dense_union", "sparse_union")
"""Column types that are not read, by the beginning of their names."""


class Parquet(Format):
    """Parquet files: only the wanted columns are read, some rows at a time."""

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


class ArrowFile(Format):
    """Arrow IPC files (Feather version 2) and streams, a record batch at a time."""

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


def _parquet(
    raw: pa.NativeFile, before: ParquetFile | None = None, dictionaries: Sequence[str] | None = None
) -> ParquetFile:
    from pyarrow import parquet

    known = before.metadata if before else None
    return parquet.ParquetFile(raw, metadata=known, pre_buffer=False, read_dictionary=dictionaries)


def _row_group(raw: pa.NativeFile, reader: ParquetFile, group: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of one group, so many at a time that a piece is about one block, and small even if all are long.

    The dictionaries of a row group come with its first row, and tell how long texts may be. How many texts a list has
    they do not tell: texts in lists stay numbers in a dictionary until they are counted.
    """
    claims = reader.metadata.row_group(group)
    chosen = {"row_groups": [group], "columns": list(columns), "use_threads": False}
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


def _batches(reader: ParquetFile, count: int, chosen: dict[str, Json]) -> Iterator[pa.RecordBatch]:
    return reader.iter_batches(min(_MAX_BATCH_ROWS, max(1, count)), **chosen)


def _joined(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Small batches together, up to about a block."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= BLOCK or len(held) >= _MAX_BATCH_ROWS:
            yield pa.concat_batches(held)
            held, size = [], 0
    if held:
        yield pa.concat_batches(held)


def _ipc(raw: pa.NativeFile, columns: Sequence[str] | None) -> _IpcReader:
    magic = raw.read(len(MAGIC))
    raw.seek(0)
    opener = pa.ipc.open_file if magic == MAGIC else pa.ipc.open_stream
    reader = opener(raw)
    if columns is None or magic != MAGIC:
        return reader
    wanted = [reader.schema.names.index(name) for name in columns]
    return opener(raw, options=pa.ipc.IpcReadOptions(included_fields=wanted, use_threads=False))


def _record_batches(reader: _IpcReader) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.RecordBatchFileReader):
        return (reader.get_batch(i) for i in range(reader.num_record_batches))
    return iter(reader)


def _rows_per_block(group: RowGroupMetaData) -> int:
    """So many rows that a piece is about one block, if all rows were alike."""
    per_row = max(1, group.total_byte_size // max(1, group.num_rows))
    return int(min(_MAX_BATCH_ROWS, max(1, BLOCK // per_row)))


def _check_size(file: File, group: RowGroupMetaData, options: ReadOptions) -> None:
    # Compared with the whole file: to ask for its columns, of a damaged file, ends the process inside pyarrow.
    limit = growth_limit(file.size, options)
    if group.total_byte_size > limit:
        raise DataError(
            f"{file.name}: a row group unpacks to {group.total_byte_size:,} bytes, more than {limit:,}; if that is "
            "right, say with max_bytes= how large it may become."
        )


PIECE = 32 << 20
"""Rows are decoded in pieces of about this many bytes, even if they take fewer bytes in the file."""

_COUNTED_ROWS, _COUNTED_CELLS = 1 << 20, 1 << 24
"""Rows that are counted at once, and cells that may take less than a bit each."""


class Growth:
    """The bytes that the rows of a file took so far, against its size: the rule for compressed files."""

    def __init__(self, file: File, options: ReadOptions) -> None:
        self._file, self._options, self._size, self._total = file, options, file.size, 0

    def add(self, size: int) -> None:
        """Count these bytes, or refuse the file."""
        self._total += size
        refuse_growth(self._file, self._size, self._total, self._options)


def pieces(table: pa.RecordBatch, growth: Growth) -> Iterator[pa.RecordBatch]:
    """The rows, all at once or in parts that stay small when they are decoded; each is counted before."""
    for start in range(0, max(1, len(table)), _COUNTED_ROWS):  # of some columns, a billion rows take no bytes
        yield from _parts(table.slice(start, _COUNTED_ROWS), growth)


def _parts(table: pa.RecordBatch, growth: Growth) -> Iterator[pa.RecordBatch]:
    sizes = sum((row_bytes(column) for column in table.columns), np.ones(len(table), np.int64))
    if sizes.sum() <= max(PIECE, table.nbytes):
        growth.add(int(sizes.sum()))
        yield table
        return
    for start, stop in stretches(sizes, PIECE):
        growth.add(int(sizes[start:stop].sum()))
        yield table.slice(start, stop - start)


def row_bytes(column: pa.Array) -> Longs:
    """The bytes of each cell once it stands alone: not as a number in a dictionary, nor as a view of shared bytes.

    >>> row_bytes(pa.array(["good", "bad", "good", None]).dictionary_encode()).tolist()
    [4, 3, 4, 0]
    """
    kind = column.type
    if isinstance(column, pa.ExtensionArray):
        return row_bytes(column.storage)
    if len(column) > max(_COUNTED_CELLS, 64 * column.nbytes):
        raise pa.ArrowInvalid(f"{len(column):,} cells in {column.nbytes:,} bytes")
    if pa.types.is_dictionary(kind):
        import pyarrow.compute as pc

        values = np.append(row_bytes(column.dictionary), 0)  # the last stands for null
        rows = pc.fill_null(column.indices.cast(pa.int64()), len(column.dictionary))
        return np.asarray(values[rows.to_numpy(zero_copy_only=False)], np.int64)
    if is_list(kind):
        return np.diff(offsets_of(row_bytes(column.flatten()))[list_offsets(column)])
    if pa.types.is_struct(kind):
        return np.asarray(sum(map(row_bytes, column.flatten()), np.zeros(len(column), np.int64)), np.int64)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return _view_bytes(column)
    if any(test(kind) for test in _TEXTS):
        return text_bytes(column)
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


def _view_bytes(column: pa.Array) -> Longs:
    """A view has 16 bytes, and the length stands in the first four; that of a null means nothing."""
    views = np.frombuffer(column.buffers()[1], np.int32).reshape(-1, 4)
    lengths = views[column.offset : column.offset + len(column), 0].astype(np.int64)
    return np.where(column.is_null().to_numpy(zero_copy_only=False), 0, lengths)


MAGIC = b"ARROW1"
_CONTINUES = b"\xff\xff\xff\xff"
_LONGEST = 256 << 20  # bytes of the table of one message


def unpacked_sizes(raw: pa.NativeFile) -> Iterator[int]:
    """The bytes that each compressed message claims; the place in the file is then anywhere."""
    try:
        yield from (_message_size(raw, place) for place in _places(raw))
    except (struct.error, IndexError) as error:
        raise pa.ArrowInvalid("a message of the file points outside it") from error


def _places(raw: pa.NativeFile) -> Iterator[int]:
    """Where messages begin."""
    size = raw.size()
    if _read(raw, 0, len(MAGIC)) == MAGIC:
        (length,) = struct.unpack("<i", _read(raw, size - 10, 4))
        footer = _Table.root(_read(raw, size - 10 - length, length))
        for blocks in (2, 3):  # of dictionaries, and of rows
            yield from (place for place, _, _ in footer.structs(blocks, "<qi4xq"))
        return
    place = 0
    while place + 8 <= size:
        start, table = _table(raw, place)
        if table is None:
            return
        yield place
        place = start + max(0, table.number(3, "<q"))


def _message_size(raw: pa.NativeFile, place: int) -> int:
    start, message = _table(raw, place)
    header = message.table(2) if message else None
    if message is None or header is None:
        return 0
    rows = header.table(1) if message.number(1, "<B") == 2 else header  # a dictionary has its rows inside
    if rows is None or message.number(1, "<B") not in (2, 3) or rows.table(3) is None:
        return 0
    sizes = (struct.unpack("<q", _read(raw, start + at, 8))[0] for at, n in rows.structs(2, "<qq") if n >= 8)
    return sum(max(0, size) for size in sizes)  # -1 says that a buffer is not compressed


def _table(raw: pa.NativeFile, place: int) -> tuple[int, _Table | None]:
    """The table of the message at this place, and where its body begins; none at the end of a stream."""
    head = _read(raw, place, 4)
    if head == _CONTINUES:  # older files lack this mark
        place += 4
        head = _read(raw, place, 4)
    (length,) = struct.unpack("<i", head)
    if length == 0:
        return place + 4, None
    if not 0 < length <= _LONGEST:
        raise IndexError(length)
    return place + 4 + length, _Table.root(_read(raw, place + 4, length))


def _read(raw: pa.NativeFile, place: int, size: int) -> bytes:
    if place < 0 or size < 0 or place + size > raw.size():
        raise IndexError(place)
    raw.seek(place)
    return bytes(raw.read(size))


class _Table:
    """A FlatBuffers table: fields by number, each found by a list of distances; one that is absent is 0 or None."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - self._get("<i", at)

    @classmethod
    def root(cls, data: bytes) -> _Table:
        """The outermost table of these bytes."""
        return cls(data, struct.unpack_from("<I", data)[0])

    def number(self, field: int, form: str) -> int:
        """A field that is a number."""
        at = self._find(field)
        return self._get(form, at) if at else 0

    def table(self, field: int) -> _Table | None:
        """A field that is a table."""
        at = self._find(field)
        return _Table(self._data, at + self._get("<I", at)) if at else None

    def structs(self, field: int, form: str) -> Iterator[tuple[int, ...]]:
        """A field that is a vector of records."""
        at = self._find(field)
        if not at:
            return iter(())
        at += self._get("<I", at)
        end = at + 4 + self._get("<I", at) * struct.calcsize(form)
        if end > len(self._data):
            raise IndexError(end)
        return struct.iter_unpack(form, self._data[at + 4 : end])

    def _find(self, field: int) -> int:
        place = 4 + 2 * field
        if place + 2 > self._get("<H", self._fields):
            return 0
        distance = self._get("<H", self._fields + place)
        return self._at + distance if distance else 0

    def _get(self, form: str, at: int) -> int:
        if at < 0:
            raise IndexError(at)
        return int(struct.unpack_from(form, self._data, at)[0])
