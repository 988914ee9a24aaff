"""The parts of a nearest-neighbors model by name, and as JSON in its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from linnaeus.errors import InputTypeError, UsageError, damaged, did_you_mean
from linnaeus.lazy import places

if TYPE_CHECKING:
    from linnaeus.types import Json


def meant(name: str, value: Any, table: Mapping[str, Any], ability: str) -> Any:
    """Return the piece: an object unchanged, or the piece with this name and its default settings."""
    if isinstance(value, str):
        if value not in table:
            raise UsageError(f"There is no {name} {value!r}; {did_you_mean(value, table)}")
        return table[value]()
    if isinstance(value, type) or not hasattr(value, ability):
        raise InputTypeError(f"{name} takes a name ({', '.join(table)}) or an object of that kind, not {value!r}.")
    return value


def told(piece: Any, table: Mapping[str, Any]) -> Json:
    """The piece as JSON.

    >>> from linnaeus.learners.neighbors import VOTES, Kernel
    >>> told(Kernel(width=0.5), VOTES)
    {'kind': 'kernel', 'width': 0.5}
    """
    if piece is None:
        return None
    place = type(piece).__module__, type(piece).__qualname__
    if place not in places(table):
        raise UsageError(
            f"A model file holds no code, so your own {type(piece).__name__} cannot be saved; use {', '.join(table)}."
        )
    return {"kind": places(table)[place], **{field.name: getattr(piece, field.name) for field in fields(piece)}}


def of_told(value: Json, table: Mapping[str, Any]) -> Any:
    """Restore the piece; an unknown kind is refused."""
    if value is None:
        return None
    if not isinstance(value, dict) or value.get("kind") not in table:
        raise damaged("a part of its search or of its votes is unknown")
    return table[value["kind"]](**{name: item for name, item in value.items() if name != "kind"})
