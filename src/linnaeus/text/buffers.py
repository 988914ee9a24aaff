"""Texts in the form of the kernels: one UTF-8 buffer and offsets, as in Arrow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.types import Bytes, Texts, offsets_of


def as_texts(array: pa.Array) -> Texts:
    """The bytes and offsets of an Arrow string array; only 32-bit offsets are copied, never text.

    >>> as_texts(pa.array(["ab", "c"])).offsets.tolist()
    [0, 2, 3]
    """
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    if len(array) == 0:
        return Texts(np.zeros(0, np.uint8), np.zeros(1, np.int64))
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, np.int64 if wide else np.int32)[array.offset : array.offset + len(array) + 1]
    bytes_ = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    return Texts(bytes_, bounds.astype(np.int64, copy=False))


def from_strings(texts: list[str]) -> Texts:
    """Python strings in memory of Arrow's pool, which reuses freed pages; new pages would cost more than copying.

    >>> from_strings(["ab", "é"]).offsets.tolist()
    [0, 2, 4]
    """

    def make(size: int) -> Bytes:
        return np.frombuffer(pa.allocate_buffer(size), np.uint8)

    return Texts(*kernels.pack_texts(texts, make, kernels.thread_count()))


def as_arrow(texts: Texts) -> pa.Array:
    """The same bytes as an Arrow array of large strings, not copied."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(texts.offsets)), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def pack(pieces: Sequence[bytes]) -> Texts:
    """Concatenate byte strings."""
    return Texts(np.frombuffer(b"".join(pieces), np.uint8), offsets_of([len(piece) for piece in pieces]))


def replace(texts: Texts, changed: dict[int, bytes]) -> Texts:
    """The texts with some of them replaced; the parts in between are copied in one piece."""
    if not changed:
        return texts
    lengths = np.diff(texts.offsets)
    raw, at = np.ascontiguousarray(texts.data).data, int(texts.offsets[0])
    pieces: list[bytes | memoryview] = []
    for row, text in sorted(changed.items()):
        pieces += [raw[at : int(texts.offsets[row])], text]
        at = int(texts.offsets[row + 1])
        lengths[row] = len(text)
    pieces.append(raw[at : int(texts.offsets[-1])])
    return Texts(np.frombuffer(b"".join(pieces), np.uint8), offsets_of(lengths))
