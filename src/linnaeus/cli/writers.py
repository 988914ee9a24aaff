"""Writers of predictions: JSON lines to a stream, or a file, which is written completely or not at all.

In cells of CSV and TSV, lists become single cells, and formulas of spreadsheets are escaped: spreadsheets run a cell
that begins with = + - @ or a control character. OWASP's remedy is a quote before it:
https://owasp.org/www-community/attacks/CSV_Injection
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, TypeAlias

import pyarrow as pa

from linnaeus.data.arrow import first_bytes, is_list, settled, text_column
from linnaeus.errors import DataError, UsageError
from linnaeus.store.atomic import replacing
from linnaeus.tasks.base import NO_TOKENS

if TYPE_CHECKING:
    from linnaeus.cli.options import Options
    from linnaeus.model.model import Model

Write = Callable[[pa.RecordBatch], None]
Writer: TypeAlias = Any
"""A writer of pyarrow, or `Lines`."""

SEPARATOR = ";"
"""The default separator of several labels in one cell."""

_STARTS = b"=+-@\t\r\n"
_FORMULA = r"^[=+\-@\t\r\n]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def refuse_suffix(path: str | None) -> None:
    """Refuse, before any work, a file name that says no format."""
    if path is not None:
        _format(path)


def refuse_lists(model: Model, options: Options, words: bool) -> None:
    """Refuse, before any work, a form of output that does not fit the answers of a model; `words`: it is to tag."""
    if (options["lines"] or options["entities"] or words) and not model.task.tokens:
        raise UsageError(NO_TOKENS)
    if options["entities"] and not model.task.spans:
        raise UsageError("The tags of this model mark no entities; the recipe entities trains one whose tags do.")
    if (options["lines"] or options["entities"]) and options["output"] is not None:
        raise UsageError("Lines of tokens and entities go to standard output; leave out -o, or these options.")
    suffix = "" if options["output"] is None else _format(options["output"])
    if suffix in TOKEN_LINES and suffix != model.task.suffix:
        raise UsageError(f"Answers of this model cannot be written as {suffix}; write .jsonl or .parquet.")
    if model.task.tokens and has_cells(options["output"]):
        what = model.task.doubtful.capitalize()
        raise UsageError(f"{what} are lists, which CSV cannot hold; write .jsonl or .parquet, or use --lines.")


@contextmanager
def open_writer(stream: TextIO, model: Model, separator: str, options: Options) -> Iterator[Write]:
    """A function that takes batches of predictions; the file appears only when all of them are written.

    If the format has no lists, `separator` joins several labels in one cell, and each of the best answers has columns
    of its own.
    """
    path, ranks = options["output"], options["top"]
    if path is None:
        form = entity_lines if options["entities"] else model.task.lines if options["lines"] else json_lines

        def say(batch: pa.RecordBatch) -> None:
            stream.write(form(batch))

        yield say
        return
    make = WRITERS.get(_format(path), partial(Lines, model.task.lines))
    with replacing(path) as passing, passing.open("wb") as file, _opened(make, file) as write:
        yield (lambda batch: write(flattened(batch, separator, ranks))) if has_cells(path) else write


def has_cells(path: str | None) -> bool:
    """Whether the format of this file has cells only, and no lists."""
    return path is not None and _format(path) in CELLS


def _format(path: str) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS and suffix not in TOKEN_LINES:
        known = ", ".join([*WRITERS, *sorted(TOKEN_LINES)])
        raise UsageError(f"Predictions are written as {known}; {path!r} has none of these suffixes.")
    return suffix


def json_lines(batch: pa.RecordBatch) -> str:
    """One JSON object a line; a missing label is null, dates and the like are text."""
    return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in batch.to_pylist())


def entity_lines(batch: pa.RecordBatch) -> str:
    """A line for each entity: its type, a tab and its text."""
    if "entities" not in batch.schema.names:
        return ""
    found = (entity for row in batch["entities"].to_pylist() for entity in row)
    return "".join(f"{entity['type']}\t{entity['text']}\n" for entity in found)


class Lines:
    """A writer of lines in some form."""

    def __init__(self, form: Callable[[pa.RecordBatch], str], file: BinaryIO, _: pa.Schema) -> None:
        self.form, self.file = form, file

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """The lines of a batch."""
        self.file.write(self.form(batch).encode("utf-8", "surrogatepass"))

    def close(self) -> None:
        """There is nothing left to write."""


def _csv(file: BinaryIO, schema: pa.Schema, delimiter: str = ",") -> Writer:
    import pyarrow.csv as pc

    options = pc.WriteOptions(delimiter=delimiter, quoting_style="needed")
    return pc.CSVWriter(file, schema, write_options=options)


def _parquet(file: BinaryIO, schema: pa.Schema) -> Writer:
    import pyarrow.parquet as pq

    return pq.ParquetWriter(file, schema, compression="zstd")


@contextmanager
def _opened(make: Callable[[BinaryIO, pa.Schema], Writer], file: BinaryIO) -> Iterator[Write]:
    """A writer that is created when the first batch shows the columns."""
    writer: Writer = None

    def write(batch: pa.RecordBatch) -> None:
        nonlocal writer
        writer = writer or make(file, batch.schema)
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


WRITERS: dict[str, Callable[[BinaryIO, pa.Schema], Writer]] = {
    ".jsonl": partial(Lines, json_lines),
    ".csv": _csv,
    ".tsv": partial(_csv, delimiter="\t"),
    ".parquet": _parquet,
}
"""The writers by suffix of the file name."""

TOKEN_LINES = frozenset({".conll", ".conllu"})
"""Formats with a line for each token, which tasks over tokens write themselves."""

CELLS = frozenset({".csv", ".tsv"})
"""Formats that have no lists."""


def flattened(batch: pa.RecordBatch, separator: str = SEPARATOR, ranks: int = 0) -> pa.RecordBatch:
    """Cells instead of lists, escaped: labels joined by a separator, ranks as `label_1`, `probability_1` ...

    There are as many ranks as in the longest list, or `ranks` where that is more.

    >>> flattened(pa.record_batch({"label": ["=1+1", "-1"]})).to_pydict()
    {'label': ["'=1+1", '-1']}
    """
    columns: list[tuple[str, pa.Array]] = []
    for name, array in zip(batch.schema.names, map(settled, batch.columns), strict=True):
        if is_list(array.type) and pa.types.is_struct(array.type.value_type):
            columns += _ranks(array, ranks)
        else:
            columns.append((name, _joined(array, separator) if is_list(array.type) else array))
    names = escaped(text_column([name for name, _ in columns])).to_pylist()
    return pa.RecordBatch.from_arrays([escaped(array) for _, array in columns], names)


def escaped(array: pa.Array) -> pa.Array:
    """Text that a spreadsheet would run, with a quote before it; numbers stay numbers.

    >>> escaped(pa.array(["+1.5", "+x", None, "a=b"])).to_pylist()
    ['+1.5', "'+x", None, 'a=b']
    """
    if pa.types.is_nested(array.type):
        raise DataError(f"A column has the type {array.type}, which CSV cannot hold; write .jsonl or .parquet.")
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return array
    if not any(byte in _STARTS for byte in first_bytes(array)):
        return array
    import pyarrow.compute as pc

    risky = pc.match_substring_regex(array, _FORMULA)
    formula = pc.and_(risky, pc.invert(pc.match_substring_regex(array, _NUMBER)))
    quote, nothing = pa.scalar("'", array.type), pa.scalar("", array.type)
    return pc.if_else(formula, pc.binary_join_element_wise(quote, array, nothing), array)


def refuse_separator(separator: str, labels: Iterable[str]) -> None:
    """Refuse labels that would be ambiguous in a cell; the reader splits at the separator, and trims."""
    for label in labels:
        if separator in label or not label or label != label.strip():
            why = f"holds {separator!r}" if separator in label else "begins or ends with white space"
            raise UsageError(
                f"The label {label!r} {why}, so several labels in one cell would be ambiguous; give another "
                "--label-separator, or write .jsonl or .parquet."
            )


def _joined(array: pa.Array, separator: str) -> pa.Array:
    """Lists in cells. No label is a separator alone: an empty cell would be read as a label that is missing."""
    none = "" if pa.types.is_floating(array.type.value_type) else separator
    cells = [separator.join(map(_cell, row)) if row else none for row in array.to_pylist()]
    return pa.array(cells, pa.string())


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _ranks(array: pa.Array, least: int) -> list[tuple[str, pa.Array]]:
    """A column for each entry of each rank; null where a list is shorter."""
    rows = [row or [] for row in array.to_pylist()]
    count = max(least, *map(len, rows)) if rows else least
    return [
        (f"{entry.name}_{i + 1}", pa.array([row[i][entry.name] if i < len(row) else None for row in rows], entry.type))
        for i in range(count)
        for entry in array.type.value_type
    ]
