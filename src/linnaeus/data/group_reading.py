"""Files and tables of examples with candidates: a row for each example with lists, or a row for each candidate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, Unpack

import numpy as np
import pyarrow as pa

from linnaeus.data.arrow import as_cell, as_numbers, as_numpy, as_text, is_list, list_offsets, settled
from linnaeus.data.files import find, names_files
from linnaeus.data.formats import FORMATS, Format
from linnaeus.data.formats.jsonl import JsonLines
from linnaeus.data.groups import ANSWER, Groups, gold_of, gold_of_column, join, joined
from linnaeus.data.ledger import Ledger
from linnaeus.data.memory import chunks, refuse_half_pairs
from linnaeus.data.options import FileOptions, ReadOptions
from linnaeus.data.streams import File
from linnaeus.errors import DataError, UsageError, said
from linnaeus.frozen import dataclass
from linnaeus.types import Bools, Doubles, Json, Longs, Source, offsets_of

TEXTS = ("text", "mention", "question", "query", "sentence", "context")
CANDIDATES = ("candidates", "choices", "options", "endings")
ANSWERS = ("answer", "gold", "label", "correct", "target")
"""Names that are taken for what they say where nothing else is named, in this order."""

Columns: TypeAlias = dict[str, pa.Array | list[Json]]
"""Columns by name. One whose values are of several kinds stays a list: an answer may be a place or a candidate."""


@dataclass(frozen=True, kw_only=True)
class GroupRoles:
    """Which column holds what; None: the first of the usual names that is there; answer='': read no answers.

    With candidates='' candidates are not needed, because a model will propose them: the answer is the right one in
    words (or its place among the candidates, if these are there), and becomes the column `answer`.

    With `group` the table has a row for each candidate: rows with the same value there, one after the other or not, are
    one example, `candidates` names the candidate's column, and the answer's says whether it is right.
    """

    text: str | None = None
    candidates: str | None = None
    answer: str | None = None
    group: str | None = None
    weight: str | None = None
    cost: str | None = None


def read_groups(source: Source, roles: GroupRoles | None = None, **options: Unpack[FileOptions]) -> Groups:
    """Examples with candidates from a file (Parquet, JSONL, CSV, TSV), an Arrow table, a data frame or dicts.

    Lists beside the candidates that are as long as these are their details; where candidates are objects, `text` (or
    `name`, `title`) is the candidate and the other entries are details. Options are those of `read`.

    >>> found = read_groups([{"text": "2 + 2", "candidates": ["3", "4"], "answer": "4", "doc": 7}])
    >>> found.answers().tolist(), list(found.columns)
    ([1], ['doc'])
    """
    return join(list(stream_groups(source, roles, **options)))


def stream_groups(source: Source, roles: GroupRoles | None = None, **options: Unpack[FileOptions]) -> Iterator[Groups]:
    """The same in pieces of a few megabytes, in constant memory where a file has a row for each example; at least one.

    A row for each candidate is read into memory: the candidates of an example may stand anywhere.
    """
    roles = roles or GroupRoles()
    tables = _from_files(source, ReadOptions(**options)) if names_files(source) else _from_memory(source)
    if roles.group is not None:
        tables = _together(tables)
    for where, table, rows in tables:
        try:
            found = _read(table, roles, rows)
        except DataError as error:
            raise DataError(f"{where}: {error}" if where else str(error)) from error
        yield found


def _read(table: Columns, roles: GroupRoles, rows: Sequence[int]) -> Groups:
    """The examples of a table."""
    if roles.candidates == "":
        listed = roles.group is not None or any(name in table for name in CANDIDATES)
        return _read(table, replace(roles, candidates=None), rows).unlisted() if listed else _bare(table, roles, rows)
    return _long(table, roles) if roles.group is not None else _listed(table, roles, rows)


def _bare(table: Columns, roles: GroupRoles, rows: Sequence[int]) -> Groups:
    """A row for each example, without candidates."""
    text, answer = _needed(table, roles.text, TEXTS, "text"), _named(table, roles.answer, ANSWERS, "answer")
    columns = {name: _column(table, name) for name in table if name not in (text, answer, roles.weight)}
    if answer is not None:
        columns[ANSWER] = _texts(_column(table, answer), answer)
    weights = None if roles.weight is None else _numbers(_column(table, roles.weight), "weights")
    texts = _no_nulls(_texts(_column(table, text), text), "text", rows)
    none = pa.array([], pa.string())
    return Groups(np.zeros(len(texts) + 1, np.int64), texts, none, None, columns, weights=weights)


def _from_files(source: Source, options: ReadOptions) -> Iterator[tuple[str, Columns, Sequence[int]]]:
    """The name of the file, some rows of it, and where each stands; where there are no rows, the columns."""
    found, ledger, empty = find(source, options), Ledger(options.bad_rows), True
    form, table = FORMATS[found.format](options), Columns()
    for file in found.files:
        for table, rows in _chunks(form, file, ledger):
            if len(rows):
                yield file.name, table, rows
                empty = False
    if empty:
        yield found.files[0].name, table, []


def _chunks(form: Format, file: File, ledger: Ledger) -> Iterator[tuple[Columns, Sequence[int]]]:
    if isinstance(form, JsonLines):
        names: dict[str, None] = {}
        for lines, rows, _ in form.objects(file, ledger):
            names |= dict.fromkeys(name for row in rows for name in row)
            yield _columns(rows, names), lines
        return
    schema = form.schema(file)
    yield {entry.name: pa.array([], entry.type) for entry in schema}, []
    for chunk in form.chunks(file, schema.names, ledger):
        yield dict(zip(schema.names, chunk.table.columns, strict=True)), chunk.rows


def _from_memory(source: Source) -> Iterator[tuple[str, Columns, Sequence[int]]]:
    if isinstance(source, Sequence) and all(isinstance(row, Mapping) for row in source):
        yield "", _columns(source, dict.fromkeys(name for row in source for name in row)), range(1, len(source) + 1)
        return
    for chunk in chunks(source):
        yield "", dict(zip(chunk.table.schema.names, chunk.table.columns, strict=True)), chunk.rows


def _columns(rows: Sequence[Mapping[str, Json]], names: Iterable[str]) -> Columns:
    """Rows as columns of these names."""
    return {name: _typed([row.get(name) for row in rows], name) for name in names}


def _typed(values: list[Json], name: str) -> pa.Array | list[Json]:
    try:
        return pa.array(values)
    except UnicodeEncodeError:
        refuse_half_pairs(values, f"the column {name!r}")
        raise
    except (pa.ArrowException, OverflowError, ValueError, TypeError):
        return values


def _together(tables: Iterator[tuple[str, Columns, Sequence[int]]]) -> Iterator[tuple[str, Columns, Sequence[int]]]:
    """All rows as one table."""
    held = list(tables)
    names = dict.fromkeys(name for _, table, _ in held for name in table)
    whole: Columns = {}
    for name in names:
        parts = [table.get(name, [None] * len(rows)) for _, table, rows in held]
        whole[name] = joined([part if isinstance(part, pa.Array) else _array(part) for part in parts])
    yield held[0][0] if held else "", whole, [row for _, _, rows in held for row in rows]


def _named(table: Columns, given: str | None, usual: tuple[str, ...], what: str) -> str | None:
    if given == "":
        return None
    if given is not None and given not in table:
        raise UsageError(f"There is no column {given!r} for the {what}; there are {', '.join(table)}.")
    return given or next((name for name in usual if name in table), None)


def _needed(table: Columns, given: str | None, usual: tuple[str, ...], what: str) -> str:
    found = _named(table, given, usual, what)
    if found is None:
        there = f"name one of {', '.join(table)}" if table else "there are no examples"
        raise DataError(f"No column holds the {what}; {there}.")
    return found


def _column(table: Columns, name: str) -> pa.Array:
    """A column as Arrow; values of several kinds are text."""
    found = table[name]
    return settled(found) if isinstance(found, pa.Array) else _array(found)


def _array(values: list[Json]) -> pa.Array:
    return pa.array([as_cell(value) for value in values], pa.string())


def _values(table: Columns, name: str) -> list[Json]:
    """A column as Python's values."""
    found = table[name]
    try:
        return found if isinstance(found, list) else found.to_pylist()
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise DataError(f"The column {name!r} holds values out of range ({said(error)}).") from error


