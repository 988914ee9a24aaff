"""fastText files, `__label__spam buy now`, and files of one text per line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from linnaeus.data.cells import MANY
from linnaeus.data.formats.base import Chunk
from linnaeus.data.formats.lines import Block, blocks, column, sample
from linnaeus.data.formats.utf8 import readable
from linnaeus.data.roles import FIXED
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.ledger import Ledger
    from linnaeus.data.options import ReadOptions
    from linnaeus.data.streams import File

PREFIX = b"__label__"
_LABEL = re.compile(rb"(?:(?<=\s)|^)__label__(\S+)\s?")


@dataclass(frozen=True, slots=True)
class Lines:
    """One text per line, no labels. Blank lines are empty texts, so that answers stay in step with lines."""

    options: ReadOptions
    loose: ClassVar[bool] = False

    def schema(self, file: File) -> pa.Schema:
        """The column `text`."""
        sample(file, self.options)
        return pa.schema([("text", pa.string())], FIXED)

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """The lines, a block at a time."""
        for block in blocks(file, self.options):
            lines = block.lines()
            table = pa.RecordBatch.from_arrays([column(lines)], names=["text"])
            numbers = range(block.line, block.line + len(lines))
            yield readable(_chosen(Chunk(table, numbers, block.done), columns), file, self.options, ledger)


@dataclass(frozen=True, slots=True)
class FastText:
    """Words that begin with `__label__` are labels, the rest of the line is the text. Blank lines are left out."""

    options: ReadOptions
    loose: ClassVar[bool] = False

    def schema(self, file: File) -> pa.Schema:
        """The columns `text` and `label`; labels are lists where one of the first lines has several."""
        several = any(len(_LABEL.findall(line)) > 1 for line in sample(file, self.options))
        many = several if self.options.label_kind is None else self.options.label_kind == "many"
        return pa.schema([("text", pa.string()), ("label", MANY if many else pa.string())], FIXED)

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """The lines, a block at a time."""
        many = self.schema(file).field("label").type == MANY
        for block in blocks(file, self.options):
            chunk = _many(block) if many else _one(block, file, ledger)
            yield readable(_chosen(chunk, columns), file, self.options, ledger)


def _parsed(block: Block) -> tuple[list[int], list[bytes], list[list[bytes]]]:
    numbers, texts, labels = [], [], []
    for number, line in enumerate(block.lines(), block.line):
        if line.strip():
            numbers.append(number)
            found = _LABEL.findall(line) if PREFIX in line else []
            labels.append(found)
            texts.append(_LABEL.sub(b"", line).strip() if found else line)
    return numbers, texts, labels


def _many(block: Block) -> Chunk:
    numbers, texts, labels = _parsed(block)
    columns = [pa.array(texts, pa.binary()), pa.array(labels, pa.list_(pa.binary()))]
    return Chunk(pa.RecordBatch.from_arrays(columns, names=["text", "label"]), numbers, block.done)


def _one(block: Block, file: File, ledger: Ledger) -> Chunk:
    numbers, texts, labels = _parsed(block)
    keep = []
    for i, found in enumerate(labels):
        if len(found) < 2:
            keep.append(i)
        else:
            why = f"{len(found)} labels where the first lines have one"
            ledger.reject(f"{file.name}, line {numbers[i]}", why, "allow several with label_kind='many'")
    columns = [
        pa.array([texts[i] for i in keep], pa.binary()),
        pa.array([labels[i][0] if labels[i] else None for i in keep], pa.binary()),
    ]
    return Chunk(pa.RecordBatch.from_arrays(columns, names=["text", "label"]), [numbers[i] for i in keep], block.done)


def _chosen(chunk: Chunk, columns: Sequence[str]) -> Chunk:
    return Chunk(chunk.table.select(list(columns)), chunk.rows, chunk.done)
