"""Pieces by their plain names, and their hyper-parameters as nested names: `regularizer__strength`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from linnaeus.errors import UsageError, did_you_mean
from linnaeus.losses import LOSSES
from linnaeus.optimizers import OPTIMIZERS, SCHEDULES
from linnaeus.outputs import OUTPUTS
from linnaeus.protocols import meant
from linnaeus.regularizers import REGULARIZERS

if TYPE_CHECKING:
    from linnaeus.types import Piece


class Kind(NamedTuple):
    """One kind of piece: its table, and the method that every piece of this kind has."""

    table: Mapping[str, Callable[..., Piece]]
    method: str


KINDS = {
    "loss": Kind(LOSSES, "value_and_grad"),
    "regularizer": Kind(REGULARIZERS, "prox"),
    "optimizer": Kind(OPTIMIZERS, "minimize"),
    "output": Kind(OUTPUTS, "decode"),
}
"""The pieces a linear method is made of."""


NESTED: Mapping[str, Mapping[str, Callable[..., Piece]]] = {
    **{name: kind.table for name, kind in KINDS.items()},
    "schedule": SCHEDULES,
    "inner": OPTIMIZERS,
}
"""What a plain name stands for, by the parameter it is given for: pieces, and the pieces inside them."""


def piece(kind: str, value: Piece) -> Piece:
    """The piece that is meant: an object as it is, a plain name with its defaults.

    >>> piece("regularizer", "l1")
    L1(strength=1.0)
    """
    return meant(kind, value, *KINDS[kind])


def nested(name: str, value: Piece) -> Iterator[tuple[str, Piece]]:
    """The hyper-parameters of a piece, and of the pieces inside it.

    >>> dict(nested("regularizer", "l2"))
    {'regularizer__strength': 1.0}
    """
    found = _meant(name, value)
    if not is_dataclass(found) or isinstance(found, type):
        return
    for field in fields(found):
        inner = getattr(found, field.name)
        yield f"{name}__{field.name}", inner
        for path, deep in nested(field.name, inner):
            yield f"{name}__{path}", deep


def replaced(name: str, value: Piece, changes: Mapping[str, Piece]) -> Piece:
    """The piece with other hyper-parameters: pieces are frozen, so this is a new one.

    >>> replaced("regularizer", "l2", {"strength": 3.0})
    L2(strength=3.0)
    """
    found = _meant(name, value)
    known = [field.name for field in fields(found)] if is_dataclass(found) else []
    deep: dict[str, dict[str, Piece]] = {}
    for path, new in changes.items():
        first, _, rest = path.partition("__")
        if first not in known:
            raise UsageError(f"The {name} {value!r} has no parameter {first!r}; {did_you_mean(first, known)}")
        deep.setdefault(first, {})[rest] = new
    flat = {first: below[""] for first, below in deep.items() if "" in below}
    for first, below in deep.items():
        inner = {path: new for path, new in below.items() if path}
        if inner:
            flat[first] = replaced(first, flat.get(first, getattr(found, first)), inner)
    return replace(found, **flat)


def _meant(name: str, value: Piece) -> Piece:
    """The object behind a plain name; anything else as it is, right or wrong: `fit` says so."""
    if name in NESTED and isinstance(value, str) and value in NESTED[name]:
        return NESTED[name][value]()
    return value
