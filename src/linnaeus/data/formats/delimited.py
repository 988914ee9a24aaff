"""CSV and TSV: pyarrow's streaming reader with every column declared bytes, so that no cell changes on the way.

Cells may hold line ends; the block grows when a row does not fit in one. What pyarrow refuses is looked for a second
time, slowly, so that the message can name the line (csv_records.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from linnaeus.data.formats import Chunk
from linnaeus.data.formats.csv_records import (
    TAIL,
    UNCLOSED,
    Checked,
    NotTextError,
    Remembering,
    Sifted,
    count_fields,
    fields,
    first_record,
    has_fields,
    records,
)
from linnaeus.data.formats.lines import readable
from linnaeus.data.roles import HEADED, REPEATED
from linnaeus.data.streams import BLOCK, LONGEST, ByteStream
from linnaeus.errors import DataError, said
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.ledger import Ledger
    from linnaeus.data.options import ReadOptions
    from linnaeus.data.streams import ByteStream, File


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
            [pa.field(n, pa.string(), metadata=REPEATED if n in header.repeated else None) for n in header.names],
            HEADED if self.headed else None,
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


@dataclass(frozen=True, slots=True)
class Tabbed(Delimited):
    """The same with tabs between the cells."""

    candidates: str = "\t"


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


MAX_COLUMNS = 10_000


@dataclass(frozen=True, slots=True)
class Header:
    """Column names, each different, and the delimiter; `repeated` are those that the file has more than once."""

    names: list[str]
    delimiter: str
    repeated: frozenset[str] = frozenset()

    def misfit(self, found: int) -> str:
        """What is wrong with a row of so many fields."""
        return f"{found} field{'s' * (found != 1)} where the header has {len(self.names)}"


def read_header(stream: ByteStream, file: File, form: Delimited) -> Header:
    """The header; the stream then stands before the first row of data."""
    start = stream.read(BLOCK)
    if not start.strip():
        raise DataError(f"{file.name}: is empty; a CSV file begins with a line of column names.")
    given = form.options.delimiter
    delimiter = given or _delimiter(start, form.candidates)
    if form.options.names is not None:
        stream.unread(start)
        return _header(list(form.options.names), delimiter)
    record, rest = first_record(start, delimiter)
    if record is not None and record.count(delimiter.encode()) >= MAX_COLUMNS:
        raise DataError(f"{file.name}, line 1: the header has more than {MAX_COLUMNS:,} columns; check delimiter=.")
    if record is None:
        raise DataError(
            f"{file.name}, line 1: the header is longer than {BLOCK >> 20} MB, or a quote never closes in it."
        )
    stream.unread(rest)
    try:
        record.decode()
    except UnicodeDecodeError as error:
        byte = stream.mark + start.index(record.rstrip(b"\n")) + error.start
        raise _undecodable(file, byte, form.options.encoding) from error
    names = [cell.decode().strip() for cell in fields(record, delimiter)]
    return _header(names, delimiter)


def _delimiter(start: bytes, candidates: str) -> str:
    """The first candidate that the header holds outside quotes."""
    for mark in candidates:
        record, _ = first_record(start, mark)
        if record is not None and has_fields(record, mark, 2):
            return mark
    return candidates[0]


def _undecodable(file: File, byte: int, encoding: str) -> DataError:
    """The error for a header that is no text; without one no row can be read, so skipping is no help."""
    if encoding != "utf-8":  # the place is that of the bytes after a change of encoding
        return DataError(
            f"{file.name}, header: the bytes are not {encoding}; give encoding= as the one it was written in."
        )
    return DataError(
        f"{file.name}, header, byte {byte}: the bytes are not utf-8; give encoding='latin-1' or whichever it was "
        "written in."
    )


def _header(names: list[str], delimiter: str) -> Header:
    repeated = frozenset(name for name, count in Counter(names).items() if count > 1)
    return Header(_distinct(names), delimiter, repeated)


def _distinct(names: list[str]) -> list[str]:
    """Names, with numbers behind those that come twice."""
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return made if len(set(made)) == len(made) else [f"{name}_{i}" for i, name in enumerate(names, 1)]
