"""Data that a command names, as the task reads them: in pieces, watched, any number of times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Generic, TypeVar

from linnaeus.data.ledger import Progress, Skipped
from linnaeus.data.options import FileOptions
from linnaeus.data.sentence_reading import columns_of
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.tasks.base import Given
from linnaeus.types import Json

Piece = TypeVar("Piece")


def file_options(given: Given) -> dict[str, Json]:
    """The arguments that are about files, whatever is in them."""
    return {name: given[name] for name in FileOptions.__annotations__ if name in given}


def refuse_roles(given: Given, names: tuple[str, ...], models: str) -> None:
    """Refuse arguments about columns and labels that mean nothing for the data of these models."""
    for name in names:
        if given.get(name):
            raise UsageError(f"The data of {models} have no {name.replace('_', ' ')} to name; leave out {name}=.")


def with_usual(data: str, given: Given, usual: Given) -> dict[str, Json]:
    """The arguments that were given, and the usual columns that the data have."""
    if not usual or data == "-":  # standard input can be read once
        return dict(given)
    there = columns_of(data, **file_options(given))
    return {**{role: name for role, name in usual.items() if name in there}, **given}


@dataclass(frozen=True)
class Pieces(Generic[Piece]):
    """Pieces that are made anew at each walk; `watcher` is told how many examples there were so far."""

    make: Callable[[], Iterator[Piece]]
    watcher: Callable[[Progress], None] | None = None
    skipped: Skipped = Skipped()

    columns: tuple[str, ...] = ()

    def batches(self) -> Iterator[Piece]:
        """The pieces in order."""
        rows = 0
        for piece in self.make():
            yield piece
            rows += len(piece)  # type: ignore[arg-type]
            if self.watcher is not None:
                self.watcher(Progress(rows, 0, 0))

    def watch(self, watcher: Callable[[Progress], None] | None) -> Pieces[Piece]:
        """The same, watched."""
        return replace(self, watcher=watcher)
