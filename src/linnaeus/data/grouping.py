"""Files and tables of examples with candidates: a row for each example with lists, or a row for each candidate."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from linnaeus.data.groups import Groups, gold_of
from linnaeus.data.memory import refuse_half_pairs
from linnaeus.errors import DataError, InputTypeError, UsageError, said
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.types import Longs

TEXTS = ("text", "mention", "question", "query", "sentence", "context")
CANDIDATES = ("candidates", "choices", "options", "endings")
ANSWERS = ("answer", "gold", "label", "correct", "target")
"""Names that are taken for what they say where nothing else is named, in this order."""


@dataclass(frozen=True, kw_only=True)
class GroupRoles:
    """Which column holds what; None: the first of the usual names that is there; answer='': read no answers.

    With `group` the table has a row for each candidate: rows with the same value there, one after the other or not, are
    one example, `candidates` names the candidate's column, and the answer's says whether it is right.
    """

    text: str | None = None
    candidates: str | None = None
    answer: str | None = None
    group: str | None = None
    weight: str | None = None
    cost: str | None = None


def read_groups(source: Any, roles: GroupRoles | None = None) -> Groups:
    """Examples with candidates from a file (Parquet, JSONL, CSV, TSV), an Arrow table, a data frame or dicts.

    Lists beside the candidates that are as long as these are their details; where candidates are objects, `text` (or
    `name`, `title`) is the candidate and the other entries are details.

    >>> found = read_groups([{"text": "2 + 2", "candidates": ["3", "4"], "answer": "4", "doc": 7}])
    >>> found.answers().tolist(), list(found.columns)
    ([1], ['doc'])
    """
    roles = roles or GroupRoles()
    table = _table(source)
    where = f"{source}: " if isinstance(source, str | os.PathLike) else ""
    try:
        return _long(table, roles) if roles.group is not None else _listed(table, roles)
    except DataError as error:
        raise DataError(f"{where}{error}") from error


def _table(source: Any) -> pa.Table:
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, str | os.PathLike):
        return _file(Path(source))
    if isinstance(source, Sequence) and all(isinstance(row, Mapping) for row in source):
        return _rows(source)
    if hasattr(source, "to_dict") and hasattr(source, "columns"):
        return pa.Table.from_pandas(source, preserve_index=False)
    if hasattr(source, "to_arrow"):
        found: pa.Table = source.to_arrow()
        return found
    raise InputTypeError(f"Groups are read from a file, a table or a list of dicts, not {type(source).__name__}.")


def _file(path: Path) -> pa.Table:
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet as pq

            return pq.read_table(path)
        if path.suffix in (".csv", ".tsv"):
            return _delimited(path)
        return _rows(_objects(path))
    except OSError as error:
        raise DataError(f"Cannot read {path}: {said(error.strerror or error)}.") from error
    except pa.ArrowInvalid as error:
        raise DataError(f"Cannot read {path}: {said(error)}.") from error


def _delimited(path: Path) -> pa.Table:
    from pyarrow import csv

    with path.open("rb") as file:
        names = csv.open_csv(file, parse_options=csv.ParseOptions(delimiter=_mark(path))).schema.names
    kinds = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    options = csv.ParseOptions(delimiter=_mark(path), newlines_in_values=True)
    return csv.read_csv(path, parse_options=options, convert_options=kinds)


def _mark(path: Path) -> str:
    return "\t" if path.suffix == ".tsv" else ","


def _objects(path: Path) -> list[dict[str, Any]]:
    import msgspec

    found = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            raise DataError(f"{path}, line {number}: this is not JSON ({said(error)}).") from error
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}: a JSON object is wanted, such as {{'text': ...}}.")
        found.append(row)
    return found


def _rows(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A table whose answers stay as they are: places, words and lists of these do not go into one column."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {}
    for name in names:
        values = [row.get(name) for row in rows]
        try:
            columns[name] = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            columns[name] = pa.array([_spelled(value) for value in values])
        except UnicodeEncodeError:
            refuse_half_pairs(values, f"the column {name!r}")
            raise
    return pa.table(columns)


def _spelled(value: Any) -> Any:
    """A value among others of another kind: a list of strings, where numbers are places marked as such."""
    values = value if isinstance(value, list) else [] if value is None else [value]
    return [f"\0{one}" if isinstance(one, int) else str(one) for one in values]


def _named(table: pa.Table, given: str | None, usual: tuple[str, ...], what: str) -> str | None:
    if given == "":
        return None
    if given is not None and given not in table.column_names:
        raise UsageError(f"There is no column {given!r} for the {what}; there are {', '.join(table.column_names)}.")
    return given or next((name for name in usual if name in table.column_names), None)


def _needed(table: pa.Table, given: str | None, usual: tuple[str, ...], what: str) -> str:
    found = _named(table, given, usual, what)
    if found is None:
        there = f"name one of {', '.join(table.column_names)}" if table.column_names else "there is no example at all"
        raise DataError(f"No column holds the {what}; {there}.")
    return found


def _column(table: pa.Table, name: str) -> pa.Array:
    found = table.column(name).combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found


def _listed(table: pa.Table, roles: GroupRoles) -> Groups:
    name = _needed(table, roles.candidates, CANDIDATES, "candidates")
    lists = _column(table, name)
    if not (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)):
        raise DataError(f"The column {name!r} holds {lists.type}, not lists of candidates.")
    offsets, flat = _flat(lists)
    flat, details = _described(flat)
    _no_nulls(flat, "candidate", offsets)
    text = _needed(table, roles.text, TEXTS, "text")
    answer = _named(table, roles.answer, ANSWERS, "answer")
    columns = {}
    for other in table.column_names:
        if other in (name, text, answer, roles.weight, roles.cost):
            continue
        values = _column(table, other)
        if pa.types.is_list(values.type) and np.array_equal(_flat(values)[0], offsets):
            details[other] = _flat(values)[1]
        else:
            columns[other] = values
    gold = None if answer is None else _gold(_column(table, answer), offsets, flat)
    costs = None if roles.cost is None else _numbers(_flat(_column(table, roles.cost))[1], "costs")
    weights = None if roles.weight is None else _numbers(_column(table, roles.weight), "weights")
    texts = _no_nulls(_texts(_column(table, text), text), "text")
    return Groups(offsets, texts, flat, gold, columns, details, costs, weights)


def _flat(lists: pa.Array) -> tuple[Longs, pa.Array]:
    counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets, lists.flatten()


def _described(flat: pa.Array) -> tuple[pa.Array, dict[str, pa.Array]]:
    """The candidates' own words, and what else stands in their objects."""
    if not pa.types.is_struct(flat.type):
        return pc.utf8_ltrim(_texts(flat, "candidates"), "\0"), {}  # numbers among words were marked as places
    names = [one.name for one in flat.type]
    own = next((name for name in ("text", "name", "title", "candidate") if name in names), None)
    if own is None:
        raise DataError(f"Candidates that are objects need an entry 'text', but these have {', '.join(names)}.")
    return _texts(pc.struct_field(flat, own), own), {n: pc.struct_field(flat, n) for n in names if n != own}


