"""The bytes of a model file, and its header: format number, manifest, and digests of the manifest and of every tensor.

    8 bytes   the size of the header, little-endian
    header    {"__metadata__":{"linnaeus":ENVELOPE},NAME:{"dtype":...,"shape":...,"data_offsets":[from,to]},...}
    tensors   one after the other, nothing between them

The header follows from the envelope alone, so reading one is: take the envelope, make the header again, compare.
Tensors lie by the size of their type, largest first, then by name; spaces fill the header up to a multiple of 8. So
every tensor is aligned, and these are the bytes which the safetensors library would write.

The overall digest covers the manifest and each tensor's name, type, shape and digest, so it is known before any tensor
is read. JSON has one form here (sorted keys, no spaces, ASCII): a text that differs from what would be written is
refused, so that no byte of it can change unseen.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from linnaeus.errors import ModelFileError, UsageError
from linnaeus.types import Array, Json

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


def damaged(where: str, what: str) -> ModelFileError:
    """The error for a file that is not as it was written."""
    return ModelFileError(f"{where} is damaged: {what}; restore it from a copy.")


def canonical(value: Json) -> str:
    """The one JSON text of a value.

    >>> canonical({"b": 1, "a": [0.5, None]})
    '{"a":[0.5,null],"b":1}'
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"The manifest must be plain JSON with finite numbers: {error}.") from error


def fingerprint(array: Array) -> dict[str, Json]:
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
        raise damaged(where, "its manifest is not JSON") from error
    number = _format(envelope, where)
    manifest, prints = envelope.get("manifest"), envelope.get("tensors")
    if not _is_written(text, number, manifest, prints):
        raise damaged(where, "its manifest does not match its digest")
    if not isinstance(manifest, dict) or not isinstance(prints, dict) or not all(map(_is_print, prints.values())):
        raise damaged(where, "its manifest does not describe tensors")
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


KEY = "linnaeus"
"""The one entry in the safetensors metadata."""

SIZE_BYTES = 8
ALIGNMENT = 8
METADATA = "__metadata__"
START = f'{{"{METADATA}":{{"{KEY}":"'
HEADER_LIMIT = 4 * MANIFEST_LIMIT  # the manifest is a JSON string inside JSON, with its quotes escaped

_RANKS = {name: rank for rank, name in enumerate(DTYPES.values())}
_SHORT = {name: short for short, name in DTYPES.items()}


def places(prints: Mapping[str, Json]) -> dict[str, tuple[int, int]]:
    """Where each tensor lies among the tensors' bytes, in the order of the file.

    >>> places({"b": {"dtype": "int8", "shape": [3]}, "W": {"dtype": "float32", "shape": [2, 2]}})
    {'W': (0, 16), 'b': (16, 19)}
    """
    found, at = {}, 0
    for name, print_ in sorted(prints.items(), key=lambda item: (_RANKS[item[1]["dtype"]], item[0])):
        found[name] = at, at + size(print_)
        at = found[name][1]
    return found


def build(envelope: str, prints: Mapping[str, Json]) -> bytes:
    """The header of a file with this envelope and the tensors it names."""
    if len(prints) > TENSOR_LIMIT:
        raise UsageError(f"The state has {len(prints):,} tensors; at most {TENSOR_LIMIT:,} go into one model file.")
    if METADATA in prints:
        raise UsageError(f"A tensor cannot be named {METADATA!r}: safetensors keeps that name for itself.")
    entries: dict[str, Json] = {METADATA: {KEY: envelope}}
    for name, bounds in places(prints).items():
        dtype, shape = _SHORT[prints[name]["dtype"]], prints[name]["shape"]
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": list(bounds)}
    try:
        text = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"The name of a tensor is not text: {error}.") from error
    return text + b" " * (-len(text) % ALIGNMENT)


def is_model(path: str) -> bool:
    """Whether a file begins as a model does; nothing more of it is read."""
    try:
        if not Path(path).is_file():
            return False  # to open a pipe would be to wait for its writer
        with Path(path).open("rb") as file:
            return file.read(SIZE_BYTES + len(START))[SIZE_BYTES:] == START.encode()
    except (OSError, ValueError):
        return False


def envelope_of(raw: bytes, where: str) -> str:
    """The envelope in a header; nothing else of it is looked at, or parsed."""
    if not raw.startswith(START.encode()):
        raise ModelFileError(f"{where} is not a Linnaeus model file: it has no manifest.")
    try:
        # A string begins here, so that this parses one string and no deep or large structure.
        text, _ = json.JSONDecoder().raw_decode(raw.decode(), len(START) - 1)
    except (ValueError, RecursionError) as error:
        raise damaged(where, "its header is not JSON") from error
    return str(text)


def check(raw: bytes, envelope: str, prints: Mapping[str, Json], where: str) -> None:
    """Refuse a header that is not, byte for byte, the one of its envelope."""
    try:
        same = build(envelope, prints) == raw
    except UsageError:
        same = False
    if not same:
        raise damaged(where, "its tensors are not those of its manifest, or its header has been changed")
