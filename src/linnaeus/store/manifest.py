"""The envelope in a file's header: format number, manifest, and digests of the manifest and of every tensor.

The overall digest covers the manifest and each tensor's name, type, shape and digest, so it is known before any tensor
is read. JSON is compared in its canonical form (sorted keys, no spaces), so a digest speaks of content, not of layout.
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

MANIFEST_LIMIT = 16 * 1024 * 1024
TENSOR_LIMIT = 1024

DTYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "U32": "uint32",
    "I32": "int32",
    "U64": "uint64",
    "I64": "int64",
    "F32": "float32",
    "F64": "float64",
}
"""The types a tensor may have: safetensors' name, and NumPy's."""


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
    content = {"format": FORMAT, "manifest": dict(manifest), "tensors": dict(prints)}
    text = canonical({**content, "sha256": _digest(content)})
    if len(text) > MANIFEST_LIMIT:
        raise UsageError(f"The manifest has {len(text):,} bytes; at most {MANIFEST_LIMIT:,} go into one model file.")
    return text


def open_envelope(text: str, where: str) -> tuple[dict[str, Json], dict[str, Json]]:
    """The manifest and the tensors' fingerprints, checked against the overall digest."""
    if len(text) > MANIFEST_LIMIT:
        raise ModelFileError(f"{where} is not usable: its manifest is larger than {MANIFEST_LIMIT:,} bytes.")
    try:
        envelope = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{where} is damaged: its manifest is not JSON; restore it from a copy.") from error
    _check_format(envelope, where)
    content = {name: envelope.get(name) for name in ("format", "manifest", "tensors")}
    if envelope.get("sha256") != _digest(content) or len(envelope) != len(content) + 1:
        raise ModelFileError(f"{where} is damaged: its manifest does not match its digest; restore it from a copy.")
    manifest, prints = content["manifest"], content["tensors"]
    if not isinstance(manifest, dict) or not isinstance(prints, dict) or not all(map(_is_print, prints.values())):
        raise ModelFileError(
            f"{where} is damaged: its manifest is not made of names and tensors; restore it from a copy."
        )
    return manifest, prints


def _check_format(envelope: Json, where: str) -> None:
    number = envelope.get("format") if isinstance(envelope, dict) else None
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ModelFileError(f"{where} is not a Linnaeus model file: its header names no format.")
    if number > FORMAT:
        raise ModelFileError(
            f"{where} has format {number}, but this version of Linnaeus reads formats up to {FORMAT}; upgrade Linnaeus."
        )


def _digest(content: Mapping[str, Json]) -> str:
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def _is_print(value: Json) -> bool:
    return isinstance(value, dict) and value.keys() == {"dtype", "shape", "sha256"}


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is not a number JSON knows")


def _finite(digits: str) -> float:
    """A number of the file; 1e999 is infinite in Python, and canonical JSON knows no such thing."""
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)
