"""Where answers go: JSON lines on a stream, or a file of a format, which appears whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import pyarrow as pa

from linnaeus.errors import UsageError
from linnaeus.store.atomic import replacing

Write = Callable[[pa.RecordBatch], None]

SEPARATOR = ";"
"""Stands between several labels in one cell, unless another is asked for."""


def refuse_existing(path: str | None, force: bool) -> None:
    """Refuse, before any work, to write over a file."""
    if path is None:
        return
    _format(path)
    if Path(path).exists() and not force:
        raise UsageError(f"{path} is there already; give another name with -o, or --force to replace it.")


@contextmanager
def open_writer(path: str | None, stream: TextIO, separator: str = SEPARATOR) -> Iterator[Write]:
    """A function that takes batches of answers; a file is in its place only when all of them are written.

    `separator` stands between several labels in one cell, where a format has no lists.
    """
    if path is None:
        yield lambda batch: _say(stream, json_lines(batch))
        return
    with replacing(path) as passing, passing.open("wb") as file, WRITERS[_format(path)](file) as write:
        yield (lambda batch: write(flattened(batch, separator))) if has_cells(path) else write


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
    """One JSON object a line; a missing label is null."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())


@contextmanager
def _jsonl(file: BinaryIO) -> Iterator[Write]:
    yield lambda batch: _raw(file, json_lines(batch).encode("utf-8", "surrogatepass"))


def _raw(file: BinaryIO, data: bytes) -> None:
    file.write(data)


def _delimited(delimiter: str) -> Any:
    @contextmanager
    def opened(file: BinaryIO) -> Iterator[Write]:
        import pyarrow.csv as pc

        writer: Any = None

        def write(batch: pa.RecordBatch) -> None:
            nonlocal writer
            if writer is None:
                options = pc.WriteOptions(delimiter=delimiter, quoting_style="needed")
                writer = pc.CSVWriter(file, batch.schema, write_options=options)
            writer.write_batch(batch)

        yield write
        if writer is not None:
            writer.close()

    return opened


@contextmanager
def _parquet(file: BinaryIO) -> Iterator[Write]:
    import pyarrow.parquet as pq

    writer: Any = None

    def write(batch: pa.RecordBatch) -> None:
        nonlocal writer
        writer = writer or pq.ParquetWriter(file, batch.schema, compression="zstd")
        writer.write_batch(batch)

    yield write
    if writer is not None:
        writer.close()


WRITERS: dict[str, Any] = {".jsonl": _jsonl, ".csv": _delimited(","), ".tsv": _delimited("\t"), ".parquet": _parquet}
"""How answers are written, by the end of the file's name."""

CELLS = frozenset({".csv", ".tsv"})
"""Formats that have no lists."""


def refuse_separator(separator: str, labels: Iterable[str]) -> None:
    """Refuse labels that could not be told apart in a cell; the reader splits at the separator, and trims."""
    for label in labels:
        if separator in label or not label or label != label.strip():
            why = f"holds {separator!r}" if separator in label else "begins or ends with white space"
            raise UsageError(
                f"The label {label!r} {why}, so that several labels in one cell could not be told apart; give another "
                "--label-separator, or write .jsonl or .parquet."
            )


def flattened(batch: pa.RecordBatch, separator: str = SEPARATOR) -> pa.RecordBatch:
    """Cells instead of lists: labels joined by a separator, ranks as `label_1`, `probability_1` ...; no formulas."""
    columns: dict[str, pa.Array] = {}
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_list(array.type) and pa.types.is_struct(array.type.value_type):
            columns |= _ranks(array)
        elif pa.types.is_list(array.type):
            columns[name] = _joined(array, separator)
        else:
            columns[name] = _tame(array) if pa.types.is_string(array.type) else array
    return pa.RecordBatch.from_pydict(columns)


def _joined(array: pa.Array, separator: str) -> pa.Array:
    """Lists in cells. No label is a separator alone: an empty cell would be read as a label that is missing."""
    none = "" if pa.types.is_floating(array.type.value_type) else separator
    cells = [separator.join(map(_cell, row)) if row else none for row in array.to_pylist()]
    return pa.array(cells, pa.string())


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _ranks(array: pa.Array) -> dict[str, pa.Array]:
    rows = array.to_pylist()
    count = len(rows[0]) if rows else 0
    found: dict[str, pa.Array] = {}
    for i in range(count):
        found[f"label_{i + 1}"] = _tame(pa.array([row[i]["label"] for row in rows], pa.string()))
        found[f"probability_{i + 1}"] = pa.array([row[i]["probability"] for row in rows], pa.float64())
    return found


def _tame(array: pa.Array) -> pa.Array:
    """Text that a spreadsheet would run gets a quote before it; numbers stay numbers."""
    import pyarrow.compute as pc

    risky = pc.match_substring_regex(array, r"^[=+\-@\t\r]")
    if not pc.any(risky).as_py():
        return array
    number = pc.match_substring_regex(array, r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
    return pc.if_else(pc.and_(risky, pc.invert(number)), pc.binary_join_element_wise("'", array, ""), array)