@dataclass(frozen=True)
class _Names:
    """The columns of the candidates, of the text, of the answer, and those without a role."""

    candidates: str
    text: str
    answer: str | None
    others: list[str]


def _names(table: Columns, roles: GroupRoles, candidates: tuple[str, ...]) -> _Names:
    name = _needed(table, roles.candidates, candidates, "candidates")
    text = _needed(table, roles.text, TEXTS, "text")
    answer = _named(table, roles.answer, ANSWERS, "answer")
    taken = (name, text, answer, roles.weight, roles.cost)
    return _Names(name, text, answer, [other for other in table if other not in taken])


def _listed(table: Columns, roles: GroupRoles, rows: Sequence[int]) -> Groups:
    names = _names(table, roles, CANDIDATES)
    offsets, flat, details = _candidates(table, names.candidates)
    _no_nulls(flat, "candidate", rows, offsets)
    columns = {}
    for other in names.others:
        values = _column(table, other)
        if is_list(values.type) and np.array_equal(list_offsets(values), offsets):
            details[other] = values.flatten()
        else:
            columns[other] = values
    gold = None if names.answer is None else _gold(table, names.answer, (offsets, flat), rows)
    costs = None if roles.cost is None else _numbers(_costs(table, roles.cost), "costs")
    weights = None if roles.weight is None else _numbers(_column(table, roles.weight), "weights")
    texts = _no_nulls(_texts(_column(table, names.text), names.text), "text", rows)
    return Groups(offsets, texts, flat, gold, columns, details, costs, weights)


