"""Changes of recipes by path: `regularizer.strength`, or `regularizer__strength` as scikit-learn writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from linnaeus.errors import UsageError, nearest
from linnaeus.recipes import codec

SHORT = ("learner", "decision", "tuning", "features", "task")
"""Parts whose fields can be named without them, in the order in which they are looked through."""


def change(recipe: Any, changes: Mapping[str, Any], short: tuple[str, ...], sign: str = ".") -> Any:
    """A recipe with other values, by path; the fields of the parts in `short` can be named without them.

    A suggestion for a path that is not known is written with `sign`, or as the path itself is.
    """
    for path, value in changes.items():
        names = path.replace("__", ".").split(".")
        try:
            recipe = _changed(recipe, _whole(recipe, names, short), value, path)
        except UnknownPath as error:
            whole = names[0] in short  # who writes `learner.los` means `learner.loss`, not `loss`
            known = ["__".join(there) for there, _ in _below(recipe, ())] if whole else list(paths(recipe, short))
            raise UsageError(f"{path!r} is not known; {_suggested(path, sign, known, error)}") from None
    return recipe


class UnknownPath(Exception):  # noqa: N818 - never leaves this file
    """A name on a path that the piece there does not have; `args` are that piece and its names."""


def _suggested(path: str, sign: str, known: list[str], error: UnknownPath) -> str:
    """The nearest path, written as the wrong one is; or what there is where it went wrong."""
    ends = [name for name in known if name.split("__")[-1] == path]
    near = ends[0] if len(ends) == 1 else nearest(path.replace(".", "__"), known)
    if near is not None:
        sign = "__" if "__" in path else "." if "." in path else sign
        return f"did you mean {near.replace('__', sign)!r}?"
    piece, known = error.args
    return f"{piece} has {', '.join(known) or 'no parts'}."


def paths(recipe: Any, short: tuple[str, ...] = SHORT) -> dict[str, Any]:
    """All that can be changed, by path with two underscores for dots, and its value now.

    Fields of the learner and of the decision go without these, as in `regularizer__strength`.

    >>> from linnaeus.learners.linear.learner import Linear
    >>> paths(Linear())["regularizer__strength"]
    1.0
    """
    found: dict[str, Any] = {}
    for path, value in _below(recipe, ()):
        name = ".".join(path)
        for part in ("learner", "decision"):
            if len(path) > 1 and path[0] == part and part in short and _whole(recipe, [path[1]], short)[0] == part:
                name = ".".join(path[1:])
        found[name.replace(".", "__")] = value
    return found


def _below(piece: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if is_dataclass(piece) and not isinstance(piece, type):
        inside = [(part.name, getattr(piece, part.name)) for part in fields(piece)]
    elif isinstance(piece, tuple) and any(map(is_dataclass, piece)):
        inside = [(str(at), part) for at, part in enumerate(piece)]
    else:
        return
    for name, value in inside:
        here = (*path, name)
        yield here, value
        yield from _below(_meant(codec.slot_of(type(piece), name), value), here)


def _meant(slot: str, value: Any) -> Any:
    """The piece behind a plain name, or behind nothing where nothing has a default."""
    if value is None and slot in codec.PLAIN:
        return codec.PLAIN[slot]()
    if isinstance(value, str) and value in codec.SLOTS.get(slot, {}):
        try:
            return codec.SLOTS[slot][value]()
        except TypeError:  # a piece that needs arguments
            return value
    return value


def _whole(recipe: Any, names: list[str], short: tuple[str, ...]) -> list[str]:
    if names[0] in {part.name for part in fields(recipe)}:
        return names
    for part in short:
        inside = getattr(recipe, part)
        if is_dataclass(inside) and names[0] in {field.name for field in fields(inside)}:
            return [part, *names]
    return names


def _changed(piece: Any, names: list[str], value: Any, path: str) -> Any:
    """The piece with this value at the end of these names; everything on the way is new."""
    name, rest = names[0], names[1:]
    if isinstance(piece, tuple):
        if not name.isdecimal() or int(name) >= len(piece):
            raise UsageError(f"{path!r} names part {name!r} of a list of {len(piece)}; they are numbered from 0.")
        at = int(name)
        new = _changed(piece[at], rest, value, path) if rest else value
        return (*piece[:at], new, *piece[at + 1 :])
    known = [part.name for part in fields(piece)] if is_dataclass(piece) else []
    if name not in known:
        raise UnknownPath(type(piece).__name__ if is_dataclass(piece) else f"the value {piece!r}", known)
    slot = codec.slot_of(type(piece), name)
    if not rest:
        return replace(piece, **{name: codec.decode(slot, value, path)})
    return replace(piece, **{name: _changed(_meant(slot, getattr(piece, name)), rest, value, path)})
