"""Formats: how files of each kind become Arrow columns, in constant memory.

A format answers two questions (`Format`): which columns the file has, and its rows as chunks of raw columns. Roles,
labels and missing cells are not its business: `roles.py` sees to them, for all formats in the same way.

To add a format: one file with a class that derives from `Format`, one row in `FORMATS`, its suffixes in `SUFFIXES`, one
test.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from linnaeus.frozen import dataclass
from linnaeus.lazy import Table

if TYPE_CHECKING:
    import pyarrow as pa

    from linnaeus.data.ledger import Ledger
    from linnaeus.data.options import ReadOptions
    from linnaeus.data.streams import File


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows as the file has them, before roles: where each row stands, and the bytes of the file read so far."""

    table: pa.RecordBatch
    rows: Sequence[int]
    done: int


class Format(ABC):
    """How files of one kind become Arrow columns: text as string, lists of labels as list<string>.

    `loose` says whether files of one corpus may lack further columns that others have, `counted` what the numbers of
    its rows count.
    """

    loose: ClassVar[bool] = False
    counted: ClassVar[str] = "row"

    def __init__(self, options: ReadOptions) -> None:
        self.options = options

    @property
    def headed(self) -> bool:
        """Whether the rows stand below a header, and are counted after it."""
        return False

    @abstractmethod
    def schema(self, file: File) -> pa.Schema:
        """The columns, from a look at the beginning of the file."""

    @abstractmethod
    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """These columns of all rows, in constant memory; bad rows go to the ledger."""


FORMATS: Mapping[str, type[Format]] = Table(
    "linnaeus.data.formats",
    {
        "csv": "delimited.Delimited",
        "tsv": "delimited.Tabbed",
        "jsonl": "jsonl.JsonLines",
        "parquet": "columnar.Parquet",
        "arrow": "columnar.ArrowFile",
        "fasttext": "lines.FastText",
        "lines": "lines.Lines",
        "libsvm": "libsvm.LibSvm",
        "folder": "lines.Folder",
        "conll": "conll.Conll",
        "conllu": "conll.ConllU",
    },
)
"""How files of each format are read."""

SUFFIXES: dict[str, str] = {
    suffix: name
    for name, suffixes in {
        "csv": ".csv",
        "tsv": ".tsv .tab",
        "jsonl": ".jsonl .ndjson .json",
        "parquet": ".parquet .pq",
        "arrow": ".feather .arrow .arrows .ipc",
        "fasttext": ".ft .fasttext",
        "lines": ".txt",
        "libsvm": ".svm .libsvm .svmlight",
        "conll": ".conll .iob .iob2 .bio",
        "conllu": ".conllu",
    }.items()
    for suffix in suffixes.split()
}
"""The format that each suffix of a file name tells."""

LABEL_PREFIX = b"__label__"
"""What marks a label in fastText files."""
