"""Plain text files: one text per line, fastText lines `__label__spam buy now`, one text per file in a folder per class.

Files of lines are read in blocks of whole lines; other formats of lines and lists of words take these too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa

from linnaeus.data.arrow import MANY, as_strings
from linnaeus.data.files import refuse_foreign, text_files
from linnaeus.data.formats import LABEL_PREFIX, Chunk, Format
from linnaeus.data.ledger import Ledger
from linnaeus.data.options import ReadOptions
from linnaeus.data.roles import FIXED
from linnaeus.data.streams import BLOCK, LONGEST, ByteStream, File, first_undecodable, is_utf8, read_whole, undecodable
from linnaeus.errors import DataError
from linnaeus.frozen import dataclass
from linnaeus.types import offsets_of

_MOST_LINES = 1 << 16
_PIECE = 1 << 16
_LINE_END = 10


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines: their bytes, how many, the number of the first line, the bytes of the file read so far."""

    data: bytes
    count: int
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
    offsets = offsets_of(list(map(len, lines))).astype(np.int32)
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
                    yield Block(whole, count, line, stream.done)
                    line += count
                parts, held = [], 0
            parts.append(data[cut:])
            held += len(data) - cut
            if held > LONGEST:
                raise DataError(f"{file.name}, line {line}: the line is longer than {LONGEST >> 20} MB; cut it.")
        if held:
            yield Block(b"".join(parts), 1, line, stream.done)
        elif line == 1:
            raise DataError(f"{file.name}: is empty; give a file with one row per line.")


def count_bytes(data: bytes, wanted: bytes) -> int:
    r"""How many of the bytes are among the wanted ones.

    By pieces that stay in the cache: `bytes.count` takes several times as long, and so does memory for the whole.

    >>> count_bytes(b"a\nb\n", b"\n")
    2
    """
    every = np.frombuffer(data, np.uint8)
    pieces = (every[start : start + _PIECE] for start in range(0, len(every), _PIECE))
    return sum(int(np.count_nonzero(piece == one)) for piece in pieces for one in wanted)


