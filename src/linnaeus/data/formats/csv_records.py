"""CSV records told apart by a careful and slow scan, to name the line of what the quick reader refused.

`Sifted` reads only the good rows of a file that way; `Remembering` and `Checked` pass the bytes on as they are.

record = field {delimiter field} line-end          field = quoted rest | plain
quoted = " {any character but a quote | ""} "      a quote inside a plain field is an ordinary character
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from linnaeus.data.streams import BLOCK, LONGEST
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.formats.delimited import Header
    from linnaeus.data.streams import ByteStream


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
            at, line = found.end(), line + _line_ends(data)
            continue
        if len(buffer) - at > LONGEST:
            yield Record(line, buffer[at:])
            return
        more = stream.read(max(BLOCK, len(buffer) - at))
        if not more:
            yield from _last(buffer[at:], pattern, line)
            return
        buffer, at = buffer[at:] + more, 0


def first_record(start: bytes, delimiter: str) -> tuple[bytes | None, bytes]:
    r"""The first record that is not blank, and what follows; None where it has no end.

    >>> first_record(b"\na,b\n1,2\n", ",")
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


def count_fields(record: bytes, delimiter: str) -> int:
    """How many cells a record has: also one of millions, in little memory."""
    return sum(1 for _ in _cells(record, delimiter))


def has_fields(record: bytes, delimiter: str, count: int) -> bool:
    """Whether a record has so many cells, or more."""
    return any(i >= count for i, _ in enumerate(_cells(record, delimiter), 1))


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


def _line_ends(data: bytes) -> int:
    return len(re.findall(rb"\r\n|\r|\n", data))


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


UNCLOSED = "a quote never closes"
TAIL = 1 << 16  # bytes at the end of the file that are remembered


class NotTextError(Exception):
    """Bytes came that are not UTF-8."""


class Remembering:
    """The stream as it is; the last bytes are kept, for the check of the last quote."""

    def __init__(self, stream: ByteStream) -> None:
        self.tail, self.closed = b"", False
        self._stream = stream

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self._stream.read(size)
        self.tail = (self.tail + data[-TAIL:])[-TAIL:]
        return data

    def close(self) -> None:
        """For pyarrow; the stream has its own owner."""
        self.closed = True


class Checked(Remembering):
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
            raise NotTextError from error
        return data


class Sifted:
    """Only the rows of the right width that are UTF-8; `refuse` gets the number of each other row, and why."""

    def __init__(self, stream: ByteStream, header: Header, refuse: Callable[[int, str], None]) -> None:
        self.tail, self.closed = b"", False
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

    def close(self) -> None:
        """For pyarrow; the stream has its own owner."""
        self.closed = True

    def _fault(self, record: Record) -> str | None:
        try:
            record.data.decode()
        except UnicodeDecodeError:
            return "bytes that are not text"
        if record.unclosed:
            return UNCLOSED
        found = count_fields(record.data, self._header.delimiter)
        return None if found == len(self._header.names) else self._header.misfit(found)
