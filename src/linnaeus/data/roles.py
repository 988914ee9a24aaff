"""Roles: which column is the text, which the label, and so on; given by name, or guessed where it is plain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from linnaeus.errors import DataError, nearest
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.options import ReadOptions

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
            there = f"its columns are {listed(names)}{_headless(names)}"
            raise DataError(f"{source}: has no column {name!r} for {role}=; {hint}{there}.")
    found: dict[str, str | None] = {role: name or None for role, name in given.items()}
    features = next((f.name for f in schema if f.name == "features" and pa.types.is_list(f.type)), None)
    fixed = features is not None and not pa.types.is_string(schema.field(features).type.value_type)
    guessed = []
    for role in NAMES:
        if given.get(role) is None and not (role == "text" and fixed):
            free = [name for name in names if name not in found.values()]
            found[role] = _plain(role, free)
            guessed += [role] if found[role] else []
    if found.get("text") is None and given["text"] is None and not fixed:
        found["text"] = _only_text(source, schema, found)
        guessed.insert(0, "text")
    if b"linnaeus.roles" in (schema.metadata or {}):
        guessed = []
    _check_single(source, schema, found)
    return Roles(**found, features=features if fixed else None, guessed=tuple(guessed))


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


def _plain(role: str, names: Sequence[str]) -> str | None:
    for row in NAMES[role]:
        found = [name for name in names if name.strip().casefold() in row]
        if len(found) == 1 or (found and row is NAMES[role][0]):
            return found[0]
    return None


def _only_text(source: str, schema: pa.Schema, found: dict[str, str | None]) -> str:
    """The only column that can be text and has no other role."""
    free: list[str] = [f.name for f in schema if f.name not in found.values() and _is_text(f.type)]
    if len(free) != 1:
        why = f"{len(free)} columns could be the text" if free else "no column is text"
        raise DataError(
            f"{source}: {why}; name it with text=, the columns are {listed(schema.names)}{_headless(schema.names)}."
        )
    return free[0]


def _headless(names: Sequence[str]) -> str:
    """A hint for names that look like texts: they may be the first row of a file without a header."""
    if any(len(name.split()) > 2 for name in names):
        return '; for a file without a header, give names=["text", "label"]'
    return ""


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