def _cut(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Whole lines and how many, in parts of at most so many: many short lines take far more memory than bytes."""
    count = count_bytes(data, b"\n")
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


def decoded(block: Block, file: File, options: ReadOptions) -> list[str]:
    """The lines of a block as text; the error names the first that is none."""
    lines = block.lines()
    try:
        return [line.decode() for line in lines]
    except UnicodeDecodeError as error:
        bad = block.line + next(i for i, line in enumerate(lines) if not is_utf8(line))
        raise undecodable(file, f"line {bad}", first_undecodable(file, options), options.encoding) from error


def readable(chunk: Chunk, file: File, options: ReadOptions, ledger: Ledger) -> Chunk:
    """The chunk with its columns of bytes as text, without the rows that are none. Valid bytes are not copied."""
    pairs = [_decoded(column) for column in chunk.table.columns]
    table = pa.RecordBatch.from_arrays([column for column, _ in pairs], names=chunk.table.schema.names)
    bad = sorted({row for _, rows in pairs for row in rows})
    if not bad:
        return Chunk(table, chunk.rows, chunk.done)
    reject_bytes(file, f"row {chunk.rows[bad[0]]}", options, ledger, len(bad))
    keep = np.setdiff1d(np.arange(len(table)), bad)
    return Chunk(table.take(pa.array(keep)), [chunk.rows[i] for i in keep], chunk.done)


def reject_bytes(file: File, where: str, options: ReadOptions, ledger: Ledger, count: int = 1) -> None:
    """Refuse rows, the first of which is at `where`, whose bytes are no text."""
    if not ledger.skips:
        raise undecodable(file, where, first_undecodable(file, options), options.encoding)
    ledger.reject(f"{file.name}, {where}", f"bytes that are not {options.encoding}", "", count)


def _decoded(column: pa.Array) -> tuple[pa.Array, list[int]]:
    """The column as text, and which rows are not UTF-8 (they become empty)."""
    if pa.types.is_list(column.type):
        values, bad = _decoded(column.values)
        lists = np.searchsorted(column.offsets.to_numpy(), bad, side="right") - 1
        return pa.ListArray.from_arrays(column.offsets, values), sorted(set(lists.tolist()))
    if not pa.types.is_binary(column.type):
        return column, []
    try:
        return as_strings(column), []
    except pa.ArrowInvalid:
        cells = column.to_pylist()
        bad = [i for i, cell in enumerate(cells) if cell is not None and not is_utf8(cell)]
        for i in bad:
            cells[i] = b""
        return pa.array(cells, pa.binary()).cast(pa.string()), bad


_LABEL = re.compile(rb"(?:(?<=\s)|^)__label__(\S+)\s?")


class Lines(Format):
    """One text per line, no labels. Blank lines are empty texts, so that answers stay in step with lines."""

    def schema(self, file: File) -> pa.Schema:
        """The column `text`."""
        sample(file, self.options)
        return pa.schema([("text", pa.string())], FIXED)

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """The lines, a block at a time."""
        for block in blocks(file, self.options):
            lines = block.lines()
            table = pa.RecordBatch.from_arrays([column(lines)], names=["text"]).select(list(columns))
            numbers = range(block.line, block.line + len(lines))
            yield readable(Chunk(table, numbers, block.done), file, self.options, ledger)


class FastText(Format):
    """Words that begin with `__label__` are labels, the rest of the line is the text. Blank lines are left out."""

    def schema(self, file: File) -> pa.Schema:
        """The columns `text` and `label`; labels are lists where one of the first lines has several."""
        several = any(len(_LABEL.findall(line)) > 1 for line in sample(file, self.options))
        many = several if self.options.label_kind is None else self.options.label_kind == "many"
        return pa.schema([("text", pa.string()), ("label", MANY if many else pa.string())], FIXED)

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """The lines, a block at a time."""
        many = self.schema(file).field("label").type == MANY
        for block in blocks(file, self.options):
            chunk = _parsed(block, many, file, ledger)
            chosen = Chunk(chunk.table.select(list(columns)), chunk.rows, chunk.done)
            yield readable(chosen, file, self.options, ledger)


def _parsed(block: Block, many: bool, file: File, ledger: Ledger) -> Chunk:
    """Texts and labels of a block of lines: a list of labels for each, or one or none."""
    numbers, texts, labels = [], [], []
    for number, line in enumerate(block.lines(), block.line):
        if not line.strip():
            continue
        found = _LABEL.findall(line) if LABEL_PREFIX in line else []
        if len(found) > 1 and not many:
            why = f"{len(found)} labels where the first lines have one"
            ledger.reject(f"{file.name}, line {number}", why, "allow several with label_kind='many'")
            continue
        numbers.append(number)
        texts.append(_LABEL.sub(b"", line).strip() if found else line)
        labels.append(found if many else next(iter(found), None))
    columns = [pa.array(texts, pa.binary()), pa.array(labels, pa.list_(pa.binary()) if many else pa.binary())]
    return Chunk(pa.RecordBatch.from_arrays(columns, names=["text", "label"]), numbers, block.done)


_TOGETHER = 4096  # files in one chunk at most


class Folder(Format):
    """The name of the first folder is the label, the path below the whole is kept in the column `path`."""

    def schema(self, file: File) -> pa.Schema:
        """The columns `text`, `label` and `path`."""
        if not text_files(file.path):
            raise DataError(
                f"{file.name}: holds no text; put texts into one folder per label, as {file.name}/LABEL/1.txt."
            )
        return pa.schema([("text", pa.string()), ("label", pa.string()), ("path", pa.string())], FIXED)

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """The files in the order of their paths, some at a time."""
        texts: list[str] = []
        paths: list[str] = []
        held = done = first = 0
        files = text_files(file.path)
        for path in files:
            below = path.relative_to(file.path).as_posix()
            inner = File(path, f"{file.name}/{below}")
            text = self._text(inner, ledger)
            done += inner.size
            if text is not None:
                texts.append(text)
                paths.append(below)
                held += len(text)
            if texts and (held > BLOCK or len(texts) == _TOGETHER or path is files[-1]):
                made = {"text": texts, "label": [name.partition("/")[0] for name in paths], "path": paths}
                arrays = [pa.array(made[name], pa.string()) for name in columns]
                table = pa.RecordBatch.from_arrays(arrays, names=list(columns))
                yield Chunk(table, range(first + 1, first + len(texts) + 1), done)
                first, held, texts, paths = first + len(texts), 0, [], []

    def _text(self, file: File, ledger: Ledger) -> str | None:
        """The whole file, or None where its bytes are no text and such rows are skipped."""
        data, mark = read_whole(file, self.options, LONGEST)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            if not ledger.skips:
                refuse_foreign(file)
                raise undecodable(file, "row 1", mark + error.start, self.options.encoding) from error
            ledger.reject(file.name, f"bytes that are not {self.options.encoding}", "")
            return None


def entries(path: str | PathLike[str]) -> Iterator[tuple[str, list[str]]]:
    """Where each line stands, for messages, and its parts; blank lines are left out. Packed files are unpacked."""
    file, options = File(Path(path), str(path)), ReadOptions()
    for block in blocks(file, options):
        for number, line in enumerate(decoded(block, file, options), block.line):
            if text := line.strip():
                yield f"{file.name}, line {number}", [part.strip() for part in text.split("\t")]
