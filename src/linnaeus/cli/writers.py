"""Writers of predictions: JSON lines to a stream, or a file, which is written completely or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import pyarrow as pa

from linnaeus.cli.cells import flattened
from linnaeus.errors import UsageError
from linnaeus.store.atomic import replacing

if TYPE_CHECKING:
    from linnaeus.model.model import Model

Write = Callable[[pa.RecordBatch], None]


def refuse_existing(path: str | None, force: bool) -> None:
    """Refuse, before any work, to write over a file."""
    if path is None:
        return
    _format(path)
    if Path(path).exists() and not force:
        raise UsageError(f"{path} already exists; give another name with -o, or overwrite it with --force.")


def refuse_lists(model: Model, options: dict[str, Any], words: bool) -> None:
    """Refuse, before any work, a form of output that does not fit the answers of a model; `words`: it is to tag."""
    tags = model.form == "tags"
    if (options["lines"] or options["entities"] or words) and not tags:
        raise UsageError("This model is not a tagger, so it has no tokens to show; use plain `linnaeus predict`.")
    if options["entities"] and not model.task.spans:
        raise UsageError("The tags of this model mark no entities; the recipe entities trains one whose tags do.")
    if (options["lines"] or options["entities"]) and options["output"] is not None:
        raise UsageError("Lines of tokens and entities go to standard output; leave out -o, or these options.")
    if tags and has_cells(options["output"]):
        raise UsageError("Tags are lists, which CSV cannot hold; write .jsonl or .parquet, or use `linnaeus tag`.")


@contextmanager
def open_writer(stream: TextIO, separator: str, options: dict[str, Any]) -> Iterator[Write]:
    """A function that takes batches of predictions; the file appears only when all of them are written.

    If the format has no lists, `separator` joins several labels in one cell, and each of the best answers has columns
    of its own.
    """
    path, ranks = options["output"], options["top"]
    if path is None:
        form = entity_lines if options["entities"] else tag_lines if options["lines"] else json_lines
        yield lambda batch: _say(stream, form(batch))
        return
    with replacing(path) as passing, passing.open("wb") as file, WRITERS[_format(path)](file) as write:
        yield (lambda batch: write(flattened(batch, separator, ranks))) if has_cells(path) else write


def has_cells(path: str | None) -> bool:
    """Whether the format of this file has cells only, and no lists."""
    return path is not None and _format(path) in CELLS


def _format(path: str) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        raise UsageError(f"Predictions are written as {', '.join(WRITERS)}; {path!r} has none of these suffixes.")
    return suffix


def _say(stream: TextIO, text: str) -> None:
    stream.write(text)


def json_lines(batch: pa.RecordBatch) -> str:
    """One JSON object a line; a missing label is null, dates and the like are text."""
    return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in batch.to_pylist())


def tag_lines(batch: pa.RecordBatch) -> str:
    """A line for each token, with a tab and its tag (nothing where the model abstains); empty lines end sentences."""
    rows = zip(batch["tokens"].to_pylist(), batch["tags"].to_pylist(), strict=True)
    return "".join(
        "".join(f"{token}\t{tag or ''}\n" for token, tag in zip(tokens, tags, strict=True)) + "\n"
        for tokens, tags in rows
    )


def entity_lines(batch: pa.RecordBatch) -> str:
    """A line for each entity: its type, a tab and its text."""
    if "entities" not in batch.schema.names:
        return ""
    found = (entity for row in batch["entities"].to_pylist() for entity in row)
    return "".join(f"{entity['type']}\t{entity['text']}\n" for entity in found)


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
    """A pyarrow writer that is created when the first batch shows the columns."""
    writer: Any = None

    def write(batch: pa.RecordBatch) -> None:
        nonlocal writer
        writer = writer or make(batch.schema)
        writer.write_batch(batch)

    try:
        yield write
    except BaseException:
        # The file is removed anyway; an open writer would print an error when it is collected.
        with suppress(Exception):
            writer.close()
        if hasattr(writer, "is_open"):
            writer.is_open = False
        raise
    if writer is not None:
        writer.close()


WRITERS: dict[str, Any] = {".jsonl": _jsonl, ".csv": _delimited(","), ".tsv": _delimited("\t"), ".parquet": _parquet}
"""The writers by suffix of the file name."""

CELLS = frozenset({".csv", ".tsv"})
"""Formats that have no lists."""