def _gold(table: Columns, answer: str, candidates: tuple[Longs, pa.Array], rows: Sequence[int]) -> Bools:
    """Which candidates are right: by whole columns where all answers are places or words, else one by one."""
    offsets, flat = candidates
    found = None if isinstance(table[answer], list) else gold_of_column(_column(table, answer), offsets, flat)
    return gold_of(_values(table, answer), offsets, flat.to_pylist(), rows) if found is None else found


def _candidates(table: Columns, name: str) -> tuple[Longs, pa.Array, dict[str, pa.Array]]:
    """Where the candidates of each example begin, their own words, and what else stands in their objects."""
    found = table[name]
    if isinstance(found, list):
        return _mixed(found, name)
    lists = settled(found)
    if pa.types.is_null(lists.type):  # no example here has any
        return np.zeros(len(lists) + 1, np.int64), pa.array([], pa.string()), {}
    if not is_list(lists.type):
        raise DataError(f"The column {name!r} holds {lists.type}, not lists of candidates.")
    flat = lists.flatten()
    if not pa.types.is_struct(flat.type):
        return list_offsets(lists), _texts(flat, name), {}
    parts = {entry.name: part for entry, part in zip(flat.type, flat.flatten(), strict=True)}
    own = _own(parts)
    return list_offsets(lists), _texts(parts.pop(own), own), parts


def _mixed(lists: list[Json], name: str) -> tuple[Longs, pa.Array, dict[str, pa.Array]]:
    """The same for lists whose values are of several kinds: numbers among words are words too."""
    if not all(isinstance(some, list | None) for some in lists):
        raise DataError(f"The column {name!r} holds values of several kinds, not lists of candidates.")
    offsets = offsets_of([len(some or ()) for some in lists])
    flat = [one for some in lists for one in some or ()]
    if not any(isinstance(one, dict) for one in flat):
        return offsets, _array(flat), {}
    names = dict.fromkeys(key for one in flat if isinstance(one, dict) for key in one)
    own = _own(names)
    parts = _columns([one if isinstance(one, dict) else {own: one} for one in flat], names)
    return offsets, _texts(_column(parts, own), own), {n: _column(parts, n) for n in parts if n != own}


