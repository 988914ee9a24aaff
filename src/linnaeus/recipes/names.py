"""The names of recipes of every kind; a name that is not known, or of another kind, is refused with what would do."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

from linnaeus.errors import UsageError, did_you_mean


class Kind(NamedTuple):
    """The table of recipes of a kind, what they are for, what they learn from, and which one is usual."""

    module: str
    table: str
    models: str
    data: str
    usual: str


KINDS = {
    "texts": Kind("cookbook", "RECIPES", "classifiers of texts", "texts with labels", "default"),
    "tags": Kind("tagging", "TAGGERS", "taggers", "lists of tokens with tags, as in CoNLL files", "pos"),
    "candidates": Kind("ranking", "RANKERS", "rankers", "texts with lists of candidates", "plain"),
}
"""The kinds of recipes."""


def table_of(kind: str) -> Mapping[str, Any]:
    """The recipes of a kind by name."""
    found: Mapping[str, Any] = getattr(import_module(f"linnaeus.recipes.{KINDS[kind].module}"), KINDS[kind].table)
    return found


def kind_of(name: str) -> str | None:
    """The kind of the recipe of this name.

    >>> kind_of("pos"), kind_of("svm"), kind_of("nope")
    ('tags', 'texts', None)
    """
    return next((kind for kind in KINDS if name in table_of(kind)), None)


def unknown_recipe(name: str, kind: str) -> UsageError:
    """The error for a name that is no recipe of this kind.

    >>> str(unknown_recipe("svn", "texts"))
    "There is no recipe 'svn'; did you mean 'svm'?"
    """
    other = kind_of(name)
    if other is not None:
        there, here = KINDS[other], KINDS[kind]
        return UsageError(
            f"{name!r} is a recipe for {there.models}, which learn from {there.data}; for {here.data} take "
            f"{here.usual!r}, or another for {here.models} that `linnaeus recipes` lists."
        )
    return UsageError(f"There is no recipe {name!r}; {did_you_mean(name, table_of(kind), 'a TOML file')}")
