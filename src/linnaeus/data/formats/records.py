r"""CSV records told apart by a careful and slow scan, to name the line of what the quick reader refused.

record = field {delimiter field} line-end          field = quoted rest | plain
quoted = " {any character but a quote | ""} "      a quote inside a plain field is an ordinary character
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from linnaeus.data.streams import BLOCK, LONGEST
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
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
