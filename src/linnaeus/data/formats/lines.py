"""Text files of one row per line, cut into blocks of whole lines with their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus.data.streams import BLOCK, LONGEST, ByteStream
from linnaeus.errors import DataError
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.options import ReadOptions
    from linnaeus.data.streams import File


_MOST_LINES = 1 << 16
_LINE_END = 10


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines: their bytes, the number of the first line, the bytes of the file read so far."""

    data: bytes
    line: int
    done: int

    def lines(self) -> list[bytes]:
        """The lines without their ends."""
        found = self.data.split(b"\n")
        if not found[-1]:
            found.pop()
        return [line[:-1] if line.endswith(b"\r") else line for line in found] if b"\r" in self.data else found


def column(lines: list[bytes]) -> pa.Array:
    """Lines as a column of bytes, by their buffers: `pyarrow.array` would load pandas first, a fifth of a second.

    >>> column([b"one", b"", b"two"]).to_pylist()
    [b'one', b'', b'two']
    """
    offsets = np.zeros(len(lines) + 1, np.int32)
    np.cumsum(list(map(len, lines)), out=offsets[1:])
    return pa.Array.from_buffers(pa.binary(), len(lines), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(lines))])


def blocks(file: File, options: ReadOptions) -> Iterator[Block]:
    """The lines of the file. A file of no bytes is an error."""
    with ByteStream(file, options) as stream:
        parts: list[bytes] = []
        line, held = 1, 0
        while data := stream.read(BLOCK):
            cut = data.rfind(b"\n") + 1
            if cut:
                for whole, count in _cut(b"".join([*parts, data[:cut]])):
                    yield Block(whole, line, stream.done)
                    line += count
                parts, held = [], 0
            parts.append(data[cut:])
            held += len(data) - cut
            if held > LONGEST:
                raise DataError(f"{file.name}, line {line}: the line is longer than {LONGEST >> 20} MB; cut it.")
        if held:
            yield Block(b"".join(parts), line, stream.done)
        elif line == 1:
            raise DataError(f"{file.name}: is empty; give a file with one row per line.")


def _cut(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Whole lines and how many, in parts of at most so many: many short lines take far more memory than bytes."""
    count = data.count(b"\n")
    if count <= _MOST_LINES:
        yield data, count
        return
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _LINE_END) + 1
    start = 0
    for end in (*ends[_MOST_LINES - 1 : -1 : _MOST_LINES].tolist(), len(data)):
        yield data[start:end], min(_MOST_LINES, count)
        start, count = end, count - _MOST_LINES


def sample(file: File, options: ReadOptions) -> list[bytes]:
    """The first lines that are not blank, at most a thousand, for a look at what the file holds."""
    for block in blocks(file, options):
        found = [line for line in block.lines()[:1000] if line.strip()]
        if found:
            return found
    raise DataError(f"{file.name}: holds only blank lines; give a file with one row per line.")
