"""libsvm / svmlight lines: `label[,label] [qid:group] index:value index:value ... # comment`; features, no text."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import field

import numpy as np
import pyarrow as pa

from linnaeus.data.arrow import ENTRIES, MANY
from linnaeus.data.formats import Chunk, Format
from linnaeus.data.formats.lines import Block, blocks, sample
from linnaeus.data.ledger import Ledger
from linnaeus.data.roles import FIXED
from linnaeus.data.streams import File
from linnaeus.frozen import dataclass
from linnaeus.types import Doubles, Longs, offsets_of

_REMEDY = "write 'label index:value index:value ...' with whole indices from 0 to 2147483647"


class LibSvm(Format):
    """Labels stay as they are written; indices are those of the file, whether it counts from 0 or from 1."""

    def schema(self, file: File) -> pa.Schema:
        """The columns `features` and `label`, and `group` where lines have a qid."""
        first = [line.split(b"#")[0].split() for line in sample(file, self.options)]
        commas = any(words and b"," in words[0] for words in first)
        many = commas if self.options.label_kind is None else self.options.label_kind == "many"
        found = [("features", ENTRIES), ("label", MANY if many else pa.string())]
        if any(len(words) > 1 and words[1].startswith(b"qid:") for words in first):
            found.append(("group", pa.string()))
        return pa.schema(found, FIXED)

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """The lines, a block at a time."""
        many = self.schema(file).field("label").type == MANY
        for block in blocks(file, self.options):
            rows = _split(block)
            try:
                entries, counts = _entries(rows.rests)
            except ValueError:
                rows = _good(rows, file, ledger)
                entries, counts = _entries(rows.rests)
            labels = pa.array([label.split(",") for label in rows.labels] if many else rows.labels)
            made = {"features": _lists(entries, counts), "label": labels, "group": pa.array(rows.groups, pa.string())}
            table = pa.RecordBatch.from_arrays([made[name] for name in columns], names=list(columns))
            yield Chunk(table, rows.lines, block.done)


@dataclass(frozen=True, slots=True)
class _Rows:
    lines: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    groups: list[str | None] = field(default_factory=list)
    rests: list[bytes] = field(default_factory=list)

    def add(self, line: int, label: str, group: str | None, rest: bytes) -> None:
        self.lines.append(line)
        self.labels.append(label)
        self.groups.append(group)
        self.rests.append(rest)


def _split(block: Block) -> _Rows:
    rows = _Rows()
    for number, line in enumerate(block.lines(), block.line):
        body = line.partition(b"#")[0].strip() if b"#" in line else line.strip()
        if not body:
            continue
        head, rest = _cut(body)
        if b":" in head:  # no label: the line begins with its features
            head, rest = b"", body
        group = None
        if rest.startswith(b"qid:"):
            mark, rest = _cut(rest)
            group = mark[4:].decode("utf-8", "replace")
        rows.add(number, head.decode("utf-8", "replace"), group, rest)
    return rows


def _cut(body: bytes) -> tuple[bytes, bytes]:
    """The first word, and what follows it; spaces and tabs are alike."""
    words = body.split(None, 1)
    return words[0], words[1] if len(words) > 1 else b""


def _good(rows: _Rows, file: File, ledger: Ledger) -> _Rows:
    """The rows that can be parsed one by one."""
    good = _Rows()
    for row in zip(rows.lines, rows.labels, rows.groups, rows.rests, strict=True):
        try:
            _entries([row[3]])
            good.add(*row)
        except ValueError as error:
            ledger.reject(f"{file.name}, line {row[0]}", f"not a libsvm line ({error})", _REMEDY)
    return good


def _entries(rests: list[bytes]) -> tuple[Doubles, Longs]:
    """All indices and values of these lines, (entries, 2), and how many each line has."""
    counts = np.array([rest.count(b":") for rest in rests], np.int64)
    joined = b" ".join(rests)
    if not joined.strip():  # which NumPy would take for a number
        return np.empty((0, 2)), counts
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy warns where it stops early
        try:
            numbers = np.fromstring(joined.replace(b":", b" ").decode("ascii"), np.float64, sep=" ")
        except (DeprecationWarning, ValueError) as error:
            raise ValueError("an index or a value is not a number") from error
    if len(numbers) != 2 * counts.sum() or len(joined.split()) != counts.sum():
        raise ValueError("a feature is not index:value")
    pairs = numbers.reshape(-1, 2)
    if ((pairs[:, 0] != np.floor(pairs[:, 0])) | (pairs[:, 0] < 0) | (pairs[:, 0] > 2**31 - 1)).any():
        raise ValueError("an index is out of range")
    return pairs, counts


def _lists(pairs: Doubles, counts: Longs) -> pa.Array:
    index, value = pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.float32)
    entries = pa.StructArray.from_arrays([pa.array(index), pa.array(value)], fields=list(ENTRIES.value_type))
    return pa.ListArray.from_arrays(pa.array(offsets_of(counts).astype(np.int32)), entries)
