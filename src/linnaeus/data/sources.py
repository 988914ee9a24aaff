"""Where the batches of a corpus come from: held in memory, read from files, or a selection of another source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from linnaeus.data.batch import Batch
from linnaeus.data.ledger import Ledger, Skipped
from linnaeus.errors import DataError
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.formats.base import Format
    from linnaeus.data.shape import Shape
    from linnaeus.data.streams import File


class Source(Protocol):
    """Batches in order, as often as asked, each with the bytes read so far; start numbers are set by the corpus."""

    @property
    def size(self) -> int:
        """Bytes there are to read; 0 in memory."""
        ...

    def walk(self, ledger: Ledger) -> Iterator[tuple[Batch, int]]:
        """One walk over all rows."""
        ...


@dataclass(frozen=True, slots=True)
class Held:
    """Batches in memory; what was skipped when they were made."""

    held: tuple[Batch, ...]
    skipped: Skipped
    size: int = 0

    def walk(self, ledger: Ledger) -> Iterator[tuple[Batch, int]]:
        """The batches as they are."""
        for batch in self.held:
            yield batch, 0


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one format, one after the other. `owner` keeps a temporary folder alive."""

    files: tuple[File, ...]
    form: Format
    shape: Shape
    owner: Any = None

    @property
    def size(self) -> int:
        """Bytes of all files on disk."""
        return sum(file.size for file in self.files)

    @property
    def headed(self) -> bool:
        """Whether the rows stand below a header, and are counted after it."""
        return bool(getattr(self.form, "headed", False))

    def walk(self, ledger: Ledger) -> Iterator[tuple[Batch, int]]:
        """All rows; after a missing label the walk only counts the others."""
        before = rows = 0
        for file in self.files:
            for chunk in self.form.chunks(file, self.shape.columns, ledger):
                rows += len(chunk.rows)
                batch = self.shape.batch(file.name, chunk, ledger)
                if len(batch) and not ledger.unlabeled:
                    yield batch, before + chunk.done
            before += file.size
        ledger.close(rows)


@dataclass(frozen=True, slots=True)
class Selected:
    """Some rows of another source, in its order: `rows` ascend."""

    base: Source
    rows: NDArray[np.int64]

    @property
    def size(self) -> int:
        """Bytes of the whole source, which has to be read."""
        return self.base.size

    def walk(self, ledger: Ledger) -> Iterator[tuple[Batch, int]]:
        """The chosen rows of each batch."""
        first = found = 0
        for batch, done in self.base.walk(ledger):
            here = self.rows[slice(*np.searchsorted(self.rows, [first, first + len(batch)]))]
            if len(here) == len(batch):
                yield batch, done
            elif len(here):
                yield batch.take(here - first), done
            first, found = first + len(batch), found + len(here)
        if found < len(self.rows):
            raise DataError(f"row {self.rows[found]} is wanted but there are only {first}; did the files change?")


def hold(batches: Sequence[Batch], skipped: Skipped | None = None) -> Held:
    """These batches as a source."""
    return Held(tuple(batches), skipped or Skipped())
