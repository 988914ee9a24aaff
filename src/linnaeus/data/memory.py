"""Data that is in memory already: Arrow and whatever speaks Arrow without a copy, and plain Python lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
import pyarrow as pa

from linnaeus.data.formats import Chunk
from linnaeus.data.roles import FIXED
from linnaeus.errors import DataError, InputTypeError, LinnaeusError, is_unicode, said
from linnaeus.types import Array, Source

_HUGGING_ROWS = 10_000
_HALF = "holds half a surrogate pair, not a character; correct it with text.encode('utf-8', 'replace').decode()."


MEMORY = "the data"
"""The name of data in memory in messages."""


def chunks(source: Source) -> Iterator[Chunk]:
    """The source as rows of Arrow columns, at least one chunk; a column alone is called `text`."""
    first = 1
    for table in _record_batches(source):
        yield Chunk(table, range(first, first + len(table)), 0)
        first += len(table)


def _record_batches(source: Source) -> list[pa.RecordBatch]:
    try:
        table = _table(source)
    except UnicodeEncodeError as error:  # of a column's name, or of a foreign table
        raise DataError(f"the data: {error.object!r} {_HALF}") from error
    except LinnaeusError:
        raise
    except (pa.ArrowTypeError, pa.ArrowNotImplementedError, ValueError) as error:
        raise DataError(
            f"the data: does not fit into columns of one type each ({said(error)}); make their cells alike, and give "
            "each column a name of its own."
        ) from error
    inner = [i for i, name in enumerate(table.column_names) if not name.startswith("__index_level_")]
    table = table.select(inner)
    return table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]


def _table(source: Source) -> pa.Table:
    if isinstance(source, (str, bytes)):
        raise InputTypeError(f"one {type(source).__name__} where a list of texts is wanted: put it in a list, [text].")
    if isinstance(source, pa.Table):
        return source
    if hasattr(source, "with_format") and hasattr(source, "iter"):
        return _hugging_face(source)
    if hasattr(source, "__arrow_c_stream__"):
        return _columns(pa.chunked_array(source))
    if hasattr(source, "__arrow_c_array__"):
        return _columns(pa.chunked_array([pa.array(source)]))
    if type(source).__module__.partition(".")[0] == "pandas":  # before it spoke Arrow
        return pa.Table.from_pandas(source.to_frame("text") if source.ndim == 1 else source)
    if isinstance(source, Mapping):
        return _from_mapping(source)
    if isinstance(source, Iterable):
        return _from_rows(source.tolist() if isinstance(source, np.ndarray) else list(source))
    raise InputTypeError(f"cannot read {type(source).__name__}; give a path, a list of texts, a table or a data frame.")


def _columns(column: pa.ChunkedArray) -> pa.Table:
    if pa.types.is_struct(column.type):
        batches = [pa.RecordBatch.from_struct_array(chunk) for chunk in column.chunks]
        return pa.Table.from_batches(batches, pa.schema(list(column.type)))
    return pa.table({"text": column}).replace_schema_metadata(FIXED)


def _hugging_face(source: Source) -> pa.Table:
    """A Hugging Face dataset, in its own order; numbers of classes become their names."""
    tables = list(source.with_format("arrow").iter(batch_size=_HUGGING_ROWS))
    if not tables:
        raise DataError("the data: the dataset has no rows.")
    table = pa.concat_tables([table if isinstance(table, pa.Table) else pa.table(table) for table in tables])
    for name, feature in (getattr(source, "features", None) or {}).items():
        if hasattr(feature, "int2str") and getattr(feature, "names", None):
            table = table.set_column(table.column_names.index(name), name, _named(table[name], feature.names))
    return table


def _named(numbers: pa.ChunkedArray, names: Sequence[str]) -> pa.ChunkedArray:
    found = [None if number is None or number < 0 else names[number] for number in numbers.to_pylist()]
    return pa.chunked_array([pa.array(found, pa.string())])


def _from_mapping(source: Mapping[str, Source]) -> pa.Table:
    if any(hasattr(value, "with_format") for value in source.values()):
        raise InputTypeError(f"this holds several datasets ({', '.join(source)}): read one of them, as data['train'].")
    for name, values in source.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
            raise InputTypeError(f"column {name!r} is one {type(values).__name__} where a list is wanted.")
    lengths = {name: len(values) for name, values in source.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"the data: the columns have different lengths: {lengths}.")
    return pa.table({str(name): _column(values) for name, values in source.items()})


def _from_rows(rows: list[Source]) -> pa.Table:
    """Texts, (text, label) pairs, or rows that are dicts, by the first of them."""
    first = next((row for row in rows if row is not None), "")
    if isinstance(first, str):
        _alike(rows, (str, type(None)), "texts")
        return pa.table({"text": _column(rows, pa.string())}).replace_schema_metadata(FIXED)
    if isinstance(first, Mapping):
        _alike(rows, (Mapping,), "dicts")
        names = dict.fromkeys(chain.from_iterable(rows))
        return pa.table({str(name): _column([row.get(name) for row in rows]) for name in names})
    if isinstance(first, (tuple, list)) and len(first) == 2 and isinstance(first[0], str):
        _alike(rows, (tuple, list), "(text, label) pairs")
        odd = next((i for i, row in enumerate(rows) if len(row) != 2), None)
        if odd is not None:
            raise InputTypeError(f"row {odd + 1} has {len(rows[odd])} parts where a (text, label) pair is wanted.")
        pairs = {"text": _column([row[0] for row in rows]), "label": _column([row[1] for row in rows])}
        return pa.table(pairs).replace_schema_metadata(FIXED)
    raise InputTypeError(f"cannot read a list of {type(first).__name__}; give texts, (text, label) pairs or dicts.")


def _alike(rows: list[Source], kinds: tuple[type, ...], what: str) -> None:
    odd = next((i for i, row in enumerate(rows) if not isinstance(row, kinds)), None)
    if odd is not None:
        raise InputTypeError(f"row {odd + 1} is {type(rows[odd]).__name__} in a list of {what}; make them alike.")


def refuse_half_pairs(values: Iterable[Source], where: str = MEMORY) -> None:
    """Refuse texts, or lists and dicts of such, of which one is no Unicode text; name the first row with one."""
    for row, value in enumerate(values, 1):
        odd = next((text for text in _strings_in(value) if not is_unicode(text)), None)
        if odd is not None:
            raise DataError(f"{where}, row {row}: {odd!r} {_HALF}")


def _strings_in(value: Source) -> Iterable[str]:
    """The strings of a cell."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from chain.from_iterable(map(_strings_in, chain.from_iterable(value.items())))
    elif isinstance(value, Iterable) and not isinstance(value, bytes):
        yield from chain.from_iterable(map(_strings_in, value))


def _vectors(values: Array) -> pa.Array:
    """An array of several dimensions as a column of vectors, or of lists of vectors."""
    made = pa.array(np.ascontiguousarray(values).reshape(-1))
    for size in values.shape[:0:-1]:
        made = pa.FixedSizeListArray.from_arrays(made, size)
    return made


def _column(values: Source, kind: pa.DataType | None = None) -> pa.ChunkedArray:
    """A list as an Arrow column; values of several kinds become text."""
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    if isinstance(values, np.ndarray) and values.ndim > 1:
        return pa.chunked_array([_vectors(values)])
    try:
        made = pa.array(values, kind)
    except UnicodeEncodeError:
        refuse_half_pairs(values)
        raise
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        cells = [None if value is None else str(value) for value in values]
        made = pa.array(cells, pa.string())
    return made if isinstance(made, pa.ChunkedArray) else pa.chunked_array([made])
