"""Pieces by their plain names, and their hyper-parameters as nested names: `regularizer__strength`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import NamedTuple

from linnaeus.errors import UsageError, did_you_mean
from linnaeus.losses import LOSSES
from linnaeus.optimizers import OPTIMIZERS, SCHEDULES
from linnaeus.outputs import OUTPUTS
from linnaeus.protocols import NumberSpace, SetSpace, has, meant
from linnaeus.regularizers import REGULARIZERS
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
"""The kinds of pieces of a linear model."""


NESTED: Mapping[str, Mapping[str, Callable[..., Piece]]] = {
    **{name: kind.table for name, kind in KINDS.items()},
    "schedule": SCHEDULES,
    "inner": OPTIMIZERS,
}
"""The table of plain names for each parameter: pieces, and the pieces inside them."""


def piece(kind: str, value: Piece) -> Piece:
    """The piece of a kind: an object unchanged, or the piece with this plain name and its defaults.

    >>> piece("regularizer", "l1")
    L1(strength=1.0)
    """
    return meant(kind, value, *KINDS[kind])


def refuse_unfit(space: Piece, sets: bool) -> None:
    """Refuse an output space of numbers, and one that does not match label sets or single labels."""
    if has(space, NumberSpace) or has(space, SetSpace) != sets:
        wanted = "multilabel" if sets else "one of binary, multiclass, onevsrest and onevsone"
        raise UsageError(f"The output {type(space).__name__} does not fit these labels; use {wanted}, or 'auto'.")


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
    """A copy of the piece with other hyper-parameters; pieces are frozen.

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
    """The piece with this plain name; other values unchanged, because `fit` refuses invalid ones."""
    if name in NESTED and isinstance(value, str) and value in NESTED[name]:
        return NESTED[name][value]()
    return value
