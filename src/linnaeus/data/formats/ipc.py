"""What compressed Arrow IPC files unpack to, read from their messages before anything is unpacked.

A message is a length, a FlatBuffers table and a body; each compressed buffer of the body begins with its true length.
The file format has an index of its messages at the end, the stream format has one after the other.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pyarrow as pa

MAGIC = b"ARROW1"
_CONTINUES = b"\xff\xff\xff\xff"
_LONGEST = 256 << 20  # bytes of the table of one message


def unpacked_sizes(raw: pa.NativeFile) -> Iterator[int]:
    """The bytes that each compressed message claims; the place in the file is then anywhere."""
    try:
        yield from (_message_size(raw, place) for place in _places(raw))
    except (struct.error, IndexError) as error:
        raise pa.ArrowInvalid("a message of the file points outside it") from error


def _places(raw: pa.NativeFile) -> Iterator[int]:
    """Where messages begin."""
    size = raw.size()
    if _read(raw, 0, len(MAGIC)) == MAGIC:
        (length,) = struct.unpack("<i", _read(raw, size - 10, 4))
        footer = _Table.root(_read(raw, size - 10 - length, length))
        for blocks in (2, 3):  # of dictionaries, and of rows
            yield from (place for place, _, _ in footer.structs(blocks, "<qi4xq"))
        return
    place = 0
    while place + 8 <= size:
        start, table = _table(raw, place)
        if table is None:
            return
        yield place
        place = start + max(0, table.number(3, "<q"))


def _message_size(raw: pa.NativeFile, place: int) -> int:
    start, message = _table(raw, place)
    header = message.table(2) if message else None
    if message is None or header is None:
        return 0
    rows = header.table(1) if message.number(1, "<B") == 2 else header  # a dictionary has its rows inside
    if rows is None or message.number(1, "<B") not in (2, 3) or rows.table(3) is None:
        return 0
    sizes = (struct.unpack("<q", _read(raw, start + at, 8))[0] for at, n in rows.structs(2, "<qq") if n >= 8)
    return sum(max(0, size) for size in sizes)  # -1 says that a buffer is not compressed


def _table(raw: pa.NativeFile, place: int) -> tuple[int, _Table | None]:
    """The table of the message at this place, and where its body begins; none at the end of a stream."""
    head = _read(raw, place, 4)
    if head == _CONTINUES:  # older files lack this mark
        place += 4
        head = _read(raw, place, 4)
    (length,) = struct.unpack("<i", head)
    if length == 0:
        return place + 4, None
    if not 0 < length <= _LONGEST:
        raise IndexError(length)
    return place + 4 + length, _Table.root(_read(raw, place + 4, length))


def _read(raw: pa.NativeFile, place: int, size: int) -> bytes:
    if place < 0 or size < 0 or place + size > raw.size():
        raise IndexError(place)
    raw.seek(place)
    return bytes(raw.read(size))


class _Table:
    """A FlatBuffers table: fields by number, each found by a list of distances; one that is absent is 0 or None."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - self._get("<i", at)

    @classmethod
    def root(cls, data: bytes) -> _Table:
        """The outermost table of these bytes."""
        return cls(data, struct.unpack_from("<I", data)[0])

    def number(self, field: int, form: str) -> int:
        """A field that is a number."""
        at = self._find(field)
        return self._get(form, at) if at else 0

    def table(self, field: int) -> _Table | None:
        """A field that is a table."""
        at = self._find(field)
        return _Table(self._data, at + self._get("<I", at)) if at else None

    def structs(self, field: int, form: str) -> Iterator[tuple[int, ...]]:
        """A field that is a vector of records."""
        at = self._find(field)
        if not at:
            return iter(())
        at += self._get("<I", at)
        end = at + 4 + self._get("<I", at) * struct.calcsize(form)
        if end > len(self._data):
            raise IndexError(end)
        return struct.iter_unpack(form, self._data[at + 4 : end])

    def _find(self, field: int) -> int:
        place = 4 + 2 * field
        if place + 2 > self._get("<H", self._fields):
            return 0
        distance = self._get("<H", self._fields + place)
        return self._at + distance if distance else 0

    def _get(self, form: str, at: int) -> int:
        if at < 0:
            raise IndexError(at)
        return int(struct.unpack_from(form, self._data, at)[0])
