"""States with one thing wrong, for files whose digests are right: what a stranger can write who knows the format.

Whatever builds a piece from such a state refuses it with one sentence, or builds something that works.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from linnaeus.types import State


def tampered(state: State) -> Iterator[tuple[str, State]]:
    """States with one thing wrong: a tensor or an entry of the manifest lost, of another kind, or of another size."""
    rng = np.random.default_rng(0)
    for name, array in state.tensors.items():
        rest = {other: value for other, value in state.tensors.items() if other != name}
        yield f"{name} lost", State(state.manifest, rest)
        for what, change in CHANGES.items():
            with np.errstate(all="ignore"):
                made = np.ascontiguousarray(change(array, rng))
            yield f"{name} {what}", State(state.manifest, {**rest, name: made})
    for route in list(_routes(state.manifest)):
        for value in (None, True, -1, 0, 2**31, 2**62, 1e308, "", "x" * 99, [], [None], {}, {"kind": "union"}):
            manifest = copy.deepcopy(state.manifest)
            _put(manifest, route, value)
            yield f"manifest {'.'.join(map(str, route))} = {value!r:.20}", State(manifest, state.tensors)


def _noise(array: Any, rng: np.random.Generator) -> Any:
    if array.dtype.kind in "fb":
        return rng.standard_normal(array.shape).astype(array.dtype)
    return np.frombuffer(rng.bytes(array.nbytes), array.dtype).reshape(array.shape)


def _extreme(array: Any, side: str) -> Any:
    info: Any = np.finfo if array.dtype.kind == "f" else np.iinfo
    return np.full_like(
        array, array.dtype.type(side == "max") if array.dtype.kind == "b" else getattr(info(array.dtype), side)
    )


CHANGES: dict[str, Callable[[Any, np.random.Generator], Any]] = {
    "empty": lambda array, rng: array[:0] if array.ndim else np.zeros(0, array.dtype),
    "shorter": lambda array, rng: array[:-1] if array.ndim else array,
    "doubled": lambda array, rng: np.concatenate([array, array]) if array.ndim else array,
    "zero": lambda array, rng: np.zeros_like(array),
    "largest": lambda array, rng: _extreme(array, "max"),
    "smallest": lambda array, rng: _extreme(array, "min"),
    "one off": lambda array, rng: array + array.dtype.type(1),
    "backwards": lambda array, rng: array[::-1] if array.ndim else array,
    "noise": _noise,
    "float64": lambda array, rng: array.astype(np.float64),
    "uint8": lambda array, rng: array.astype(np.uint8),
    "one axis more": lambda array, rng: array[None],
    "flat": lambda array, rng: array.reshape(-1),
}


def _routes(value: Any, route: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, part in inner:
        yield (*route, key)
        yield from _routes(part, (*route, key))


def _put(manifest: Any, route: tuple[Any, ...], value: Any) -> None:
    for key in route[:-1]:
        manifest = manifest[key]
    manifest[route[-1]] = value
