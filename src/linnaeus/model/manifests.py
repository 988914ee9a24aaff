"""What the manifest of a model holds: which entries there are, and of which type each one is.

Whoever reads a part of a manifest later can rely on it: a file in which an entry has another type is refused when it
is opened. Recipes, features and evaluations are tables here; what is inside of them is checked where they are built.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from linnaeus.errors import damaged
from linnaeus.types import Json

Check: TypeAlias = Callable[[Json], bool]

LARGEST = 2**63
"""Numbers of a manifest are smaller."""


def whole(value: Json) -> bool:
    """A whole number."""
    return type(value) is int and -LARGEST <= value < LARGEST


def number(value: Json) -> bool:
    """A finite number."""
    return whole(value) or (type(value) is float and math.isfinite(value))


def text(value: Json) -> bool:
    """A string."""
    return isinstance(value, str)


def yes_or_no(value: Json) -> bool:
    """A truth value."""
    return isinstance(value, bool)


def table(value: Json) -> bool:
    """A table."""
    return isinstance(value, dict)


def nothing_or(check: Check) -> Check:
    """Null, or this."""
    return lambda value: value is None or check(value)


def list_of(check: Check) -> Check:
    """A list of these."""
    return lambda value: isinstance(value, list) and all(map(check, value))


def table_of(check: Check) -> Check:
    """A table whose entries are all of this type."""
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


class Entries:
    """A table with these entries; one whose name here ends with "_" may be missing. Others may be anything."""

    def __init__(self, **entries: Check) -> None:
        """The check of each entry."""
        self.entries = {name.rstrip("_"): (check, name.endswith("_")) for name, check in entries.items()}

    def __call__(self, value: Json) -> bool:
        """Whether a value is such a table."""
        return isinstance(value, dict) and self.wrong(value) is None

    def wrong(self, value: Mapping[str, Json]) -> str | None:
        """The first entry that is missing or of another type, by its path."""
        for name, (check, optional) in self.entries.items():
            if name not in value:
                if optional:
                    continue
                return name
            if not check(value[name]):
                inner = check.wrong(value[name]) if isinstance(check, Entries) and table(value[name]) else None
                return name if inner is None else f"{name}.{inner}"
        return None


TRIED = list_of(list_of(nothing_or(number)))
"""Strengths, or shares of the features, each with what it scored."""

COMPACT = Entries(weights=text, features=whole, of=whole, held_out=whole, lost=nothing_or(number), tried_=TRIED)

FACTS = Entries(
    version_=text,
    rows_=whole,
    updates_=whole,
    tokens_=whole,
    candidates_=whole,
    fingerprint_=text,
    ending_=text,
    epochs_=whole,
    held_out_=whole,
    strength_=nothing_or(number),
    tried_=TRIED,
    compact_=COMPACT,
    columns_=table_of(text),
    imported_=text,
    estimator_=Entries(name=text, params=table, one_target_=yes_or_no),
)


def stage(value: Json) -> bool:
    """The name and the manifest of an earlier stage, which is checked when it is built."""
    return isinstance(value, list) and len(value) == 2 and text(value[0]) and table(value[1])


MANIFEST = Entries(
    task=table,
    recipe=table,
    space=table,
    form=text,
    features=table,
    decision=nothing_or(table),
    evaluation=nothing_or(table),
    facts=FACTS,
    body_=table,
    kept_=table,
    stages_=list_of(stage),
)
"""What a model file holds."""


def check_manifest(manifest: Mapping[str, Json]) -> None:
    """Refuse a manifest in which an entry is missing, or of another type."""
    wrong = MANIFEST.wrong(manifest)
    if wrong is not None:
        raise damaged(f"the entry {wrong!r} of its manifest is missing or of another type")
