"""Parquet, Feather and Arrow IPC: columns that already have types, streamed by row group or record batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from linnaeus.data.formats.base import Chunk
from linnaeus.data.streams import BLOCK, File, open_raw
from linnaeus.errors import DataError, said

if TYPE_CHECKING:
    from linnaeus.data.ledger import Ledger
    from linnaeus.data.options import ReadOptions

_MOST_ROWS = 1 << 16
_RATIO, _FLOOR = 100, 1 << 30  # a row group that claims more is not unpacked
_MAGIC = b"ARROW1"


@dataclass(frozen=True, slots=True)
class Parquet:
    """Parquet files: only the wanted columns are read, some rows at a time."""

    options: ReadOptions
    loose: ClassVar[bool] = False

    def schema(self, file: File) -> pa.Schema:
        """The columns with their Arrow types."""
        with _opened(file, "Parquet") as raw:
            return _with_names(_parquet(raw).schema_arrow)

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:  # noqa: ARG002
        """The rows of one row group after the other, in pieces of about one block."""
        with _opened(file, "Parquet") as raw:
            reader = _parquet(raw)
            size, first = file.size, 1
            for group in range(reader.num_row_groups):
                _check_size(file, reader.metadata.row_group(group), self.options)
                count = _rows_per_block(reader.metadata.row_group(group))
                for table in reader.iter_batches(count, row_groups=[group], columns=list(columns), use_threads=False):
                    table.validate(full=True)
                    yield Chunk(table, range(first, first + len(table)), size * (group + 1) // reader.num_row_groups)
                    first += len(table)


@dataclass(frozen=True, slots=True)
class ArrowFile:
    """Arrow IPC files (Feather version 2) and streams, a record batch at a time."""

    options: ReadOptions
    loose: ClassVar[bool] = False

    def schema(self, file: File) -> pa.Schema:
        """The columns with their Arrow types."""
        with _opened(file, "Arrow") as raw:
            return _with_names(_ipc(raw, None).schema)

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:  # noqa: ARG002
        """The record batches; offsets and bytes are checked, because a damaged file must not reach the kernels."""
        with _opened(file, "Arrow") as raw:
            first = 1
            for table in _record_batches(_ipc(raw, columns)):
                table.validate(full=True)
                yield Chunk(table.select(list(columns)), range(first, first + len(table)), raw.tell())
                first += len(table)


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
            raise
        raise DataError(
            f"{file.name}: is not {kind} or is damaged ({said(error)}); fetch or write it again."
        ) from error
    finally:
        raw.close()


def _with_names(schema: pa.Schema) -> pa.Schema:
    schema.names  # noqa: B018  (refuses bytes that are not UTF-8, which nobody else looks for)
    return schema


def _parquet(raw: pa.NativeFile) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(raw, pre_buffer=False)


def _ipc(raw: pa.NativeFile, columns: Sequence[str] | None) -> Any:
    magic = raw.read(len(_MAGIC))
    raw.seek(0)
    opener = pa.ipc.open_file if magic == _MAGIC else pa.ipc.open_stream
    reader: Any = opener(raw)
    if columns is None or magic != _MAGIC:
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
    limit = options.max_bytes or max(_FLOOR, _RATIO * file.size)
    if group.total_byte_size > limit:
        raise DataError(
            f"{file.name}: a row group unpacks to {group.total_byte_size:,} bytes, more than {limit:,}; if that is "
            "right, say with max_bytes= how large it may become."
        )
