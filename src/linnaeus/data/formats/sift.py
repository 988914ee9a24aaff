"""The files that pyarrow reads from: the bytes as they are, or only the rows that a careful scan finds whole."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import TYPE_CHECKING

from linnaeus.data.formats.records import Record, count_fields, records

if TYPE_CHECKING:
    from linnaeus.data.formats.header import Header
    from linnaeus.data.streams import ByteStream

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
