"""JSON lines: one object per line. Scalars become text as JSON writes it; lists are of text, or of numbers only."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import msgspec
import pyarrow as pa

from linnaeus.data.arrow import MANY, as_cell, is_list, is_vector, text_column
from linnaeus.data.formats import Chunk, Format
from linnaeus.data.formats.lines import Block, blocks, count_bytes, reject_bytes, sample
from linnaeus.data.ledger import Ledger
from linnaeus.data.roles import NAMES
from linnaeus.data.streams import File
from linnaeus.errors import DataError
from linnaeus.types import Json

_DECODER = msgspec.json.Decoder(dict[str, Json])
_REMEDY = 'write one object per line, such as {"text": ..., "label": ...}'
_REFUSED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
MAX_INNER, MAX_KEYS = 100_000, 10_000
"""Lists and objects inside one line, and its keys: Python's take many times the memory of their bytes."""

_THIN = 1 << 18  # bytes of such lines that are decoded at once


class _CrowdedError(msgspec.DecodeError):
    """A line holds too much."""


class JsonLines(Format):
    """One JSON object per line. The columns are the keys of the first thousand lines; absent cells are null."""

    loose = True

    def schema(self, file: File) -> pa.Schema:
        """A column per key: where lists were seen, lists of numbers if all hold such, or list<string>; else string."""
        kinds: dict[str, pa.DataType] = {}
        lines = sample(file, self.options)
        for line in lines:
            try:
                row = _decoded(line)
            except _REFUSED:
                continue  # the walk will say where and why
            for name, value in row.items():
                if name not in kinds or kinds[name] != MANY:
                    kinds[name] = _kind(kinds.get(name), value)
        if not kinds or _opens_array(lines[0]):
            rest = "not one array of all" if lines[0].lstrip().startswith(b"[") else "or give another format="
            raise DataError(f"{file.name}: none of the first lines is a JSON object; {_REMEDY}, {rest}.")
        if self.options.label_kind == "many" and self.options.label in kinds:
            kinds[self.options.label] = MANY
        labels = {self.options.label, *(name for row in NAMES["label"] for name in row)}
        return pa.schema([(name, _settled(kind, name in labels)) for name, kind in kinds.items()])

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """The rows, a block of lines at a time."""
        schema = self.schema(file)
        kinds = {name: schema.field(name).type if name in schema.names else pa.string() for name in columns}
        for lines, rows, done in self.objects(file, ledger):
            made = {name: _of_texts([row.get(name) for row in rows], kind) for name, kind in kinds.items()}
            if odd := [name for name, column in made.items() if column is None]:  # lists would be there, and rarely are
                lines, kept = _without_late_lists(lines, rows, odd, (file, ledger))
                again = odd if len(kept) == len(rows) else list(kinds)
                made |= {name: _column([row.get(name) for row in kept], kinds[name]) for name in again}
            yield Chunk(pa.RecordBatch.from_arrays(list(made.values()), names=list(kinds)), lines, done)

    def objects(self, file: File, ledger: Ledger) -> Iterator[tuple[Sequence[int], list[dict[str, Json]], int]]:
        """The rows as Python's objects with their lines, a block at a time, and the bytes of the file read so far."""
        for whole in blocks(file, self.options):
            inner = _inner(whole.data)
            for block in _thinned(whole, inner):
                crowded = inner > MAX_INNER and _may_be_crowded(block.data)
                yield *self._rows(block, file, ledger, crowded), block.done

    def _rows(
        self, block: Block, file: File, ledger: Ledger, crowded: bool
    ) -> tuple[Sequence[int], list[dict[str, Json]]]:
        """The objects and their lines: all in one go, and line by line where that fails or lines are blank."""
        try:
            rows = [] if crowded else _DECODER.decode_lines(block.data)
            if len(rows) == block.count and max(map(len, rows)) <= MAX_KEYS:
                return range(block.line, block.line + block.count), rows
        except _REFUSED:
            pass
        lines, rows = [], []
        for number, line in enumerate(block.lines(), block.line):
            if line.strip():
                try:
                    rows.append(_decoded(line))
                    lines.append(number)
                except _REFUSED as error:
                    self._reject(f"line {number}", error, file, ledger)
        return lines, rows

    def _reject(self, where: str, error: Exception, file: File, ledger: Ledger) -> None:
        if isinstance(error, UnicodeDecodeError):
            reject_bytes(file, where, self.options, ledger)
            return
        if isinstance(error, _CrowdedError):
            why = str(error)
        elif isinstance(error, msgspec.ValidationError):
            why = "not a JSON object"
        else:
            why = f"not JSON ({error})"
        ledger.reject(f"{file.name}, {where}", why, _REMEDY)


