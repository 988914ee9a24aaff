"""Files of one token per line with blank lines between sentences: CoNLL columns, and CoNLL-U.

A row is a sentence: every column is a list of strings, and `doc`, where the file marks documents, a string.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

import pyarrow as pa

from linnaeus.data.arrow import MANY
from linnaeus.data.formats import Chunk, Format
from linnaeus.data.formats.lines import blocks, decoded
from linnaeus.data.ledger import Ledger
from linnaeus.data.streams import File
from linnaeus.errors import DataError
from linnaeus.frozen import dataclass

DOC = "doc"
MARK = "-DOCSTART-"
NAMES = {1: ("tokens",), 2: ("tokens", "tags"), 3: ("tokens", "pos", "chunk"), 4: ("tokens", "pos", "chunk", "ner")}
"""The columns of files with so many: those of the shared tasks of 2000 and 2003."""

UNIVERSAL = ("id", "tokens", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_REMEDY = "give every token of the file the same number of columns"


@dataclass(slots=True)
class _Sentence:
    """The lines of one sentence so far, split, and the number of its first line."""

    cells: list[list[str]]
    line: int
    doc: str | None


class _Lines(Format):
    """A format of lines with a token each; a subclass says what its lines hold."""

    counted: ClassVar[str] = "line"

    def schema(self, file: File) -> pa.Schema:
        """A list of strings for each column, and the document."""
        names = self.columns(file)
        twice = next((name for name in names if names.count(name) > 1 or name == DOC), None)
        if twice:
            raise DataError(f"{file.name}: two columns would be {twice!r}; give each a name of its own with names=.")
        return pa.schema([*((name, MANY) for name in names), (DOC, pa.string())])

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """The sentences of one block of lines after the other."""
        names = self.columns(file)
        held, documents, done = _Sentence([], 0, None), 0, 0
        for block in blocks(file, self.options):
            found: list[_Sentence] = []
            for number, line in enumerate(decoded(block, file, self.options), block.line):
                opens, blank = self.opens(line), not line.strip()
                documents += opens
                if opens or blank:
                    found += [held] if held.cells else []
                    held = _Sentence([], 0, None)
                cells = None if blank else self.split(line)
                if cells is not None and len(cells) != len(names):
                    why = f"{len(cells)} columns where {len(names)} are wanted"
                    ledger.reject(f"{file.name}, line {number}", why, _REMEDY)
                elif cells is not None:
                    held = held if held.cells else _Sentence([], number, str(documents) if documents else None)
                    held.cells.append(cells)
            done = block.done
            yield _chunk(found, names, columns, done)
        if held.cells:
            yield _chunk([held], names, columns, done)

    @abstractmethod
    def columns(self, file: File) -> tuple[str, ...]:
        """The name of each column of the file."""

    @abstractmethod
    def split(self, line: str) -> list[str] | None:
        """The cells of a line, none of a line that holds no token."""

    @abstractmethod
    def opens(self, line: str) -> bool:
        """Whether a document begins with this line."""


class Conll(_Lines):
    """Columns between tabs or spaces; the first is the token, `-DOCSTART-` opens a document."""

    def columns(self, file: File) -> tuple[str, ...]:
        """By `names=`, or by how many there are: 2 are tokens and tags, 3 and 4 those of the shared tasks."""
        for block in blocks(file, self.options):
            lines = (self.split(line) for line in decoded(block, file, self.options) if line.strip())
            cells = next((cells for cells in lines if cells), None)
            if cells:
                return self._named(file, len(cells))
        raise DataError(f"{file.name}: holds no token; give a file with one token per line.")

    def _named(self, file: File, count: int) -> tuple[str, ...]:
        given = self.options.names
        if given is None:
            middle = tuple(f"column{i}" for i in range(2, count))
            return NAMES.get(count, ("tokens", *middle, "tags"))
        if len(given) != count:
            raise DataError(f"{file.name}: has {count} columns, and names= gives {len(given)}; name each of them.")
        return tuple(given)

    def split(self, line: str) -> list[str] | None:
        """The cells; a line that opens a document has none."""
        if self.opens(line):
            return None
        return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()

    def opens(self, line: str) -> bool:
        """Whether it begins with -DOCSTART-."""
        return line.startswith(MARK)


class ConllU(_Lines):
    """Universal Dependencies: ten columns; ranges of words (1-2) and empty nodes (1.1) are left out."""

    def columns(self, file: File) -> tuple[str, ...]:
        """The ten of the format; FORM is `tokens`."""
        return UNIVERSAL

    def split(self, line: str) -> list[str] | None:
        """The cells; comments, ranges and empty nodes have none."""
        if line.startswith("#"):
            return None
        cells = line.rstrip("\r\n").split("\t")
        return None if len(cells) == len(UNIVERSAL) and not cells[0].isdigit() else cells

    def opens(self, line: str) -> bool:
        """Whether it says that a document begins."""
        return line.startswith("# newdoc")


def _chunk(sentences: list[_Sentence], names: tuple[str, ...], columns: Sequence[str], done: int) -> Chunk:
    made: list[pa.Array] = []
    for name in columns:
        if name == DOC:
            made.append(pa.array([sentence.doc for sentence in sentences], pa.string()))
        else:
            at = names.index(name)
            made.append(pa.array([[cells[at] for cells in one.cells] for one in sentences], MANY))
    return Chunk(pa.RecordBatch.from_arrays(made, names=list(columns)), [one.line for one in sentences], done)
