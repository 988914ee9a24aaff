"""Labels of any type as tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import damaged
from linnaeus.store.states import pack_strings, unpack_strings

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOM = 1 << 28
"""Bytes that labels may take in memory."""


def pack(name: str, labels: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Labels as tensors: numbers as they are, strings as UTF-8 bytes and offsets, times as numbers named by their unit.

    >>> pack("classes", np.array(["2020", "2021"], "M8[Y]"))
    {'classes.datetime64[Y]': array([50, 51])}
    """
    if labels.dtype.kind in "biuf":
        return {f"{name}.numbers": labels}
    if labels.dtype.kind in "mM":
        return {f"{name}.{labels.dtype.name}": labels.astype(np.int64)}
    if labels.dtype.kind == "S":
        return {f"{name}.raw": np.ascontiguousarray(labels).view(np.uint8).reshape(len(labels), -1)}
    return pack_strings(name, [str(label) for label in labels])


def unpack(name: str, tensors: dict[str, NDArray[Any]]) -> NDArray[Any] | None:
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
    return _strings(name, tensors) if f"{name}.offsets" in tensors else None


def _strings(name: str, tensors: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """Every label takes the room of the longest: one long label among many must not take all memory."""
    labels = unpack_strings(name, tensors)
    if 4 * len(labels) * max(map(len, labels), default=0) > ROOM:
        raise damaged(f"{name!r} would take more than {ROOM:,} bytes")
    return np.array(labels, dtype=str)
