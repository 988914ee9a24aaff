"""The first line of a CSV file: the names of the columns, and which delimiter stands between them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from linnaeus.data.formats.records import fields, first_record, has_fields
from linnaeus.data.streams import BLOCK
from linnaeus.errors import DataError
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.formats.delimited import Delimited
    from linnaeus.data.streams import ByteStream, File

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
