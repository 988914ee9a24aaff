"""The bytes of a model file: the size of the header, the header, the tensors; safetensors, in one form only.

    8 bytes   the size of the header, little-endian
    header    {"__metadata__":{"linnaeus":ENVELOPE},NAME:{"dtype":...,"shape":...,"data_offsets":[from,to]},...}
    tensors   one after the other, nothing between them

The header follows from the envelope alone, so reading one is: take the envelope, make the header again, compare.
Tensors lie by the size of their type, largest first, then by name; spaces fill the header up to a multiple of 8. So
every tensor is aligned, and these are the bytes which the safetensors library would write.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from linnaeus.errors import ModelFileError, UsageError
from linnaeus.store.manifest import DTYPES, MANIFEST_LIMIT, TENSOR_LIMIT, size
from linnaeus.types import Json

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


def header(envelope: str, prints: Mapping[str, Json]) -> bytes:
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
        raise ModelFileError(f"{where} is damaged: its header is not JSON; restore it from a copy.") from error
    return str(text)


def check_header(raw: bytes, envelope: str, prints: Mapping[str, Json], where: str) -> None:
    """Refuse a header that is not, byte for byte, the one of its envelope."""
    try:
        same = header(envelope, prints) == raw
    except UsageError:
        same = False
    if not same:
        raise ModelFileError(
            f"{where} is damaged: its tensors are not those of its manifest, or its header has been changed; "
            "restore it from a copy."
        )
