"""Whole model files with something wrong in them and digests made right: what a stranger writes who knows the format.

`mutants(state, count, rng)` draws as many as are wanted from every family; `file_of` writes whatever it is given.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tests.store.hostile import cut, entries, headers, prints, sizes
from tests.store.tampered import CHANGES, _put, _routes

from linnaeus.store.file import fingerprints
from linnaeus.store.header import build, places, seal
from linnaeus.types import State

Rng = np.random.Generator

VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 2**30, 2**31, 2**53 + 1, 2**62, -(2**63), 2**64, 10**400, 0.5, -0.5, 1e308, 5e-324,
    "", "NaN", "Infinity", "x" * 99, "kind", "\ud800", "a\0b", [], [None], [[]], [0.5], ["a"], [2**62] * 3, {},
    {"kind": "union"},    {"kind": None}, {"a": {"b": []}},
]  # fmt: skip
"""What stands in the place of an entry of a manifest."""


def file_of(state: State) -> bytes:
    """The file of a state, with right digests, whether or not `save` would write it."""
    tensors = {name: np.ascontiguousarray(array) for name, array in state.tensors.items()}
    found = fingerprints(tensors)
    head = build(seal(state.manifest, found), found)
    return b"".join([len(head).to_bytes(8, "little"), head, *(tensors[name].tobytes() for name in places(found))])


def mutants(state: State, count: int, rng: Rng) -> Iterator[tuple[str, bytes]]:
    """So many mutants, every family in turn; the same generator gives the same ones."""
    sound, made = file_of(state), 0
    while made < count:
        name, family = list(FAMILIES.items())[made % len(FAMILIES)]
        with np.errstate(all="ignore"):
            what, content = family(state, sound, rng)
        made += 1
        yield f"{name}: {what}", content


def _numbers(manifest: Any) -> list[tuple[Any, ...]]:
    return [route for route in _routes(manifest) if type(_at(manifest, route)) in (int, float)]


def _at(manifest: Any, route: tuple[Any, ...]) -> Any:
    for key in route:
        manifest = manifest[key]
    return manifest


def _one(rng: Rng, choices: Any) -> Any:
    choices = list(choices)
    return choices[int(rng.integers(len(choices)))]


def _manifest(state: State, rng: Rng, change: Callable[[Any, tuple[Any, ...]], str]) -> tuple[str, bytes]:
    manifest = copy.deepcopy(state.manifest)
    route = _one(rng, _routes(manifest))
    what = change(manifest, route)
    return f"{'.'.join(map(str, route))} {what}", file_of(State(manifest, state.tensors))


def value(state: State, _: bytes, rng: Rng) -> tuple[str, bytes]:
    """An entry of the manifest of another type, or far off."""
    new = _one(rng, VALUES)

    def change(manifest: Any, route: tuple[Any, ...]) -> str:
        _put(manifest, route, new)
        return f"= {new!r:.30}"

    return _manifest(state, rng, change)


def number(state: State, sound: bytes, rng: Rng) -> tuple[str, bytes]:
    """A number of the manifest, a little or far off."""
    manifest = copy.deepcopy(state.manifest)
    routes = _numbers(manifest)
    if not routes:
        return value(state, sound, rng)
    route = _one(rng, routes)
    old = _at(manifest, route)
    new = _one(rng, [old + 1, old - 1, -old, old * 2, old * 1000, 2**30, 2**31 - 1, 2**62, old + 0.5, str(old), 1e300])
    _put(manifest, route, new)
    return f"{'.'.join(map(str, route))} {old!r:.9} = {new!r:.20}", file_of(State(manifest, state.tensors))


def key(state: State, sound: bytes, rng: Rng) -> tuple[str, bytes]:
    """A key lost, renamed, doubled under another name, or with the value of another."""

    def change(manifest: Any, route: tuple[Any, ...]) -> str:
        holder, last = _at(manifest, route[:-1]), route[-1]
        kind = _one(rng, ["lost", "renamed", "doubled", "swapped", "nested"])
        old = holder[last]
        if kind == "swapped":
            other = _one(rng, holder if isinstance(holder, dict) else range(len(holder)))
            holder[last], holder[other] = holder[other], old
        elif kind == "nested":
            holder[last] = [old]
        elif isinstance(holder, list):
            holder.insert(0, copy.deepcopy(old)) if kind == "doubled" else holder.pop(last)
        else:
            if kind != "lost":
                holder[f"{last}x"] = copy.deepcopy(old)
            if kind != "doubled":
                del holder[last]
        return kind

    return _manifest(state, rng, change)


def everywhere(state: State, _: bytes, rng: Rng) -> tuple[str, bytes]:
    """A size, wherever the manifest says it, so that its parts still agree; or all columns of hashed features."""
    whole = [int(_at(state.manifest, route)) for route in _numbers(state.manifest)]
    old, power = _one(rng, whole) if whole and rng.random() < 0.5 else None, int(_one(rng, [16, 22, 26, 29, 30]))
    return f"{old} = 2^{power}", file_of(widened(state, power, old))


def widened(state: State, power: int, old: int | None = None) -> State:
    """The state with 2^power in the place of this number; without one, of the columns of its hashed features."""
    manifest = copy.deepcopy(state.manifest)
    routes = [route for route in _numbers(manifest) if type(_at(manifest, route)) is int]
    bits = [route for route in routes if route[-1] == "bits" and not {"search", "learner"} & set(route)]
    old = 1 << _at(manifest, bits[0]) if bits and old is None else old
    for route in routes:
        if route in bits:
            _put(manifest, route, power)
        elif _at(manifest, route) == old:
            _put(manifest, route, 1 << power)
    return State(manifest, state.tensors)


def _nan(array: Any, rng: Rng) -> Any:
    return np.full_like(array, np.nan) if array.dtype.kind == "f" else array


def _spiked(array: Any, rng: Rng) -> Any:
    """One number extreme."""
    found = array.copy().reshape(-1)
    if not found.size or found.dtype.kind == "b":
        return array
    info: Any = np.finfo(found.dtype) if found.dtype.kind == "f" else np.iinfo(found.dtype)
    odd = [np.inf, -np.inf, np.nan, info.max, info.min] if found.dtype.kind == "f" else [info.max, info.min, 0, 1, 2]
    found[int(rng.integers(found.size))] = _one(rng, odd)
    return found.reshape(array.shape)


MORE: dict[str, Callable[[Any, Rng], Any]] = {
    **CHANGES,
    "NaN": _nan,
    "spiked": _spiked,
    "spiked again": _spiked,
    "shuffled": lambda array, rng: array[rng.permutation(len(array))] if array.ndim else array,
    "all the same": lambda array, rng: np.full_like(array, array.reshape(-1)[0]) if array.size else array,
    "huge": lambda array, rng: array * array.dtype.type(100) if array.dtype.kind != "b" else ~array,
    "turned over": lambda array, rng: array.T,
    "without columns": lambda array, rng: array[:, :0] if array.ndim == 2 else array[:0] if array.ndim else array,
    "of one number": lambda array, rng: array.reshape(-1)[:1],
    "int32": lambda array, rng: array.astype(np.int32),
    "int64": lambda array, rng: array.astype(np.int64),
    "float32": lambda array, rng: array.astype(np.float32),
    "bool": lambda array, rng: array.astype(bool),
    "other bytes": lambda array, rng: array.reshape(-1).view(np.uint8) if array.size else array,
    "eight axes": lambda array, rng: array.reshape((1,) * (8 - array.ndim) + array.shape),
}
"""What becomes of a tensor."""


def tensor(state: State, _: bytes, rng: Rng) -> tuple[str, bytes]:
    """A tensor of other numbers, another type or another shape."""
    name, (what, change) = _one(rng, state.tensors), _one(rng, MORE.items())
    return f"{name} {what}", file_of(State(state.manifest, {**state.tensors, name: change(state.tensors[name], rng)}))


def tensors(state: State, _: bytes, rng: Rng) -> tuple[str, bytes]:
    """A tensor lost, renamed, doubled, or swapped with another."""
    name, other, kind = (
        _one(rng, state.tensors),
        _one(rng, state.tensors),
        _one(rng, ["lost", "renamed", "swapped", "copied"]),
    )
    made = dict(state.tensors)
    if kind == "copied":
        made[name] = made[other]
    elif kind == "swapped":
        made[name], made[other] = made[other], made[name]
    else:
        array = made.pop(name)
        if kind == "renamed":
            made[f"{name}x"] = array
    return f"{name} {kind} {other}", file_of(State(state.manifest, made))


def layout(_: State, sound: bytes, rng: Rng) -> tuple[str, bytes]:
    """Truncated and overlapping tensors, and headers that lie."""
    family = _one(rng, [cut, sizes, headers, entries, prints])
    what, content = _one(rng, family(sound))
    return f"{family.__name__} {what}", content


FAMILIES: dict[str, Callable[[State, bytes, Rng], tuple[str, bytes]]] = {
    "value": value,
    "number": number,
    "tensor": tensor,
    "key": key,
    "everywhere": everywhere,
    "tensor again": tensor,
    "value again": value,
    "tensors": tensors,
    "layout": layout,
}
"""What can be wrong with a file."""
