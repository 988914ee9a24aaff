"""Roles: which column is the text, which the label, and so on; given by name, or guessed where it is plain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from linnaeus.data import arrow
from linnaeus.data.batch import Batch
from linnaeus.data.formats import Chunk
from linnaeus.data.ledger import Ledger
from linnaeus.data.options import ReadOptions
from linnaeus.errors import DataError, nearest
from linnaeus.frozen import dataclass
from linnaeus.types import Bools

# Names that make a role plain. Those in the first row of a role decide alone; of the others there may be only one.
NAMES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "text": (
        ("text",),
        ("texts", "sentence", "review", "utterance", "document", "content", "body", "message", "query", "question",
         "comment", "tweet", "post", "description", "abstract", "headline", "title", "sms", "email", "transcript",
         "input", "phrase", "snippet", "review_text", "review_body"),
    ),
    "label": (
        ("label", "labels"),
        ("class", "classes", "category", "categories", "intent", "target", "sentiment", "topic", "topics", "tag",
         "tags", "label_text", "label_name", "genre", "emotion", "y"),
    ),
    "weight": (("weight", "weights", "sample_weight"), ()),
    "group": (("group", "groups", "group_id"), ()),
    "id": (("id", "uid", "guid"), ()),
}  # fmt: skip


FIXED = {"linnaeus.roles": "fixed"}
"""Metadata of a schema whose names are ours, so that taking `text` for the text is no guess."""

HEADED = {"linnaeus.header": "first row"}
"""Metadata of a schema whose names are the first row of a file, which may be data in truth."""

REPEATED = {"linnaeus.repeated": "yes"}
"""Metadata of a column whose name others in the file have too."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The column in each role, or None; `guessed` names the roles that were not given but read off the columns.

    >>> Roles(text="review", label="stars", guessed=("text",)).describe()
    "text 'review' (guessed), label 'stars'"
    """

    text: str | None = None
    label: str | None = None
    weight: str | None = None
    group: str | None = None
    time: str | None = None
    id: str | None = None
    features: str | None = None
    guessed: tuple[str, ...] = ()

    def describe(self) -> str:
        """One line for people."""
        return ", ".join(f"{role} {name!r}" + " (guessed)" * (role in self.guessed) for role, name in self.items())

    def items(self) -> list[tuple[str, str]]:
        """The roles that a column has, with its name."""
        found = [(role, getattr(self, role)) for role in (*NAMES, "time", "features")]
        return [(role, name) for role, name in found if name is not None]

    def taken(self) -> set[str]:
        """The columns that leave the further ones: id and time stay among these, so that people find them by name."""
        return {name for role, name in self.items() if role not in ("id", "time")}


def assign(source: str, schema: pa.Schema, options: ReadOptions, usual: Mapping[str, str] | None = None) -> Roles:
    """The roles of these columns; where the text is not plain the error lists them.

    `usual` names columns that have a role where they are there and no other one is given.
    """
    names = list(schema.names)
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise DataError(f"{source}: has several columns {twice!r}; give each a name of its own.")
    given = {role: getattr(options, role) for role in ("text", "label", "weight", "group", "time")}
    given |= {role: name for role, name in (usual or {}).items() if given[role] is None and name in names}
    for role, name in given.items():
        if name and name not in names:
            near = nearest(name, names)
            hint = "" if near is None else f"did you mean {near!r}? "
            there = f"its columns are {listed(names)}{_headless(schema)}"
            raise DataError(f"{source}: has no column {name!r} for {role}=; {hint}{there}.")
    found: dict[str, str | None] = {role: name or None for role, name in given.items()}
    features = next((f.name for f in schema if f.name == "features" and _is_entries(f.type)), None)
    fixed = features is not None
    guessed = []
    for role in NAMES:
        if given.get(role) is None and not (role == "text" and fixed):
            free = [name for name in names if name not in found.values()]
            found[role] = plain(NAMES[role], free)
            guessed += [role] if found[role] else []
    if found.get("text") is None and given["text"] is None and not fixed:
        found["text"] = _only_text(source, schema, found)
        guessed[:0] = ["text"] if found["text"] else []
    if b"linnaeus.roles" in (schema.metadata or {}):
        guessed = []
    _check_single(source, schema, found)
    return Roles(**found, features=features, guessed=tuple(guessed))


def _check_single(source: str, schema: pa.Schema, found: dict[str, str | None]) -> None:
    """Refuse a column in a role if others have its name: nobody can say which is meant."""
    for role, name in found.items():
        # The id is never given, only found, so that a file could not be read at all without new names.
        if name and role != "id" and b"linnaeus.repeated" in (schema.field(name).metadata or {}):
            raise DataError(f"{source}: has several columns {name!r}, and one is the {role}; give each its own name.")


def listed(names: Sequence[str]) -> str:
    """Names for a message, quoted; of very many only the first."""
    shown = ", ".join(map(repr, names[:20]))
    return shown + f" and {len(names) - 20} more" if len(names) > 20 else shown or "none at all"


def label_hint(names: Sequence[str]) -> str:
    """The end of a message about missing labels: which columns there are beside the text.

    >>> label_hint(["intent", "lang"]), label_hint([])
    ("name their column with label=, one of 'intent', 'lang'.", 'the data have no other column than the text.')
    """
    return f"name their column with label=, one of {listed(names)}." if names else _ALONE


_ALONE = "the data have no other column than the text."


def plain(usual: tuple[tuple[str, ...], ...], names: Sequence[str]) -> str | None:
    """The name that makes a role plain: one of the first usual ones, or the only one of a later row."""
    for row in usual:
        found = [name for name in names if name.strip().casefold() in row]
        if len(found) == 1 or (found and row is usual[0]):
            return found[0]
    return None


def _only_text(source: str, schema: pa.Schema, found: dict[str, str | None]) -> str | None:
    """The only column that can be text and has no other role; none beside vectors where no column can be text."""
    free: list[str] = [f.name for f in schema if f.name not in found.values() and _is_text(f.type)]
    if any(arrow.is_vector(f.type) for f in schema if f.name not in found.values()):
        free = [name for name in free if plain(NAMES["label"], [name]) is None]
        if not free:
            return None
    if len(free) != 1:
        why = f"{len(free)} columns could be the text" if free else "no column is text"
        raise DataError(
            f"{source}: {why}; name it with text=, the columns are {listed(schema.names)}{_headless(schema)}."
        )
    return free[0]


def _headless(schema: pa.Schema) -> str:
    """A hint where the first row looks like data: some name is a text, or no name is that of a role."""
    usual = {name for rows in NAMES.values() for row in rows for name in row}
    named = any(name.strip().casefold() in usual for name in schema.names)
    if b"linnaeus.header" in (schema.metadata or {}) and (
        not named or any(len(name.split()) > 2 for name in schema.names)
    ):
        return '; for a file without a header, give names=["text", "label"]'
    return ""


def _is_entries(kind: pa.DataType) -> bool:
    """Whether cells hold the features of a libsvm file."""
    return bool(pa.types.is_list(kind) and pa.types.is_struct(kind.value_type))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


@dataclass(frozen=True, slots=True)
class Shape:
    """The roles of the columns, the kind of the labels ("one", "many", "numeric", "none") and the further columns."""

    roles: Roles
    kind: str
    further: tuple[str, ...]
    separator: str | None = None

    @property
    def columns(self) -> list[str]:
        """What has to be read."""
        return list(dict.fromkeys([*sorted(self.roles.taken()), *self.further]))

    def nothing(self) -> Batch:
        """A batch of no rows that has the columns."""
        kinds = {name: arrow.ENTRIES if name == self.roles.features else pa.string() for name in self.columns}
        return self.batch("", Chunk(pa.RecordBatch.from_pylist([], pa.schema(kinds)), (), 0), Ledger())

    def batch(self, name: str, chunk: Chunk, ledger: Ledger) -> Batch:
        """The rows of a chunk that can be used; `name` is the file, for messages."""
        work = _Work(self, chunk, name, ledger)
        try:
            made = Batch(
                text=work.texts(self.roles.text, "text", "fill it in"),
                labels=work.labels(),
                weights=work.weights(),
                groups=work.texts(self.roles.group, "group", "fill it in, read without groups with group=''"),
                features=chunk.table.column(self.roles.features) if self.roles.features else None,
                columns={key: arrow.settled(chunk.table.column(key)) for key in self.further},
            )
        except DataError as error:
            if str(error).startswith(name):
                raise
            raise DataError(f"{name}: {error}") from error
        if work.keep.all():
            return made
        keep = pa.array(work.keep)
        return made.each(lambda array: array.filter(keep))


def shape_of(source: str, schema: pa.Schema, roles: Roles, options: ReadOptions) -> Shape:
    """The shape of these columns under these options."""
    names = [name for name in schema.names if name not in roles.taken()]
    if options.columns is not None:
        absent = [name for name in options.columns if name not in schema.names]
        if absent:
            raise DataError(f"{source}: has no column {absent[0]!r}; its columns are {listed(schema.names)}.")
        names = list(dict.fromkeys([*options.columns, *([roles.time] if roles.time else [])]))
    kind = "none" if roles.label is None else options.label_kind or _kind(schema.field(roles.label).type, options)
    return Shape(roles, kind, tuple(names), options.label_separator)


def _kind(column: pa.DataType, options: ReadOptions) -> str:
    if pa.types.is_floating(column):
        return "numeric"
    return "many" if options.label_separator or arrow.is_list(column) else "one"


class _Work:
    """One chunk on its way to a batch: `keep` loses the rows that cannot be used."""

    def __init__(self, shape: Shape, chunk: Chunk, name: str, ledger: Ledger) -> None:
        self.shape, self.chunk, self.name, self.ledger = shape, chunk, name, ledger
        self.keep = np.ones(len(chunk.table), bool)

    def texts(self, name: str | None, what: str, remedy: str) -> pa.Array | None:
        if name is None:
            return None
        made = arrow.as_text(self.chunk.table.column(name), name)
        if made.null_count:
            self._reject(arrow.as_numpy(made.is_null()), f"no {what} in column {name!r}", remedy)
        return made

    def labels(self) -> pa.Array | None:
        role, kind = self.shape.roles.label, self.shape.kind
        if role is None:
            return None
        column = self.chunk.table.column(role)
        if kind in ("one", "many"):
            made = arrow.as_text(column, role) if kind == "one" else arrow.as_texts(column, role, self.shape.separator)
            self._miss(arrow.is_missing(made))
            self._reject(arrow.holds_nul(made), f"the label in column {role!r} holds a NUL character", "correct it")
        else:
            missing = arrow.is_missing(arrow.settled(column))
            made, good = arrow.as_numbers(column, role)
            self._miss(missing)
            self._reject(~good & ~missing, f"the label in column {role!r} is not a finite number", "correct it")
        return made

    def weights(self) -> pa.Array | None:
        role = self.shape.roles.weight
        if role is None:
            return None
        made, good = arrow.as_numbers(self.chunk.table.column(role), role)
        good = good & (arrow.as_numpy(made) >= 0)
        remedy = "correct it, read without weights with weight=''"
        self._reject(~good, f"the weight in column {role!r} is not a number from 0 up", remedy)
        return made

    def _miss(self, bad: Bools) -> None:
        rows = self._fresh(bad)
        if rows:
            self.ledger.miss(self.name, rows)

    def _reject(self, bad: Bools, why: str, remedy: str) -> None:
        rows = self._fresh(bad)
        if rows:
            self.ledger.reject(f"{self.name}, row {rows[0]}", why, remedy, len(rows))

    def _fresh(self, bad: Bools) -> Sequence[int]:
        """The numbers of the bad rows that were still kept; they are no more."""
        found = np.flatnonzero(bad & self.keep)
        self.keep[found] = False
        return [int(self.chunk.rows[i]) for i in found.tolist()]
