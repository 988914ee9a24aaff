"""Saving and loading a `State`: one safetensors file that any safetensors tool can read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnaeus.errors import MachineError, ModelFileError, UsageError, expect, said
from linnaeus.store.atomic import replace_file
from linnaeus.store.manifest import DTYPES, MANIFEST_LIMIT, TENSOR_LIMIT, fingerprint, open_envelope, seal
from linnaeus.types import Json, State

KEY = "linnaeus"
"""The one entry in the safetensors metadata; a second would make the order of bytes a matter of chance."""

VERIFY_LIMIT = 64 * 1024 * 1024
HEADER_LIMIT = 3 * MANIFEST_LIMIT  # the manifest is a JSON string inside JSON, with its quotes escaped

Tensors = dict[str, NDArray[Any]]


def save(path: str | os.PathLike[str], state: State) -> None:
    """Write the state to `path` in one step; the same state always gives the same bytes.

    >>> import tempfile; folder = tempfile.TemporaryDirectory()
    >>> save(f"{folder.name}/a.lin", State({"kind": "example"}, {"w": np.ones(2, np.float32)}))
    >>> load(f"{folder.name}/a.lin").tensors["w"].tolist()
    [1.0, 1.0]
    >>> folder.cleanup()
    """
    from safetensors.numpy import save_file

    expect("path", path, os.PathLike)
    tensors = {name: _storable(name, array) for name, array in state.tensors.items()}
    if len(tensors) > TENSOR_LIMIT:
        raise UsageError(f"The state has {len(tensors):,} tensors; at most {TENSOR_LIMIT:,} go into one model file.")
    envelope = seal(state.manifest, {name: fingerprint(array) for name, array in tensors.items()})
    replace_file(path, lambda passing: save_file(tensors, passing, metadata={KEY: envelope}))


def load(path: str | os.PathLike[str], verify: bool | None = None) -> State:
    """Read a state and check it.

    Header and manifest are always checked against their digest, and every float is checked to be finite. The tensors'
    digests are checked when together they have less than 64 MB, or as `verify` says.
    """
    expect("path", path, os.PathLike)
    where = str(path)
    try:
        _check_header(Path(path), where)
        manifest, tensors = _read(Path(path), where, verify)
    except ModelFileError:
        raise
    except FileNotFoundError as error:
        raise ModelFileError(f"There is no model file {where}; check the name and the folder.") from error
    except IsADirectoryError as error:
        raise ModelFileError(f"{where} is a directory, not a model file; name a file in it.") from error
    except OSError as error:
        raise MachineError(f"Cannot read {where}: {error.strerror or error}.") from error
    return State(manifest, tensors)


def _storable(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """The array as the file holds it: contiguous, little-endian, of an allowed type, finite."""
    array = np.asarray(array, array.dtype.newbyteorder("<"), order="C")
    if array.dtype.name not in DTYPES.values():
        raise UsageError(f"Tensor {name!r} has type {array.dtype}; a model file holds {', '.join(DTYPES.values())}.")
    if not _finite(array):
        raise UsageError(f"Tensor {name!r} holds values that are not finite; a model file holds only finite numbers.")
    return array


def _finite(array: NDArray[Any]) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


def _check_header(path: Path, where: str) -> None:
    """Refuse before any parsing what cannot be a file of ours, or would ask for much memory."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        start = file.read(1)
    if start != b"{" or size + 8 > path.stat().st_size:
        raise ModelFileError(f"{where} is not a Linnaeus model file, or its end is missing.")
    if size > HEADER_LIMIT:
        raise ModelFileError(f"{where} is not a usable model file: its header is larger than {HEADER_LIMIT:,} bytes.")


def _read(path: Path, where: str, verify: bool | None) -> tuple[dict[str, Json], Tensors]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            envelope = (file.metadata() or {}).get(KEY)
            if envelope is None:
                raise ModelFileError(f"{where} is a safetensors file, but not one of Linnaeus: it has no manifest.")
            manifest, prints = open_envelope(envelope, where)
            _compare(file, prints, where)
            tensors = {name: file.get_tensor(name) for name in prints}
    except SafetensorError as error:
        raise ModelFileError(
            f"{where} is damaged or not a Linnaeus model file ({said(error)}); restore it from a copy."
        ) from error
    if verify is None:
        verify = sum(array.nbytes for array in tensors.values()) < VERIFY_LIMIT
    _check_contents(tensors, prints if verify else {}, where)
    return manifest, tensors


def _compare(file: Any, prints: Mapping[str, Json], where: str) -> None:
    """The tensors in the header are those of the manifest: names, types and shapes."""
    names = set(file.keys())
    if len(names) > TENSOR_LIMIT:
        raise ModelFileError(f"{where} is not a usable model file: it has more than {TENSOR_LIMIT:,} tensors.")
    if names != set(prints):
        raise ModelFileError(f"{where} is damaged: its tensors are not those of its manifest; restore it from a copy.")
    for name, print_ in prints.items():
        there = file.get_slice(name)
        if DTYPES.get(str(there.get_dtype())) != print_["dtype"] or list(there.get_shape()) != print_["shape"]:
            raise ModelFileError(
                f"{where} is damaged: tensor {name!r} has not its type and shape; restore it from a copy."
            )


def _check_contents(tensors: Tensors, prints: Mapping[str, Json], where: str) -> None:
    for name, array in tensors.items():
        if name in prints and fingerprint(array) != prints[name]:
            raise ModelFileError(
                f"{where} is damaged: tensor {name!r} is not that of its digest; restore it from a copy."
            )
        if not _finite(array):
            raise ModelFileError(
                f"{where} is damaged: tensor {name!r} holds values that are not finite; restore it from a copy."
            )
