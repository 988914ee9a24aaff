"""Whether the fields of a piece hold what their annotations say: plain data may put anything into them."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def misfit(piece: Any) -> str | None:
    """The first field of a piece that holds something of another type than it says; None where all is well.

    >>> from linnaeus.recipes.tuning import Tuning
    >>> misfit(Tuning(folds=3))
    """
    kind: Any = type(piece)
    kinds = _kinds(kind)
    return next((f.name for f in fields(piece) if not fits(getattr(piece, f.name), kinds.get(f.name, Any))), None)


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type; what cannot be told counts as yes.

    >>> fits((1, 2), tuple[int, ...]), fits(True, int), fits(1, float), fits(None, int | None)
    (True, False, True, True)
    """
    origin = get_origin(kind)
    if kind is Any:
        return True
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in get_args(kind))
    if origin is Literal:
        return value in get_args(kind)
    if origin is tuple:
        return isinstance(value, tuple) and _members(value, get_args(kind))
    if kind in (None, NoneType):
        return value is None
    if kind in (int, float):
        return not isinstance(value, bool) and isinstance(value, int | float if kind is float else int)
    return _is(value, kind if origin is None else origin)


def _is(value: Any, kind: Any) -> bool:
    try:
        return isinstance(value, kind)
    except TypeError:
        return True  # a protocol that only a type checker can ask for


def _members(values: tuple[Any, ...], kinds: tuple[Any, ...]) -> bool:
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return all(fits(value, kinds[0]) for value in values)
    return len(values) == len(kinds) and all(map(fits, values, kinds))


class _Names(dict[str, Any]):
    """The names of a module; those that only type checkers see stand for anything."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Any)


def unfit(values: Mapping[str, Any], call: Any) -> str | None:
    """The first of some arguments that is of another type than a function says; None where all is well."""
    kinds = _kinds(call)
    return next((name for name, value in values.items() if not fits(value, kinds.get(name, Any))), None)


@cache
def _kinds(piece: Any) -> Mapping[str, Any]:
    """The types that a class says of its fields, or a function of its arguments."""
    bases = piece.__mro__[::-1] if isinstance(piece, type) else [piece]
    names = {name: one for base in bases for name, one in vars(sys.modules[base.__module__]).items()}
    try:
        return get_type_hints(piece, localns=_Names(names))
    except TypeError:
        return {}  # an annotation that has no meaning when it is asked for
