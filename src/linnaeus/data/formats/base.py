"""What a format answers, and what it hands on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.ledger import Ledger
    from linnaeus.data.options import ReadOptions
    from linnaeus.data.streams import File


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows as the file has them, before roles: where each row stands, and the bytes of the file read so far."""

    table: pa.RecordBatch
    rows: Sequence[int]
    done: int


class Format(Protocol):
    """How files of one kind become Arrow columns: text as string, lists of labels as list<string>."""

    @property
    def loose(self) -> bool:
        """Whether files of one corpus may lack further columns that others have."""
        ...

    def schema(self, file: File) -> pa.Schema:
        """The columns, from a look at the beginning of the file."""
        ...

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """These columns of all rows, in constant memory; bad rows go to the ledger."""
        ...


class Maker(Protocol):
    """A format for these options: what the table of formats holds."""

    def __call__(self, options: ReadOptions) -> Format:
        """The format."""
        ...
