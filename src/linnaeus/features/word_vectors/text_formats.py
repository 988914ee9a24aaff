"""Files of word vectors that other programs read and write: word2vec text and binary, GloVe, fastText's .vec.

word2vec, .vec    a line "words width", then a line "word number ... number" for each word
GloVe             the same without the first line
word2vec binary   the first line, then for each word its bytes, a space, and float32 numbers
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn, TypeAlias, cast

import numpy as np

from linnaeus.arrays.word_table import WordTable
from linnaeus.errors import DataError, MachineError, UsageError
from linnaeus.store.atomic import replacing

if TYPE_CHECKING:
    from linnaeus.types import Floats

MAX_WIDTH = 1 << 16
"""Numbers that a vector may have."""
MAX_WORD_BYTES = 1 << 16
MAX_LINE_BYTES = 1 << 22

Head: TypeAlias = tuple[int, int] | None
"""Words and width of the first line, or None."""


class _Reading:
    """What has been read so far; every refusal names the line, or the word where there are no lines."""

    def __init__(self, where: str, unit: str = "line") -> None:
        self.where, self.unit = where, unit
        self.seen: dict[str, int] = {}
        self.rows: list[Floats] = []

    def refuse(self, number: int, why: str) -> NoReturn:
        raise DataError(f"{self.where}: {self.unit} {number:,} {why}.")

    def add(self, number: int, raw: bytes, row: Floats) -> None:
        try:
            word = raw.decode("utf-8")
        except UnicodeDecodeError:
            self.refuse(number, f"has a word that is not UTF-8, {raw[:40]!r}")
        if not word:
            self.refuse(number, "has no word before its numbers")
        if word in self.seen:
            self.refuse(number, f"has the word {word[:40]!r} again, which {self.unit} {self.seen[word]:,} has")
        if not np.isfinite(row).all():
            self.refuse(number, f"has a number that is not finite, for the word {word[:40]!r}")
        self.seen[word] = number
        self.rows.append(row)

    def table(self, head: Head, most: int | None) -> WordTable:
        if not self.rows:
            raise DataError(f"{self.where}: the file has no words.")
        if head is not None and len(self.rows) != head[0] and (most is None or len(self.rows) < most):
            raise DataError(
                f"{self.where}: line 1 says that there are {head[0]:,} words, but the file has {len(self.rows):,}."
            )
        words = list(self.seen)
        return WordTable(words, np.array(self.rows, np.float32), None, all(word == word.lower() for word in words))


def open_bytes(path: Path) -> IO[bytes]:
    """A file for reading, unpacked if its name ends in .gz."""
    try:
        return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")
    except OSError as error:
        raise MachineError(f"Cannot read {os.fspath(path)}: {error.strerror or error}.") from error


def header_of(line: bytes) -> Head:
    """Words and width, if a line holds two whole numbers.

    >>> header_of(b"3 100"), header_of(b"the 0.1 0.2")
    ((3, 100), None)
    """
    parts = line.split()
    if len(parts) != 2 or not all(part.isdigit() and len(part) < 15 for part in parts):
        return None
    return int(parts[0]), int(parts[1])


def _checked(head: Head, where: str) -> tuple[int, int]:
    if head is None:
        raise DataError(f"{where}: line 1 is not the number of words and the width of the vectors, such as 3000 100.")
    if not head[0] or not 1 <= head[1] <= MAX_WIDTH:
        raise DataError(
            f"{where}: line 1 says {head[0]:,} words of {head[1]:,} numbers; a width is 1 to {MAX_WIDTH:,}."
        )
    return head


def read_word2vec(path: Path, most: int | None = None) -> WordTable:
    """Word2vec's text format, which is also that of fastText's .vec files."""
    with open_bytes(path) as file:
        head = _checked(header_of(file.readline(MAX_LINE_BYTES)), str(path))
        return _read_lines(_Reading(str(path)), _lines(file, 2), head, most)


def read_glove(path: Path, most: int | None = None) -> WordTable:
    """GloVe's text format: no first line; the width is that of the first word."""
    with open_bytes(path) as file:
        return _read_lines(_Reading(str(path)), _lines(file, 1), None, most)


