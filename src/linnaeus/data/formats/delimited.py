"""CSV and TSV: pyarrow's streaming reader with every column declared bytes, so that no cell changes on the way.

Cells may hold line ends; the block grows when a row does not fit in one. What pyarrow refuses is looked for a second
time, slowly, so that the message can name the line (records.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from linnaeus.data.formats.base import Chunk
from linnaeus.data.formats.header import Header, read_header
from linnaeus.data.formats.records import fields, records
from linnaeus.data.formats.utf8 import readable
from linnaeus.data.streams import BLOCK, LONGEST, ByteStream
from linnaeus.errors import DataError

if TYPE_CHECKING:
    from linnaeus.data.ledger import Ledger
    from linnaeus.data.options import ReadOptions
    from linnaeus.data.streams import File

_TAIL = 1 << 16  # bytes at the end of the file that are remembered


@dataclass(frozen=True, slots=True)
class Delimited:
    """Cells between delimiters, with a header; where options do not say it, one of `candidates` is the delimiter."""

    options: ReadOptions
    loose: ClassVar[bool] = False
    candidates: str = ",\t;|"

    def schema(self, file: File) -> pa.Schema:
        """The names in the header; every column is a string."""
        with ByteStream(file, self.options) as stream:
            header = read_header(stream, file, self)
        return pa.schema([(name, pa.string()) for name in header.names])

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """The rows, a block of the file at a time. A row longer than a block starts a pass with larger blocks."""
        numbers, block = _Numbers(), BLOCK
        while True:
            with ByteStream(file, self.options) as stream:
                header = read_header(stream, file, self)
                walk = _Walk(self, file, _Remembering(stream), header, numbers)
                try:
                    yield from walk.chunks(columns, ledger, block)
                    return
                except pa.ArrowInvalid as error:
                    if "straddl" not in str(error) or block >= LONGEST:
                        raise _diagnosis(self, file, header, error) from error
            block *= 4


@dataclass(slots=True)
class _Numbers:
    """Which rows of the file were handed on or refused: their numbers count both, and a second pass repeats none."""

    good: int = 0
    following: int = 1
    refused: int = 0
    waiting: list[int] = field(default_factory=list)

    def refuse(self, number: int) -> bool:
        """Note a refused row; False where an earlier pass has done so."""
        fresh = number > self.refused
        if fresh:
            self.refused = number
            self.waiting.append(number)
        return fresh

    def of_next(self, count: int) -> Sequence[int]:
        """The numbers in the file of the next `count` good rows."""
        first = self.following
        numbers: Any = range(first, first + count)
        if self.waiting:
            places = np.arange(first, first + count + len(self.waiting))
            numbers = np.setdiff1d(places, self.waiting, assume_unique=True)[:count]
            self.waiting = [number for number in self.waiting if number > numbers[-1]]
        self.good, self.following = self.good + count, int(numbers[-1]) + 1
        return numbers  # type: ignore[no-any-return]


class _Remembering:
    """The file that pyarrow reads; the last bytes are kept for the check of the last quote."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream, self.tail, self.closed = stream, b"", False

    def read(self, size: int) -> bytes:
        data = self.stream.read(size)
        self.tail = (self.tail + data[-_TAIL:])[-_TAIL:]
        return data

    def close(self) -> None:
        self.closed = True


@dataclass(slots=True)
class _Walk:
    """One pass over the rows behind the header."""

    form: Delimited
    file: File
    source: _Remembering
    header: Header
    numbers: _Numbers
    doubtful: bool = False

    def chunks(self, columns: Sequence[str], ledger: Ledger, block: int) -> Iterator[Chunk]:
        """The rows that no earlier pass has handed on."""
        repeated, table = self.numbers.good, None
        for table in self._tables(columns, ledger, block):
            fresh = table.slice(repeated)
            repeated -= min(repeated, len(table))
            if len(fresh):
                rows = self.numbers.of_next(len(fresh))
                chunk = Chunk(fresh.select(list(columns)), rows, self.source.stream.done)
                yield readable(chunk, self.file, self.form.options, ledger)
        if self.doubtful or (table is not None and len(table) and self._ends_in_quote(table)):
            _check_quotes(self.form, self.file, self.header)

    def _tables(self, columns: Sequence[str], ledger: Ledger, block: int) -> Iterator[pa.RecordBatch]:
        from pyarrow import csv

        wanted = list(dict.fromkeys([*columns, self.header.names[-1]]))
        read = csv.ReadOptions(use_threads=False, block_size=block, column_names=self.header.names)
        parse = csv.ParseOptions(
            delimiter=self.header.delimiter,
            newlines_in_values=True,
            invalid_row_handler=lambda row: self._refused(row, ledger),
        )
        kinds = dict.fromkeys(self.header.names, pa.binary())
        convert = csv.ConvertOptions(column_types=kinds, include_columns=wanted, strings_can_be_null=False)
        try:
            yield from csv.open_csv(pa.PythonFile(self.source, "r"), read, parse, convert)
        except pa.ArrowInvalid as error:
            if "Empty CSV" not in str(error):  # a header alone is a file of no rows
                raise

    def _refused(self, row: Any, ledger: Ledger) -> str:
        """For pyarrow: what to do with a row that has too many or too few fields."""
        if not ledger.skips:
            return "error"
        if self.numbers.refuse(row.number):
            self.doubtful = self.doubtful or "\n" in row.text
            ledger.reject(f"{self.file.name}, row {row.number}", _count(row.actual_columns, row.expected_columns), "")
        return "skip"

    def _ends_in_quote(self, table: pa.RecordBatch) -> bool:
        """Whether the last cell may lack its closing quote: then the file ends as that cell does, behind a quote."""
        cell: bytes = table.column(self.header.names[-1])[-1].as_py()
        written = b'"' + cell.replace(b'"', b'""')
        return self.source.tail.endswith(written[-_TAIL:])


def _check_quotes(form: Delimited, file: File, header: Header) -> None:
    """Refuse a file in which a quote never closes: nobody can say which rows it has, so skipping is no help."""
    with ByteStream(file, form.options) as stream:
        for record in records(stream, header.delimiter):
            if record.unclosed:
                raise DataError(f"{file.name}, line {record.line}: {_UNCLOSED}")


_UNCLOSED = "a quote opens here and never closes; close it, or double the quotes that belong to the text."


def _diagnosis(form: Delimited, file: File, header: Header, error: Exception) -> DataError:
    """What is wrong with a file that pyarrow refused, and on which line."""
    width = len(header.names)
    with ByteStream(file, form.options) as stream:
        for record in records(stream, header.delimiter):
            if record.unclosed:
                return DataError(f"{file.name}, line {record.line}: {_UNCLOSED}")
            if len(record.data) > LONGEST:
                return DataError(
                    f"{file.name}, line {record.line}: a row of more than {LONGEST >> 20} MB begins here; cut it, or "
                    "close its quote."
                )
            found = len(fields(record.data, header.delimiter))
            if found != width:
                return DataError(
                    f"{file.name}, line {record.line}: {_count(found, width)}; put cells that hold the delimiter or "
                    "a line end in quotes, or leave such rows out with bad_rows='skip'."
                )
    return DataError(f"{file.name}: cannot be read as CSV ({error}); check delimiter= and encoding=.")


def _count(found: int, width: int) -> str:
    return f"{found} field{'s' * (found != 1)} where the header has {width}"
