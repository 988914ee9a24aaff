"""CSV and TSV: pyarrow's streaming reader with every column declared bytes, so that no cell changes on the way.

Cells may hold line ends; the block grows when a row does not fit in one. What pyarrow refuses is looked for a second
time, by a careful and slow scan that tells records apart, so that the message can name the line:

record = field {delimiter field} line-end          field = quoted rest | plain
quoted = " {any character but a quote | ""} "      a quote inside a plain field is an ordinary character
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus.data.formats import Chunk, Format
from linnaeus.data.formats.lines import readable
from linnaeus.data.ledger import Ledger
from linnaeus.data.roles import HEADED, REPEATED
from linnaeus.data.streams import BLOCK, LONGEST, ByteStream, File, is_utf8
from linnaeus.errors import DataError, said
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from pyarrow.csv import InvalidRow


class Delimited(Format):
    """Cells between delimiters, with a header; where options do not say it, one of `candidates` is the delimiter."""

    candidates = ",\t;|"

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
                    yield from walk.chunks(columns, block, careful)
                    return
                except _NotTextError:
                    careful = True
                except pa.ArrowInvalid as error:
                    if "straddl" not in str(error) or block >= LONGEST:
                        raise _diagnosis(self, file, walk.header, error) from error
                    block *= 4


class Tabbed(Delimited):
    """The same with tabs between the cells."""

    candidates = "\t"


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
        numbers: Sequence[int] = range(first, first + count)
        if self.waiting:
            places = np.arange(first, first + count + len(self.waiting))
            numbers = np.setdiff1d(places, self.waiting, assume_unique=True)[:count].tolist()
            self.waiting = [number for number in self.waiting if number > numbers[-1]]
        self.good, self.following = self.good + count, numbers[-1] + 1
        return numbers


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

    def chunks(self, columns: Sequence[str], block: int, careful: bool) -> Iterator[Chunk]:
        """The rows that no earlier pass has handed on; only the good ones reach pyarrow in a careful pass."""
        source = _Checked(self.stream) if self.ledger.skips else _Remembering(self.stream)
        if careful:
            source = _Sifted(self.stream, self.header, self._refuse)
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

    def _tables(self, columns: Sequence[str], block: int, source: _Remembering) -> Iterator[pa.RecordBatch]:
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

    def _refused(self, row: InvalidRow) -> str:
        """For pyarrow: a row with too many or too few fields is left out."""
        self.doubtful = self.doubtful or "\n" in row.text
        self._refuse(row.number, self.header.misfit(row.actual_columns))
        return "skip"

    def _refuse(self, number: int, why: str) -> None:
        self.doubtful = self.doubtful or why == _UNCLOSED
        if self.numbers.refuse(number):
            self.ledger.reject(f"{self.file.name}, row {number}", why, "")

    def _ends_in_quote(self, table: pa.RecordBatch, tail: bytes) -> bool:
        """Whether the last cell may lack its closing quote: then the file ends as that cell does, behind a quote."""
        cell: bytes = table.column(self.header.names[-1])[-1].as_py()
        return tail.endswith((b'"' + cell.replace(b'"', b'""'))[-_TAIL:])


def _check_quotes(form: Delimited, file: File, header: Header) -> None:
    """Refuse a file in which a quote never closes: nobody can say which rows it has, so skipping is no help."""
    with ByteStream(file, form.options) as stream:
        for record in records(stream, header.delimiter):
            if record.unclosed:
                raise DataError(f"{file.name}, line {record.line}: {_OPENS}")


_OPENS = "a quote opens here and never closes; close it, or double the quotes that belong to the text."


def _diagnosis(form: Delimited, file: File, header: Header, error: Exception) -> DataError:
    """What is wrong with a file that pyarrow refused, and on which line."""
    width = len(header.names)
    with ByteStream(file, form.options) as stream:
        for record in records(stream, header.delimiter):
            if record.unclosed:
                return DataError(f"{file.name}, line {record.line}: {_OPENS}")
            if len(record.data) > LONGEST:
                return DataError(
                    f"{file.name}, line {record.line}: a row of more than {LONGEST >> 20} MB begins here; cut it, or "
                    "close its quote."
                )
            found = _count_fields(record.data, header.delimiter)
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
    repeated: frozenset[str]

    @classmethod
    def of(cls, names: list[str], delimiter: str) -> Header:
        """The header of these names; there are numbers behind those that come twice."""
        seen: Counter[str] = Counter()
        made = []
        for name in names:
            seen[name] += 1
            made.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
        if len(set(made)) < len(made):
            made = [f"{name}_{i}" for i, name in enumerate(names, 1)]
        return cls(made, delimiter, frozenset(name for name, count in seen.items() if count > 1))

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
        return Header.of(list(form.options.names), delimiter)
    record, rest = _first_record(start, delimiter)
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
    return Header.of([cell.decode().strip() for cell in fields(record, delimiter)], delimiter)


def _delimiter(start: bytes, candidates: str) -> str:
    """The first candidate that the header holds outside quotes."""
    for mark in candidates:
        record, _ = _first_record(start, mark)
        if record is not None and len(list(islice(_cells(record, mark), 2))) == 2:
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


@dataclass(frozen=True, slots=True)
class Record:
    """A record: the line it begins on (from 1), its bytes with the line end, and whether a quote in it never closes."""

    line: int
    data: bytes
    unclosed: bool = False


def records(stream: ByteStream, delimiter: str) -> Iterator[Record]:
    """The records of a CSV stream, blank lines left out; an unclosed quote or a record too long is the last."""
    pattern = _record(delimiter)
    buffer, at, line = stream.read(BLOCK), 0, 1
    while True:
        found = pattern.match(buffer, at)
        if found and found.end() < len(buffer):  # at the very end a \r may still be followed by \n
            data = found.group()
            if data.strip(b"\r\n"):
                yield Record(line, data)
            at, line = found.end(), line + len(re.findall(rb"\r\n|\r|\n", data))
            continue
        if len(buffer) - at > LONGEST:
            yield Record(line, buffer[at:])
            return
        more = stream.read(max(BLOCK, len(buffer) - at))
        if not more:
            yield from _last(buffer[at:], pattern, line)
            return
        buffer, at = buffer[at:] + more, 0


def _first_record(start: bytes, delimiter: str) -> tuple[bytes | None, bytes]:
    r"""The first record that is not blank, and what follows; None where it has no end.

    >>> _first_record(b"\na,b\n1,2\n", ",")
    (b'a,b\n', b'1,2\n')
    """
    start = start.lstrip(b"\r\n")
    found = _record(delimiter).match(start)
    if found is None:
        found = _record(delimiter).match(start + b"\n")
        if found is None or found.end() <= len(start):
            return None, start
    return found.group(), start[found.end() :]


def fields(record: bytes, delimiter: str) -> list[bytes]:
    r"""The cells of a record, without quotes.

    >>> fields(b'a,"b, c",\n', ",")
    [b'a', b'b, c', b'']
    """
    return [_unquoted(cell) for cell in _cells(record, delimiter)]


def _count_fields(record: bytes, delimiter: str) -> int:
    """How many cells a record has: also one of millions, in little memory."""
    return sum(1 for _ in _cells(record, delimiter))


def _cells(record: bytes, delimiter: str) -> Iterator[bytes]:
    body = record.rstrip(b"\r\n")
    at = 0
    while True:
        found = _field(delimiter).match(body, at)
        assert found is not None  # every field pattern matches the empty string
        yield found.group()
        at = found.end() + 1  # a delimiter is one byte
        if found.end() >= len(body):
            return


def _last(data: bytes, pattern: re.Pattern[bytes], line: int) -> Iterator[Record]:
    """What is left at the end of the file, where the line end may be missing."""
    if not data.strip(b"\r\n"):
        return
    found = pattern.match(data + b"\n")
    yield Record(line, data, unclosed=found is None or found.end() < len(data))


def _unquoted(cell: bytes) -> bytes:
    if not cell.startswith(b'"'):
        return cell
    found = re.match(rb'"((?:[^"]++|"")*+)"?', cell)
    assert found is not None
    return found.group(1).replace(b'""', b'"') + cell[found.end() :]


@cache
def _field(delimiter: str) -> re.Pattern[bytes]:
    return re.compile(_field_text(delimiter))


@cache
def _record(delimiter: str) -> re.Pattern[bytes]:
    field, mark = _field_text(delimiter), re.escape(delimiter.encode())
    return re.compile(rb"(?:" + field + rb")(?:" + mark + rb"(?:" + field + rb"))*+(?:\r\n|\r|\n)")


def _field_text(delimiter: str) -> bytes:
    plain = rb"[^\r\n" + re.escape(delimiter.encode()) + rb"]*+"
    return rb'"(?:[^"]++|"")*+"' + plain + rb'|(?!")' + plain


_UNCLOSED = "a quote never closes"
_TAIL = 1 << 16  # bytes at the end of the file that are remembered


class _NotTextError(Exception):
    """Bytes came that are not UTF-8."""


class _Remembering:
    """The stream as it is; the last bytes are kept, for the check of the last quote."""

    def __init__(self, stream: ByteStream) -> None:
        self.tail, self.closed = b"", False
        self._stream = stream

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self._stream.read(size)
        self.tail = (self.tail + data[-_TAIL:])[-_TAIL:]
        return data

    def close(self) -> None:
        """For pyarrow; the stream has its own owner."""
        self.closed = True


class _Checked(_Remembering):
    """The same, and bytes that are not UTF-8 raise: pyarrow cannot tell of a bad row that holds such."""

    def __init__(self, stream: ByteStream) -> None:
        super().__init__(stream)
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def read(self, size: int) -> bytes:
        """The next bytes, if they are text."""
        data = super().read(size)
        try:
            self._decoder.decode(data, not data)
        except UnicodeDecodeError as error:
            raise _NotTextError from error
        return data


class _Sifted(_Remembering):
    """Only the rows of the right width that are UTF-8; `refuse` gets the number of each other row, and why."""

    def __init__(self, stream: ByteStream, header: Header, refuse: Callable[[int, str], None]) -> None:
        super().__init__(stream)
        self._records, self._refuse = records(stream, header.delimiter), refuse
        self._header, self._row, self._rest = header, 0, b""

    def read(self, size: int) -> bytes:
        """The next bytes of good rows."""
        parts, held = [self._rest], len(self._rest)
        while held < size and (record := next(self._records, None)) is not None:
            self._row += 1
            why = self._fault(record)
            if why:
                self._refuse(self._row, why)
            else:
                parts.append(record.data)
                held += len(record.data)
        data = b"".join(parts)
        self._rest = data[size:]
        return data[:size]

    def _fault(self, record: Record) -> str | None:
        if not is_utf8(record.data):
            return "bytes that are not text"
        if record.unclosed:
            return _UNCLOSED
        found = _count_fields(record.data, self._header.delimiter)
        return None if found == len(self._header.names) else self._header.misfit(found)
