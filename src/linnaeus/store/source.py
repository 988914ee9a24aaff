"""Opens files safely: only regular files, never more bytes than there are, memory-mapped if large."""

from __future__ import annotations

import errno
import mmap
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

import numpy as np

from linnaeus.errors import MachineError, ModelFileError

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
