"""Looking into batches: their texts, one column, and pieces of a fixed size.

Sums of fractions depend on where they are cut. Whoever learns from such sums walks over `pieces`, whose cut is always
the same, so that a stream in batches of any size teaches the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from linnaeus.data.batch import Batch, join
from linnaeus.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

    from linnaeus.protocols import Stream

PIECE = 8192


def text(batch: Batch, piece: str) -> pa.Array:
    """The texts as they lie, for the named extractor that reads them."""
    if batch.text is None:
        raise DataError(f"{piece} needs texts, but the rows have none; name the column with text=...")
    return batch.text


def texts(batch: Batch, piece: str) -> list[str]:
    """The texts as Python strings, for the named extractor that reads them."""
    strings: list[str] = text(batch, piece).to_pylist()
    return strings


def column(batch: Batch, name: str, piece: str) -> pa.Array:
    """One further column of the rows, for the named extractor that reads it."""
    if name not in batch.columns:
        there = ", ".join(repr(known) for known in batch.columns) or "none"
        raise DataError(f"{piece} needs the column {name!r}, which the rows do not have; further columns: {there}.")
    return batch.columns[name]


def pieces(stream: Stream, size: int = PIECE) -> Iterator[Batch]:
    """The same rows in batches of exactly `size` (the last may be smaller), however the stream is cut."""
    waiting: list[Batch] = []
    count = 0
    for batch in stream.batches():
        at = 0
        while at < len(batch):
            step = min(len(batch) - at, size - count)
            waiting.append(batch.slice(at, step))
            at, count = at + step, count + step
            if count == size:
                yield join(waiting)
                waiting, count = [], 0
    if waiting:
        yield join(waiting)
