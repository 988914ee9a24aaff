"""Saving and loading a `State`: one safetensors file that any safetensors tool can read.

Only regular files are opened, never more bytes are read than there are, and large files are memory-mapped.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from threading import Thread
from typing import TypeAlias

import numpy as np

from linnaeus.errors import MachineError, ModelFileError, UsageError, expect
from linnaeus.kernels.threads import thread_count
from linnaeus.store import header
from linnaeus.store.atomic import replace_file
from linnaeus.store.blocks import BLOCK, BLOCKS, Guard, digest_blocks
from linnaeus.types import Array, Arrays, Json, State

VERIFY_LIMIT = 64 * 1024 * 1024
"""Files whose tensors have fewer bytes are read and checked as a whole; larger ones are mapped."""

Later: TypeAlias = Callable[[Mapping[str, Json]], Collection[str]]
"""From a manifest to the names of tensors that whoever loads a file checks itself."""


def save(path: str | os.PathLike[str], state: State, force: bool = True) -> None:
    """Write the state to `path` in one step; the same state always gives the same bytes.

    Without `force`, an existing file is not overwritten.

    >>> import tempfile; folder = tempfile.TemporaryDirectory()
    >>> save(f"{folder.name}/a.lin", State({"kind": "example"}, {"w": np.ones(2, np.float32)}))
    >>> load(f"{folder.name}/a.lin").tensors["w"].tolist()
    [1.0, 1.0]
    >>> folder.cleanup()
    """
    expect("path", path, os.PathLike)
    if not force and Path(path).exists():
        raise UsageError(f"{os.fspath(path)} already exists; give another name, or overwrite it with force=True.")
    tensors = {name: _storable(name, array) for name, array in state.tensors.items()}
    if BLOCKS in tensors:
        raise UsageError(f"A tensor cannot be named {BLOCKS!r}: large files keep that name for themselves.")
    prints = fingerprints(tensors)
    if sum(array.nbytes for array in tensors.values()) >= VERIFY_LIMIT:
        tensors[BLOCKS] = digest_blocks(tensors, list(header.places(prints)))
        prints |= fingerprints({BLOCKS: tensors[BLOCKS]})
    head = header.build(header.seal(state.manifest, prints), prints)

    def write(passing: Path) -> None:
        with passing.open("wb") as file:
            file.write(len(head).to_bytes(header.SIZE_BYTES, "little") + head)
            for name in header.places(prints):
                file.write(tensors[name].reshape(-1).view(np.uint8).data)

    replace_file(path, write)


def load(path: str | os.PathLike[str], verify: bool | None = None, later: Later | None = None) -> State:
    """Read a state and check it; its arrays are read-only, and lie in one piece of memory or in the file itself.

    The header is always checked against its digest. The tensors are checked against theirs, and for numbers that are
    not finite, when together they have less than 64 MB, or as `verify` says. A larger file is mapped, not read: of its
    tensors those of up to 64 kB are checked in the same way, the others by the digests of their blocks. Those that
    `later` names, by the manifest, are left to the caller: each has a guard in the state.

    >>> from linnaeus import Recipe
    >>> Recipe(task="tag").fit([[("dogs", "N"), ("bark", "V")]]).save("tagger.lin")
    >>> load("tagger.lin").manifest["task"]["kind"]
    'tag'
    """
    expect("path", path, os.PathLike)
    where = str(path)
    with opened(path) as file:
        manifest, prints, start = _read_header(file, where)
        data = _read_data(file, (start, sum(b - a for a, b in header.places(prints).values())), where)
        tensors = {name: _array(data[a:b], prints[name]) for name, (a, b) in header.places(prints).items()}
        most = VERIFY_LIMIT if len(data) < VERIFY_LIMIT else VERIFY_LIMIT // header.TENSOR_LIMIT
        whole = {BLOCKS, *(name for name, array in tensors.items() if verify or array.nbytes <= most)}
        checked = {name: array for name, array in tensors.items() if name in whole and verify is not False}
        _check(checked, prints, where)
    guards = {} if verify is False else _guards(tensors, whole, data.obj, where)
    for name in set(guards) - set(later(manifest) if later else ()):
        guards[name].check()
        if guards[name].kernel is not None:
            del guards[name]
    return State(manifest, {name: tensors[name] for name in prints if name != BLOCKS}, guards)


def _guards(tensors: Arrays, checked: set[str], held: object, where: str) -> dict[str, Guard]:
    """A guard for each tensor that has not been checked; of a file without digests of blocks it checks nothing."""
    digests, found, at = tensors.get(BLOCKS), {}, 0
    if digests is not None and (digests.dtype != np.uint64 or digests.ndim != 1):
        raise header.damaged(where, "its block digests are not valid")
    for name, array in tensors.items():
        count = -(-array.nbytes // BLOCK)
        if name not in checked:
            own = None if digests is None else digests[at : at + count]
            if own is not None and len(own) != count:
                raise header.damaged(where, "its block digests do not fit its tensors")
            found[name] = Guard(array, own, where, held if isinstance(held, MAPPED) else None)
        at += count * (name != BLOCKS)
    return found


def _read_header(file: FileIO, where: str) -> tuple[dict[str, Json], dict[str, Json], int]:
    """The manifest, the fingerprints, and where the tensors start."""
    start = take(file, header.SIZE_BYTES)
    size = int.from_bytes(start, "little")
    if len(start) < header.SIZE_BYTES or size + header.SIZE_BYTES > length(file):
        raise ModelFileError(f"{where} is not a Linnaeus model file, or its end is missing.")
    if size > header.HEADER_LIMIT:
        raise ModelFileError(
            f"{where} is not a usable model file: its header is larger than {header.HEADER_LIMIT:,} bytes."
        )
    raw = bytes(take(file, size))
    envelope = header.envelope_of(raw, where)
    manifest, prints = header.open_envelope(envelope, where)
    header.check(raw, envelope, prints, where)
    return manifest, prints, header.SIZE_BYTES + size


def _read_data(file: FileIO, bounds: tuple[int, int], where: str) -> memoryview:
    start, size = bounds
    if length(file) > start + size:
        raise header.damaged(where, "it has extra bytes at its end")
    data = memoryview(b"")
    if length(file) == start + size:
        data = take(file, size) if size < VERIFY_LIMIT else view(file, start, size)
    if len(data) < size:
        raise header.damaged(where, "its end is missing")
    return data


def _array(data: memoryview, print_: Mapping[str, Json]) -> Array:
    """A tensor as a view of the file; a copy if the machine has another byte order."""
    dtype = np.dtype(print_["dtype"])
    if sys.byteorder == "little":
        return np.ndarray(print_["shape"], dtype, data)
    return np.ndarray(print_["shape"], dtype.newbyteorder("<"), data).astype(dtype)


def _storable(name: str, array: Array) -> Array:
    """The array as the file holds it: contiguous, little-endian, of an allowed type, finite."""
    array = np.asarray(array, array.dtype.newbyteorder("<"), order="C")
    if array.dtype.name not in header.KNOWN:
        raise UsageError(
            f"Tensor {name!r} has type {array.dtype}; a model file holds {', '.join(sorted(header.KNOWN))}."
        )
    if array.ndim > header.DIMENSION_LIMIT:
        raise UsageError(f"Tensor {name!r} has {array.ndim} axes; a model file holds at most {header.DIMENSION_LIMIT}.")
    if not _is_plain(array):
        raise UsageError(f"Tensor {name!r} holds values that are not finite; a model file holds only finite numbers.")
    return array


def _is_plain(array: Array) -> bool:
    """Whether all numbers are finite and all booleans 0 or 1, which other packages rely on."""
    if array.size == 0 or array.dtype.kind in "iu":
        return True
    if array.dtype.kind == "b":
        return bool(array.view(np.uint8).max() <= 1)
    if array.dtype == np.float16:
        return bool(np.isfinite(array).all())
    with np.errstate(invalid="ignore"):
        return bool(np.isfinite(array.min()) and np.isfinite(array.max()))  # eight times as fast as asking each


def _check(tensors: Arrays, prints: Mapping[str, Json], where: str) -> None:
    for name, found in fingerprints(tensors).items():
        if found != prints[name]:
            raise header.damaged(where, f"tensor {name!r} does not match its digest")
        if not _is_plain(tensors[name]):
            raise header.damaged(where, f"tensor {name!r} holds values that are not finite")


CAN_MAP = os.name == "posix"
"""Elsewhere a mapped file cannot be replaced, and saving a model over the one in use must work."""

MAPPED = mmap.mmap
"""What holds the bytes of a mapped file."""

_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL}


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[FileIO]:
    """The open file; system errors become messages of one sentence."""
    where = os.fspath(path)
    try:
        # Before opening it: a pipe would wait for a writer, and what a device does is not known.
        _check_plain(_status(where), where)
        with FileIO(os.open(where, _FLAGS)) as file:
            _check_plain(os.fstat(file.fileno()), where)
            yield file
    except MemoryError as error:
        raise MachineError(f"Cannot read {where}: there is not enough memory for it.") from error
    except OSError as error:
        if error.errno in _NOT_THERE:
            raise ModelFileError(f"There is no model file {where}; check the name and the folder.") from error
        raise MachineError(f"Cannot read {where}: {error.strerror or error}.") from error


def length(file: FileIO) -> int:
    """The bytes of an open file."""
    return os.fstat(file.fileno()).st_size


def take(file: FileIO, count: int) -> memoryview:
    """The next bytes, in memory of their own; fewer where the file ends, or has been cut meanwhile."""
    held = np.empty(count, np.uint8).data
    at = 0
    while at < count and (got := file.readinto(held[at:])):
        at += got
    return held[:at].toreadonly()


def view(file: FileIO, start: int, count: int) -> memoryview:
    """These bytes of a file where they lie, without reading them; a copy where files cannot be mapped."""
    if CAN_MAP and count:
        try:
            whole = mmap.mmap(file.fileno(), start + count, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            pass  # some file systems cannot, and a file may have been cut meanwhile
        else:
            return memoryview(whole)[start:]
    file.seek(start)
    return take(file, count)


def _status(where: str) -> os.stat_result:
    try:
        return Path(where).stat()
    except ValueError as error:
        raise ModelFileError(f"There is no model file {where!r}: that is not a valid file name ({error}).") from error


def _check_plain(found: os.stat_result, where: str) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise ModelFileError(f"{where} is a directory, not a model file; name a file in it.")
    if not stat.S_ISREG(found.st_mode):
        raise ModelFileError(f"{where} is a pipe or a device, not a model file; copy the model to a file first.")


LARGE = 4 * 1024 * 1024
"""Bytes together from which threads are worth their start."""

MOST = 4
"""Threads: one or two tensors are most of a file."""


def fingerprints(tensors: Mapping[str, Array]) -> dict[str, Json]:
    """The header.fingerprint of each; hashing leaves the interpreter to other threads.

    >>> import numpy as np
    >>> fingerprints({"b": np.zeros(2, np.float32)})["b"]["shape"]
    [2]
    """
    waiting = sorted(tensors, key=lambda name: tensors[name].nbytes)
    found: dict[str, Json] = {}

    def work() -> None:
        with suppress(IndexError):
            while True:
                name = waiting.pop()  # the largest first, so that the threads end together
                found[name] = header.fingerprint(tensors[name])

    helpers: list[Thread] = []
    if sum(array.nbytes for array in tensors.values()) >= LARGE:
        with suppress(RuntimeError):  # the system gives no more threads: it goes with fewer
            for _ in range(min(thread_count(), MOST) - 1):
                helpers.append(Thread(target=work))
                helpers[-1].start()
    work()
    for helper in helpers:
        if helper.ident is not None:
            helper.join()
    # What a helper failed at is done again, so that its error is raised here.
    return {name: found[name] if name in found else header.fingerprint(tensors[name]) for name in tensors}
