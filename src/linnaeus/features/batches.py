"""What extractors read: texts of any kind as batches, columns of a batch, and batches of a fixed size.

Sums of fractions depend on where they are cut. Whoever learns from such sums reads `pieces`, which are cut at the same
rows however the stream is cut, so that batches of any size give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

import numpy as np
import pyarrow as pa

from linnaeus.data.batch import Batch, join
from linnaeus.errors import DataError, InputTypeError
from linnaeus.protocols import Stream
from linnaeus.text.buffers import as_arrow, from_strings
from linnaeus.types import Source

_WANTED = "a list of strings, or a NumPy, Arrow, pandas or polars column of strings"


def text_batches(source: Source) -> tuple[Batch, ...]:
    """One batch for each piece of memory the texts lie in; text that is Arrow already is not copied."""
    batches, start = [], 0
    for chunk in _chunks(source):
        if chunk.null_count:
            row = start + chunk.is_null().index(pa.scalar(True)).as_py()
            raise DataError(f"texts[{row}] is missing (None or null); drop the row, or use an empty string.")
        batches.append(Batch(text=chunk, start=start))
        start += len(chunk)
    return tuple(batches)


def _chunks(source: Source) -> list[pa.Array]:
    _refuse(source)
    if isinstance(source, pa.Array):
        return [_strings(source)]
    if isinstance(source, pa.ChunkedArray):
        return [_strings(chunk) for chunk in source.chunks]
    # A pandas column of type object may hold anything; its Arrow export fails without naming the row.
    if hasattr(source, "__arrow_c_stream__") and str(getattr(source, "dtype", "")) != "object":
        return [_strings(chunk) for chunk in pa.chunked_array(source).chunks]
    if isinstance(source, np.ndarray) and source.ndim != 1:
        raise InputTypeError(f"An array of {source.ndim} dimensions was given instead of a column of texts.")
    return [_from_python(source.tolist() if isinstance(source, np.ndarray) else list(source))]


def _refuse(source: Source) -> None:
    """What is no column of texts, each with the way out."""
    if isinstance(source, str):
        raise InputTypeError("A single string was given instead of a list of texts; wrap it in a list: [text].")
    if isinstance(source, bytes | bytearray | memoryview):
        raise InputTypeError("Bytes were given instead of texts; decode them: [data.decode('utf-8')].")
    if hasattr(source, "column_names") or hasattr(source, "columns"):
        raise InputTypeError("A table was given instead of a column of texts; use linnaeus.read(table, text=...).")
    if isinstance(source, Mapping | Set) or not isinstance(source, Iterable):
        raise InputTypeError(f"{type(source).__name__} was given instead of texts: give {_WANTED}.")


def _strings(array: pa.Array) -> pa.Array:
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _strings(array.dictionary).take(array.indices)
    if pa.types.is_string_view(kind) or pa.types.is_null(kind):
        return array.cast(pa.large_string())
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise InputTypeError(f"A column of type {kind} was given instead of texts: give {_WANTED}.")
    return array


def _from_python(texts: list[str]) -> pa.Array:
    try:
        return as_arrow(from_strings(texts))
    except TypeError:
        row, text = next((i, t) for i, t in enumerate(texts) if not isinstance(t, str))
        if text is None or type(text).__name__ == "NAType" or (isinstance(text, float) and text != text):
            raise DataError(f"texts[{row}] is missing ({text}); drop the row, or use an empty string.") from None
        raise InputTypeError(f"texts[{row}] is of type {type(text).__name__}, not a string; give {_WANTED}.") from None
    except UnicodeEncodeError as error:
        row = next(i for i, t in enumerate(texts) if t == error.object)
        raise DataError(
            f"texts[{row}] holds half of a surrogate pair at character {error.start}, which is not valid Unicode; "
            "decode its source again, as UTF-8 or UTF-16."
        ) from error


PIECE = 8192
NO_TEXTS = "but the rows have none; name the column with text=..., or use Vectors(...)."


def text(batch: Batch, piece: str) -> pa.Array:
    """The texts as they lie, for the named extractor that reads them."""
    if batch.text is None:
        raise DataError(f"{piece} needs texts, {NO_TEXTS}")
    return batch.text


def texts(batch: Batch, piece: str) -> list[str]:
    """The texts as Python strings, for the named extractor that reads them."""
    return text(batch, piece).to_pylist()


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
