"""CSV and TSV: pyarrow's streaming reader with every column declared bytes, so that no cell changes on the way.

Cells may hold line ends; the block grows when a row does not fit in one. What pyarrow refuses is looked for a second
time, slowly, so that the message can name the line (records.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from linnaeus.data.formats.base import Chunk
from linnaeus.data.formats.header import Header, read_header
from linnaeus.data.formats.records import count_fields, records
from linnaeus.data.formats.sift import TAIL, UNCLOSED, Checked, NotTextError, Remembering, Sifted
from linnaeus.data.formats.utf8 import readable
from linnaeus.data.roles import REPEATED
from linnaeus.data.streams import BLOCK, LONGEST, ByteStream
from linnaeus.errors import DataError, said
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.ledger import Ledger
    from linnaeus.data.options import ReadOptions
    from linnaeus.data.streams import File


@dataclass(frozen=True, slots=True)
class Delimited:
    """Cells between delimiters, with a header; where options do not say it, one of `candidates` is the delimiter."""

    options: ReadOptions
    loose: ClassVar[bool] = False
    candidates: str = ",\t;|"

    @property
    def headed(self) -> bool:
        """Whether the rows stand below a header."""
        return self.options.names is None

    def schema(self, file: File) -> pa.Schema:
        """The names in the header; every column is a string."""
        with ByteStream(file, self.options) as stream:
            header = read_header(stream, file, self)
        return pa.schema(
            [pa.field(n, pa.string(), metadata=REPEATED if n in header.repeated else None) for n in header.names]
        )

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """The rows, a block of the file at a time.

        A row longer than a block starts a pass with larger blocks; where bad rows are skipped, bytes that are not
        UTF-8 start one that tells the rows apart by a careful scan.
        """
        numbers, block, careful = _Numbers(), BLOCK, False
        while True:
            with ByteStream(file, self.options) as stream:
                walk = _Walk(self, file, stream, read_header(stream, file, self), numbers, ledger)
                try:
                    yield from walk.chunks(columns, block, walk.sifted() if careful else walk.plain())
                    return
                except NotTextError:
                    careful = True
                except pa.ArrowInvalid as error:
                    if "straddl" not in str(error) or block >= LONGEST:
                        raise _diagnosis(self, file, walk.header, error) from error
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


@dataclass(slots=True)
class _Walk:
    """One pass over the rows behind the header."""

    form: Delimited
    file: File
    stream: ByteStream
    header: Header
    numbers: _Numbers
    ledger: Ledger
    doubtful: bool = False

    def plain(self) -> Remembering | Sifted:
        """All bytes behind the header."""
        return Checked(self.stream) if self.ledger.skips else Remembering(self.stream)

    def sifted(self) -> Remembering | Sifted:
        """Only the good rows."""
        return Sifted(self.stream, self.header, self._refuse)

    def chunks(self, columns: Sequence[str], block: int, source: Remembering | Sifted) -> Iterator[Chunk]:
        """The rows that no earlier pass has handed on."""
        repeated, table = self.numbers.good, None
        for table in self._tables(columns, block, source):
            fresh = table.slice(repeated)
            repeated -= min(repeated, len(table))
            if len(fresh):
                rows = self.numbers.of_next(len(fresh))
                chunk = Chunk(fresh.select(list(columns)), rows, self.stream.done)
                yield readable(chunk, self.file, self.form.options, self.ledger)
        if self.doubtful or (table is not None and len(table) and self._ends_in_quote(table, source.tail)):
            _check_quotes(self.form, self.file, self.header)

    def _tables(self, columns: Sequence[str], block: int, source: Remembering | Sifted) -> Iterator[pa.RecordBatch]:
        from pyarrow import csv

        wanted = list(dict.fromkeys([*columns, self.header.names[-1]]))
        read = csv.ReadOptions(use_threads=False, block_size=block, column_names=self.header.names)
        parse = csv.ParseOptions(
            delimiter=self.header.delimiter,
            newlines_in_values=True,
            invalid_row_handler=self._refused if self.ledger.skips else None,
        )
        kinds = dict.fromkeys(self.header.names, pa.binary())
        convert = csv.ConvertOptions(column_types=kinds, include_columns=wanted, strings_can_be_null=False)
        try:
            yield from csv.open_csv(pa.PythonFile(source, "r"), read, parse, convert)
        except pa.ArrowInvalid as error:
            if "Empty CSV" not in str(error):  # a header alone is a file of no rows
                raise

    def _refused(self, row: Any) -> str:
        """For pyarrow: a row with too many or too few fields is left out."""
        self.doubtful = self.doubtful or "\n" in row.text
        self._refuse(row.number, self.header.misfit(row.actual_columns))
        return "skip"

    def _refuse(self, number: int, why: str) -> None:
        self.doubtful = self.doubtful or why == UNCLOSED
        if self.numbers.refuse(number):
            self.ledger.reject(f"{self.file.name}, row {number}", why, "")

    def _ends_in_quote(self, table: pa.RecordBatch, tail: bytes) -> bool:
        """Whether the last cell may lack its closing quote: then the file ends as that cell does, behind a quote."""
        cell: bytes = table.column(self.header.names[-1])[-1].as_py()
        return tail.endswith((b'"' + cell.replace(b'"', b'""'))[-TAIL:])


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
            found = count_fields(record.data, header.delimiter)
            if found != width:
                return DataError(
                    f"{file.name}, line {record.line}: {header.misfit(found)}; put cells that hold the delimiter or "
                    "a line end in quotes, or leave such rows out with bad_rows='skip'."
                )
    return DataError(f"{file.name}: cannot be read as CSV ({said(error)}); check delimiter= and encoding=.")
