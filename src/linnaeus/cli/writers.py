"""Where answers go: JSON lines on a stream, or a file of a format, which appears whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import pyarrow as pa

from linnaeus.cli.cells import SEPARATOR, flattened
from linnaeus.errors import UsageError
from linnaeus.store.atomic import replacing

Write = Callable[[pa.RecordBatch], None]


def refuse_existing(path: str | None, force: bool) -> None:
    """Refuse, before any work, to write over a file."""
    if path is None:
        return
    _format(path)
    if Path(path).exists() and not force:
        raise UsageError(f"{path} is there already; give another name with -o, or --force to replace it.")


@contextmanager
def open_writer(path: str | None, stream: TextIO, separator: str = SEPARATOR, ranks: int = 0) -> Iterator[Write]:
    """A function that takes batches of answers; a file is in its place only when all of them are written.

    Where a format has no lists, `separator` stands between several labels in one cell, and so many ranks have columns
    of their own.
    """
    if path is None:
        yield lambda batch: _say(stream, json_lines(batch))
        return
    with replacing(path) as passing, passing.open("wb") as file, WRITERS[_format(path)](file) as write:
        yield (lambda batch: write(flattened(batch, separator, ranks))) if has_cells(path) else write


def has_cells(path: str | None) -> bool:
    """Whether the format of this file has cells only, and no lists."""
    return path is not None and _format(path) in CELLS


def _format(path: str) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        raise UsageError(f"Answers are written as {', '.join(WRITERS)}; {path!r} ends in none of them.")
    return suffix


def _say(stream: TextIO, text: str) -> None:
    stream.write(text)


def json_lines(batch: pa.RecordBatch) -> str:
    """One JSON object a line; a missing label is null, dates and the like are text."""
    return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in batch.to_pylist())


@contextmanager
def _jsonl(file: BinaryIO) -> Iterator[Write]:
    yield lambda batch: _raw(file, json_lines(batch).encode("utf-8", "surrogatepass"))


def _raw(file: BinaryIO, data: bytes) -> None:
    file.write(data)


def _delimited(delimiter: str) -> Any:
    @contextmanager
    def opened(file: BinaryIO) -> Iterator[Write]:
        import pyarrow.csv as pc

        options = pc.WriteOptions(delimiter=delimiter, quoting_style="needed")
        with _made_at_first(lambda schema: pc.CSVWriter(file, schema, write_options=options)) as write:
            yield write

    return opened


@contextmanager
def _parquet(file: BinaryIO) -> Iterator[Write]:
    import pyarrow.parquet as pq

    with _made_at_first(lambda schema: pq.ParquetWriter(file, schema, compression="zstd")) as write:
        yield write


@contextmanager
def _made_at_first(make: Callable[[pa.Schema], Any]) -> Iterator[Write]:
    """A writer of pyarrow that is made when the first batch tells the columns."""
    writer: Any = None

    def write(batch: pa.RecordBatch) -> None:
        nonlocal writer
        writer = writer or make(batch.schema)
        writer.write_batch(batch)

    try:
        yield write
    except BaseException:
        # The file goes anyway; a writer left open would complain when it is collected.
        with suppress(Exception):
            writer.close()
        if hasattr(writer, "is_open"):
            writer.is_open = False
        raise
    if writer is not None:
        writer.close()


WRITERS: dict[str, Any] = {".jsonl": _jsonl, ".csv": _delimited(","), ".tsv": _delimited("\t"), ".parquet": _parquet}
"""How answers are written, by the end of the file's name."""

CELLS = frozenset({".csv", ".tsv"})
"""Formats that have no lists."""