def _decoded(line: bytes) -> dict[str, Json]:
    """The object of a line that is not too crowded."""
    if len(line) > MAX_INNER and _inner(line) > MAX_INNER:
        raise _CrowdedError(f"more than {MAX_INNER:,} lists and objects")
    row: dict[str, Json] = _DECODER.decode(line)
    if len(row) > MAX_KEYS:
        raise _CrowdedError(f"more than {MAX_KEYS:,} keys")
    return row


def _inner(data: bytes) -> int:
    """Lists and objects at most.

    >>> _inner(b'{"a": [1, {}]}')
    3
    """
    return count_bytes(data, b"[{")


def _may_be_crowded(data: bytes) -> bool:
    """Whether one of the lines may hold too many lists and objects."""
    return _inner(data) > MAX_INNER and max(map(len, data.split(b"\n"))) > MAX_INNER


def _thinned(block: Block, inner: int) -> Iterator[Block]:
    """The block, or parts of it where its lines are full of lists and objects, of which there are so many."""
    if inner <= 4 * MAX_INNER:
        yield block
        return
    line, held, size = block.line, list[bytes](), 0
    for one in io.BytesIO(block.data):
        held.append(one)
        size += len(one)
        if size > _THIN:
            yield Block(b"".join(held), len(held), line, block.done)
            line, held, size = line + len(held), [], 0
    if held:
        yield Block(b"".join(held), len(held), line, block.done)


def _opens_array(line: bytes) -> bool:
    """Whether an array begins here that other lines go on with: its last object may stand alone on a line."""
    if not line.lstrip().startswith(b"["):
        return False
    try:
        msgspec.json.decode(line)
    except _REFUSED:
        return True
    return False


def _without_late_lists(
    lines: Sequence[int], rows: list[dict[str, Json]], single: list[str], book: tuple[File, Ledger]
) -> tuple[Sequence[int], list[dict[str, Json]]]:
    """The rows without those that hold a list where the first lines had one value: a label would turn into JSON."""
    bad = {i: name for name in single for i, row in enumerate(rows) if isinstance(row.get(name), list)}
    if not bad:
        return lines, rows
    file, ledger = book
    for i in sorted(bad):
        why = f"a list in column {bad[i]!r}, which held single values in the first lines"
        ledger.reject(f"{file.name}, line {lines[i]}", why, "with label= and label_kind='many' labels may be lists")
    keep = [i for i in range(len(rows)) if i not in bad]
    return [lines[i] for i in keep], [rows[i] for i in keep]


def _kind(before: pa.DataType | None, value: Json) -> pa.DataType:
    """The type of a column with one more value."""
    if value is None and before is not None:
        return before
    if not isinstance(value, list):
        return pa.null() if value is None else MANY if before is not None and is_list(before) else pa.string()
    found = _inferred([value])
    if found is None or not is_vector(found.type) or before == pa.string():
        return MANY
    return found.type if before is None or before == pa.null() else _wider(before, found.type)


def _settled(kind: pa.DataType, is_label: bool) -> pa.DataType:
    """The type of a column, all of whose values were looked at: labels are text."""
    return MANY if is_label and is_list(kind) else kind if is_list(kind) else pa.string()


def _wider(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """Lists of whole numbers among lists of numbers are lists of numbers; others have nothing in common but text."""
    if is_list(a) and is_list(b):
        inner = _wider(a.value_type, b.value_type)
        return MANY if inner == MANY else pa.list_(inner)
    return MANY if is_list(a) or is_list(b) else a if a == b else pa.float64()


def _inferred(values: list[Json]) -> pa.Array | None:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return None


def _numbers(values: list[Json], kind: pa.DataType) -> pa.Array | None:
    """Lists of numbers; None where some hold others. Given `kind`, pyarrow would cut fractions off."""
    found = _inferred(values)
    if found is None or not is_vector(found.type):
        return pa.nulls(len(values), kind) if found is not None and pa.types.is_null(found.type) else None
    return found if found.type == kind or _wider(found.type, kind) != kind else found.cast(kind)


def _column(values: list[Json], kind: pa.DataType) -> pa.Array:
    if is_list(kind):
        found = None if kind == MANY else _numbers(values, kind)
        return (
            pa.array([None if value is None else _texts(value) for value in values], MANY) if found is None else found
        )
    return pa.array([as_cell(value) for value in values], kind)


def _of_texts(values: list[Json], kind: pa.DataType) -> pa.Array | None:
    """A column of lists, or of texts; None where other cells must first be turned into text."""
    if is_list(kind):
        return _column(values, kind)
    try:
        return text_column(values, kind)
    except (TypeError, UnicodeEncodeError):
        return None


def _texts(value: Json) -> list[str | None]:
    return [as_cell(item) for item in (value if isinstance(value, list) else [value])]
