"""The envelope in a file's header: format number, manifest, and digests of the manifest and of every tensor.

The overall digest covers the manifest and each tensor's name, type, shape and digest, so it is known before any tensor
is read. JSON has one form here (sorted keys, no spaces, ASCII): a text that differs from what would be written is
refused, so that no byte of it can change unseen.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnaeus.errors import ModelFileError, UsageError
from linnaeus.types import Json

FORMAT = 1
"""The version of the file format; a file with a higher one is refused."""

MANIFEST_LIMIT = 8 * 1024 * 1024
"""Characters of an envelope. Parsed JSON takes up to thirty times its text, and a stranger may have written it."""

TENSOR_LIMIT = 1024
DIMENSION_LIMIT = 8
SIZE_LIMIT = 1 << 62

DTYPES = {
    "U64": "uint64",
    "I64": "int64",
    "F64": "float64",
    "F32": "float32",
    "U32": "uint32",
    "I32": "int32",
    "F16": "float16",
    "U16": "uint16",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}
"""The types a tensor may have: safetensors' name, and NumPy's; in the order in which tensors lie in a file."""

KNOWN = frozenset(DTYPES.values())


def canonical(value: Json) -> str:
    """The one JSON text of a value.

    >>> canonical({"b": 1, "a": [0.5, None]})
    '{"a":[0.5,null],"b":1}'
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"The manifest must be plain JSON with finite numbers: {error}.") from error


def fingerprint(array: NDArray[Any]) -> dict[str, Json]:
    """A tensor's type, shape and SHA-256."""
    contiguous = np.asarray(array, order="C")
    digest = hashlib.sha256(contiguous.reshape(-1).view(np.uint8).data).hexdigest()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "sha256": digest}


def seal(manifest: Mapping[str, Json], prints: Mapping[str, Json]) -> str:
    """The envelope's text: what `open_envelope` reads."""
    text = _compose(FORMAT, dict(manifest), dict(prints))
    if len(text) > MANIFEST_LIMIT:
        raise UsageError(f"The manifest has {len(text):,} bytes; at most {MANIFEST_LIMIT:,} go into one model file.")
    return text


def open_envelope(text: str, where: str) -> tuple[dict[str, Json], dict[str, Json]]:
    """The manifest and the tensors' fingerprints, checked against the overall digest."""
    if len(text) > MANIFEST_LIMIT:
        raise ModelFileError(f"{where} cannot be used: its manifest is larger than {MANIFEST_LIMIT:,} bytes.")
    try:
        envelope = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{where} is damaged: its manifest is not JSON; restore it from a copy.") from error
    number = _format(envelope, where)
    manifest, prints = envelope.get("manifest"), envelope.get("tensors")
    if not _is_written(text, number, manifest, prints):
        raise ModelFileError(f"{where} is damaged: its manifest does not match its digest; restore it from a copy.")
    if not isinstance(manifest, dict) or not isinstance(prints, dict) or not all(map(_is_print, prints.values())):
        raise ModelFileError(f"{where} is damaged: its manifest does not describe tensors; restore it from a copy.")
    return manifest, prints


def size(print_: Mapping[str, Json]) -> int:
    """The bytes of a tensor, by its fingerprint.

    >>> size({"dtype": "float32", "shape": [3, 2]})
    24
    """
    return math.prod(print_["shape"]) * np.dtype(print_["dtype"]).itemsize


def _format(envelope: Json, where: str) -> int:
    number = envelope.get("format") if isinstance(envelope, dict) else None
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ModelFileError(f"{where} is not a Linnaeus model file: its header names no format.")
    if number > FORMAT:
        raise ModelFileError(
            f"{where} has format {number}, but this version of Linnaeus reads formats up to {FORMAT}; upgrade Linnaeus."
        )
    return number


def _compose(number: int, manifest: Json, prints: Json) -> str:
    """The text of an envelope; the digest is that of the same text without it."""
    head, tail = f'{{"format":{number},"manifest":{canonical(manifest)},', f'"tensors":{canonical(prints)}}}'
    return f'{head}"sha256":"{hashlib.sha256((head + tail).encode()).hexdigest()}",{tail}'


def _is_written(text: str, number: int, manifest: Json, prints: Json) -> bool:
    try:
        return _compose(number, manifest, prints) == text
    except UsageError:
        return False  # an infinite number, or lists too deep to write


def _is_print(value: Json) -> bool:
    if not isinstance(value, dict) or value.keys() != {"dtype", "shape", "sha256"}:
        return False
    dtype, shape = value["dtype"], value["shape"]
    if not isinstance(dtype, str) or dtype not in KNOWN or not isinstance(value["sha256"], str):
        return False
    if not isinstance(shape, list) or len(shape) > DIMENSION_LIMIT or not all(type(side) is int for side in shape):
        return False
    # Empty sides do not count: NumPy makes no array of 0 x 2^62 x 2^62 either.
    sides = [max(side, 1) for side in shape]
    return all(side >= 0 for side in shape) and math.prod(sides) * np.dtype(dtype).itemsize < SIZE_LIMIT