def _lines(file: IO[bytes], first: int) -> Iterator[tuple[int, bytes]]:
    number = first
    while line := file.readline(MAX_LINE_BYTES):
        if line.strip():
            yield number, line.rstrip(b" \r\n")
        number += 1


def _read_lines(reading: _Reading, lines: Iterable[tuple[int, bytes]], head: Head, most: int | None) -> WordTable:
    width = None if head is None else head[1]
    for number, line in lines:
        if most is not None and len(reading.rows) >= most:
            break
        if width is None:
            width = len(line.split(b" ")) - 1
            if not 1 <= width <= MAX_WIDTH:
                reading.refuse(number, "is not a word and its numbers")
        word, *cells = line.rsplit(b" ", width)
        if len(cells) != width:
            reading.refuse(number, f"has {len(cells)} numbers, not {width}")
        reading.add(number, word, _numbers(reading, number, cells))
    return reading.table(head, most)


def _numbers(reading: _Reading, number: int, cells: list[bytes]) -> Floats:
    try:
        with np.errstate(over="ignore"):
            return np.array(list(map(float, cells))).astype(np.float32)
    except ValueError:
        bad = next(cell for cell in cells if not is_number(cell))
        reading.refuse(number, f"does not have {len(cells)} numbers behind a word: {bad[:40]!r} is none")


def is_number(cell: bytes) -> bool:
    """Whether a cell can be read as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def read_binary(path: Path, most: int | None = None) -> WordTable:
    """Word2vec's binary format."""
    reading = _Reading(str(path), "word")
    with open_bytes(path) as file:
        head = _checked(header_of(file.readline(MAX_LINE_BYTES)), str(path))
        count, width = head
        for number in range(1, min(count, most or count) + 1):
            word = _word(file, reading, number)
            raw = file.read(4 * width)
            if len(raw) < 4 * width:
                reading.refuse(number, f"is the last one, and its numbers are cut off; line 1 says {count:,} words")
            reading.add(number, word, np.frombuffer(raw, "<f4").astype(np.float32))
        if most is None and file.read(2).strip():
            raise DataError(f"{path}: there is more in the file than the {count:,} words of line 1.")
    return reading.table(None, most)


def _word(file: IO[bytes], reading: _Reading, number: int) -> bytes:
    """The bytes up to a space; a line end before them belongs to the word before."""
    found = bytearray()
    while (byte := file.read(1)) != b" ":
        if not byte:
            reading.refuse(number, "is missing: the file ends before the words that line 1 says")
        if len(found) >= MAX_WORD_BYTES:
            reading.refuse(number, "has no end; is this a text file?")
        found += byte
    return bytes(found).lstrip(b"\n")


def write_word2vec(path: Path, table: WordTable) -> None:
    """Write word2vec's text format."""
    _write(path, f"{len(table)} {table.width}\n".encode(), table, _text_line)


def write_glove(path: Path, table: WordTable) -> None:
    """Write GloVe's text format."""
    _write(path, b"", table, _text_line)


def write_binary(path: Path, table: WordTable) -> None:
    """Write word2vec's binary format."""
    head = f"{len(table)} {table.width}\n".encode()
    _write(path, head, table, lambda word, row: word + b" " + row.astype("<f4").tobytes() + b"\n")


def _text_line(word: bytes, row: Floats) -> bytes:
    """Numbers in the fewest digits that give the same float32 again."""
    return word + b" " + " ".join(row.astype(str).tolist()).encode() + b"\n"


def _write(path: Path, head: bytes, table: WordTable, line: Callable[[bytes, Floats], bytes]) -> None:
    with replacing(path) as passing, passing.open("wb") as file:
        file.write(head)
        for word, row in zip(table.words, table.vectors, strict=True):
            if not word or set(word) & set(" \n\r\t"):
                raise UsageError(f"The word {word!r} has a space or a line end in it, which this format cannot hold.")
            file.write(line(word.encode(), row))