def _texts(values: pa.Array, name: str) -> pa.Array:
    if pa.types.is_nested(values.type):
        raise DataError(f"The column {name!r} holds {values.type}, not texts.")
    return values.cast(pa.string())


def _no_nulls(values: pa.Array, what: str, offsets: Longs | None = None) -> pa.Array:
    """The values, none of which is null; offsets say which example a candidate belongs to."""
    if values.null_count:
        at = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        row = at if offsets is None else int(np.searchsorted(offsets, at, "right")) - 1
        raise DataError(f"Row {row + 1}: a {what} is null; leave it out, or write what stands there.")
    return values


def _numbers(values: pa.Array, what: str) -> Any:
    try:
        found = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid as error:
        raise DataError(f"The {what} are numbers, but: {said(error)}.") from error
    if not (np.isfinite(found).all() and (found >= 0).all()):
        raise DataError(f"The {what} are numbers from 0 up; one of them is missing, negative or infinite.")
    return found


def _gold(answers: pa.Array, offsets: Longs, flat: pa.Array) -> Any:
    words = flat.to_pylist()
    values = answers.to_pylist()
    if pa.types.is_list(answers.type) and pa.types.is_string(answers.type.value_type):
        values = [[int(one[1:]) if one[:1] == "\0" else one for one in some] for some in values]
    return gold_of(values, offsets, words)


def _long(table: pa.Table, roles: GroupRoles) -> Groups:
    """A row for each candidate: examples in the order in which they first stand, candidates as they follow."""
    key = _column(table, _needed(table, roles.group, (), "group")).dictionary_encode().indices.to_numpy()
    order = np.argsort(key, kind="stable")
    table = table.take(pa.array(order))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(key))]).astype(np.int64)
    name = _needed(table, roles.candidates, ("candidate", *CANDIDATES), "candidates")
    text = _needed(table, roles.text, TEXTS, "text")
    answer = _named(table, roles.answer, ANSWERS, "answer")
    first = pa.array(offsets[:-1])
    columns, details = {}, {}
    for other in table.column_names:
        if other not in (name, text, answer, roles.weight, roles.cost):
            values = _column(table, other)
            details[other] = values
            if _constant(values, key[order]):
                columns[other] = details.pop(other).take(first)
    gold = None if answer is None else _flags(_column(table, answer))
    costs = None if roles.cost is None else _numbers(_column(table, roles.cost), "costs")
    weights = None if roles.weight is None else _numbers(_column(table, roles.weight).take(first), "weights")
    texts = _no_nulls(_texts(_column(table, text), text).take(first), "text")
    words = _no_nulls(_texts(_column(table, name), name), "candidate", offsets)
    return Groups(offsets, texts, words, gold, columns, details, costs, weights)


def _constant(values: pa.Array, key: Any) -> bool:
    """Whether a column has one value in each group."""
    codes = values.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return bool(((codes[1:] == codes[:-1]) | (key[1:] != key[:-1])).all())


TRUE = frozenset(("1", "true", "yes", "y", "1.0"))
FALSE = frozenset(("0", "false", "no", "n", "0.0", ""))


def _flags(values: pa.Array) -> Any:
    words = [str(value).lower() if value is not None else "" for value in values.to_pylist()]
    bad = next((word for word in words if word not in TRUE | FALSE), None)
    if bad is not None:
        raise DataError(f"Whether a candidate is right is said by 1 or 0, true or false, not {bad!r}.")
    return np.array([word in TRUE for word in words], bool)
