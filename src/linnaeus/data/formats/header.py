"""The first line of a CSV file: the names of the columns, and which delimiter stands between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linnaeus.data.formats.records import fields, first_record
from linnaeus.data.streams import BLOCK, undecodable
from linnaeus.errors import DataError

if TYPE_CHECKING:
    from linnaeus.data.formats.delimited import Delimited
    from linnaeus.data.streams import ByteStream, File


@dataclass(frozen=True, slots=True)
class Header:
    """Column names, each different, and the delimiter."""

    names: list[str]
    delimiter: str

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
        return Header(_distinct(list(form.options.names)), delimiter)
    record, rest = first_record(start, delimiter)
    if record is None:
        raise DataError(
            f"{file.name}, line 1: the header is longer than {BLOCK >> 20} MB, or a quote never closes in it."
        )
    stream.unread(rest)
    try:
        names = [cell.decode().strip() for cell in fields(record, delimiter)]
    except UnicodeDecodeError as error:
        raise undecodable(file, "header", error.start, form.options.encoding) from error
    return Header(_distinct(names), delimiter)


def _delimiter(start: bytes, candidates: str) -> str:
    """The first candidate that the header holds outside quotes."""
    for mark in candidates:
        record, _ = first_record(start, mark)
        if record is not None and len(fields(record, mark)) > 1:
            return mark
    return candidates[0]


def _distinct(names: list[str]) -> list[str]:
    """Names, with numbers behind those that come twice."""
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return made if len(set(made)) == len(made) else [f"{name}_{i}" for i, name in enumerate(names, 1)]
