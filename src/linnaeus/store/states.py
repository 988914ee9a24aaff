"""How fitted pieces become manifest and tensors: strings as bytes and offsets, nested pieces by prefix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from linnaeus.errors import damaged
from linnaeus.types import Array, Arrays, Bytes, Json, Longs, State, offsets_of

if TYPE_CHECKING:
    import pyarrow as pa


Tensors: TypeAlias = Arrays


class Piece(Protocol):
    """A fitted piece: it knows what it is made of."""

    def state(self) -> State:
        """Manifest and tensors that build it again."""
        ...


def pack_strings(name: str, strings: Sequence[str]) -> Tensors:
    """Strings as two tensors, `name.bytes` and `name.offsets`: a header is no place for many of them.

    >>> pack_strings("terms", ["ab", "c"])["terms.offsets"].tolist()
    [0, 2, 3]
    """
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    offsets = offsets_of([len(piece) for piece in encoded])
    return {f"{name}.bytes": np.frombuffer(b"".join(encoded), np.uint8), f"{name}.offsets": offsets}


def unpack_strings(name: str, tensors: Mapping[str, Array]) -> list[str]:
    """The strings that `pack_strings` stored."""
    data, offsets = _strings(name, tensors)
    raw = data.tobytes()
    try:
        return [raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(offsets.tolist())]
    except UnicodeDecodeError as error:
        raise damaged(f"{name!r} is not UTF-8") from error


def pack_arrow(name: str, strings: pa.Array) -> Tensors:
    """An Arrow array of strings in the same two tensors, without a Python string for each.

    >>> import pyarrow as pa
    >>> pack_arrow("terms", pa.array(["x", "ab", "c"])[1:])["terms.offsets"].tolist()
    [0, 2, 3]
    """
    import pyarrow as pa

    if len(strings) == 0:
        return pack_strings(name, [])
    wide = strings.cast(pa.large_string())
    _, bounds, data = wide.buffers()
    offsets = np.frombuffer(bounds, np.int64)[wide.offset : wide.offset + len(wide) + 1]
    held = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    return {f"{name}.bytes": held[offsets[0] : offsets[-1]], f"{name}.offsets": offsets - offsets[0]}


def unpack_arrow(name: str, tensors: Mapping[str, Array]) -> pa.Array:
    """The strings that `pack_arrow` stored, where they lie."""
    import pyarrow as pa

    data, offsets = _strings(name, tensors)
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(np.ascontiguousarray(data))]
    strings = pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
    try:
        strings.validate(full=True)
    except ValueError as error:
        raise damaged(f"{name!r} is not UTF-8") from error
    return strings


def _strings(name: str, tensors: Mapping[str, Array]) -> tuple[Bytes, Longs]:
    data, offsets = tensor(tensors, f"{name}.bytes", np.uint8), tensor(tensors, f"{name}.offsets", np.int64)
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(data) or (np.diff(offsets) < 0).any():
        raise damaged(f"the offsets of {name!r} do not fit its bytes")
    return data, offsets


def tensor(tensors: Mapping[str, Array], name: str, dtype: type[np.generic]) -> Array:
    """One vector of a state, of the type the piece expects; a sentence where it is missing or another."""
    array = tensors.get(name)
    if array is None or array.dtype != dtype or array.ndim != 1:
        raise damaged(f"it lacks the vector {name!r} of type {np.dtype(dtype).name}")
    return array


def field(manifest: Mapping[str, Json], name: str, kind: type | tuple[type, ...]) -> Json:
    """One entry of a manifest, of the type the piece expects; a sentence where it is missing or another."""
    value = manifest.get(name)
    if not isinstance(value, kind):
        raise damaged(f"{manifest.get('kind')!r} lacks a usable entry {name!r}")
    return value


def listed(manifest: Mapping[str, Json], name: str, kind: type) -> tuple[Json, ...]:
    """One entry of a manifest that is a list, all of whose members have the type the piece expects."""
    values = field(manifest, name, list)
    if not all(type(value) is kind for value in values):
        raise damaged(f"{manifest.get('kind')!r} lacks a usable entry {name!r}")
    return tuple(values)


def nest(manifest: dict[str, Json], blocks: Sequence[Piece], tensors: Tensors | None = None) -> State:
    """The state of a piece made of others: their manifests in "blocks", their tensors under "0.", "1." ..."""
    states = [block.state() for block in blocks]
    merged = dict(tensors or {})
    for number, state in enumerate(states):
        merged.update({f"{number}.{name}": array for name, array in state.tensors.items()})
    return State({**manifest, "blocks": [state.manifest for state in states]}, merged)


def nested(state: State) -> list[State]:
    """The states that `nest` put together."""
    manifests = state.manifest.get("blocks", [])
    if not isinstance(manifests, list) or not all(isinstance(manifest, dict) for manifest in manifests):
        raise damaged(f"{state.manifest.get('kind')!r} lacks usable blocks")
    parts: dict[str, Tensors] = {str(number): {} for number in range(len(manifests))}
    for name, array in state.tensors.items():
        number, _, rest = name.partition(".")
        if number in parts:
            parts[number][rest] = array
    return [State(manifest, tensors) for manifest, tensors in zip(manifests, parts.values(), strict=True)]


ROOM = 1 << 28
"""Bytes that labels may take in memory."""


def pack_labels(name: str, labels: Array) -> dict[str, Array]:
    """Labels as tensors: numbers as they are, strings as UTF-8 bytes and offsets, times as numbers named by their unit.

    >>> pack_labels("classes", np.array(["2020", "2021"], "M8[Y]"))
    {'classes.datetime64[Y]': array([50, 51])}
    """
    if labels.dtype.kind in "biuf":
        return {f"{name}.numbers": labels}
    if labels.dtype.kind in "mM":
        return {f"{name}.{labels.dtype.name}": labels.astype(np.int64)}
    if labels.dtype.kind == "S":
        return {f"{name}.raw": np.ascontiguousarray(labels).view(np.uint8).reshape(len(labels), -1)}
    return pack_strings(name, [str(label) for label in labels])


def unpack_labels(name: str, tensors: dict[str, Array]) -> Array | None:
    """The labels again, or None where there are none."""
    if f"{name}.numbers" in tensors:
        return tensors[f"{name}.numbers"]
    if f"{name}.raw" in tensors:
        raw = tensors[f"{name}.raw"]
        if raw.ndim != 2 or not raw.shape[1]:
            raise damaged(f"{name!r} does not hold labels")
        return np.ascontiguousarray(raw, np.uint8).view(f"S{raw.shape[1]}").reshape(-1)
    for path, numbers in tensors.items():
        if path.startswith((f"{name}.datetime64[", f"{name}.timedelta64[")):
            return numbers.astype(np.int64).astype(np.dtype(path.removeprefix(f"{name}.")))
    return _label_strings(name, tensors) if f"{name}.offsets" in tensors else None


def _label_strings(name: str, tensors: dict[str, Array]) -> Array:
    """Every label takes the room of the longest: one long label among many must not take all memory."""
    labels = unpack_strings(name, tensors)
    if 4 * len(labels) * max(map(len, labels), default=0) > ROOM:
        raise damaged(f"{name!r} would take more than {ROOM:,} bytes")
    return np.array(labels, dtype=str)