def _own(parts: Mapping[str, Json]) -> str:
    """Which entry of candidates that are objects is the candidate."""
    own = next((name for name in ("text", "name", "title", "candidate") if name in parts), None)
    if own is None:
        raise DataError(f"Candidates that are objects need an entry 'text', but these have {', '.join(parts)}.")
    return own


def _costs(table: Columns, name: str) -> pa.Array:
    values = _column(table, name)
    if not is_list(values.type):
        raise DataError(f"The column {name!r} holds {values.type}, not lists with the cost of each candidate.")
    return values.flatten()


def _texts(values: pa.Array, name: str) -> pa.Array:
    try:
        return as_text(values, name).cast(pa.string())
    except pa.ArrowInvalid as error:
        raise DataError(f"The column {name!r} holds {values.type}, not texts ({said(error)}).") from error


def _no_nulls(values: pa.Array, what: str, rows: Sequence[int], offsets: Longs | None = None) -> pa.Array:
    """The values, none of which is null; offsets say which example a candidate belongs to."""
    if values.null_count:
        at = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        row = at if offsets is None else int(np.searchsorted(offsets, at, "right")) - 1
        raise DataError(f"Row {rows[row]}: a {what} is null; leave it out, or fill it in.")
    return values


def _numbers(values: pa.Array, what: str) -> Doubles:
    made, good = as_numbers(values, what)
    found = as_numpy(made)
    if not (good.all() and (found >= 0).all()):
        raise DataError(f"The {what} are numbers from 0 up; one of them is missing, negative, infinite or no number.")
    return found


def _long(table: Columns, roles: GroupRoles) -> Groups:
    """A row for each candidate: examples in the order in which they first stand, candidates as they follow."""
    group = _texts(_column(table, _needed(table, roles.group, (), "group")), str(roles.group))
    key = _no_nulls(group, "group", range(1, len(group) + 1)).dictionary_encode().indices.to_numpy()
    order = np.argsort(key, kind="stable")
    table = {name: _column(table, name).take(pa.array(order)) for name in table}
    offsets = offsets_of(np.bincount(key))
    names = _names(table, roles, ("candidate", *CANDIDATES))
    if is_list(_column(table, names.candidates).type):
        raise UsageError("group= is for one row per candidate; these rows have lists of candidates.")
    first, rows = pa.array(offsets[:-1]), (order + 1).tolist()
    columns, details = {}, {}
    for other in names.others:
        values = _column(table, other)
        if _constant(values, key[order]):
            columns[other] = values.take(first)
        else:
            details[other] = values
    gold = None if names.answer is None else _flags(_column(table, names.answer))
    costs = None if roles.cost is None else _numbers(_column(table, roles.cost), "costs")
    weights = None if roles.weight is None else _numbers(_column(table, roles.weight).take(first), "weights")
    text, own = _column(table, names.text), _column(table, names.candidates)
    texts = _no_nulls(_texts(text, names.text).take(first), "text", [rows[at] for at in offsets[:-1]])
    words = _no_nulls(_texts(own, names.candidates), "candidate", rows)
    return Groups(offsets, texts, words, gold, columns, details, costs, weights)


def _constant(values: pa.Array, key: Longs) -> bool:
    """Whether a column has one value in each group."""
    if pa.types.is_nested(values.type):
        return False
    codes = values.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return bool(((codes[1:] == codes[:-1]) | (key[1:] != key[:-1])).all())


TRUE = frozenset(("1", "true", "yes", "y", "1.0"))
FALSE = frozenset(("0", "false", "no", "n", "0.0", ""))


def _flags(values: pa.Array) -> Bools:
    words = [str(value).lower() if value is not None else "" for value in values.to_pylist()]
    bad = next((word for word in words if word not in TRUE | FALSE), None)
    if bad is not None:
        raise DataError(f"Mark each candidate as right or wrong with 1 or 0, true or false, not {bad!r}.")
    return np.array([word in TRUE for word in words], bool)
