"""Replacing a file in one step: whoever reads it sees the old one or the new one, also after a crash."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from linnaeus import temporary
from linnaeus.errors import LinnaeusError, MachineError


def replace_file(path: str | os.PathLike[str], write: Callable[[Path], None]) -> None:
    """Let `write` fill a new file beside `path`, make it durable, and put it in the place of `path`.

    A link is followed, so that the file it points to is replaced and not the link itself.
    """
    with replacing(path) as passing:
        write(passing)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The same for work that takes its time: the new file is in its place when the block ends, and gone if it fails."""
    target = Path(os.path.realpath(path))
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise MachineError(f"Cannot write {target}: it is a device or a pipe, and would be replaced; name a file.")
    passing = target.with_name(f".{target.name}.{os.urandom(6).hex()}.tmp")
    try:
        try:
            temporary.create(passing, _create)
            mode = passing.stat().st_mode  # what the user's umask asks for; the block may make the file anew
            yield passing
            passing.chmod(mode)
            _flush(passing, os.O_RDWR)
            passing.replace(target)
        finally:
            temporary.remove(passing)
        # Make the new name durable too; where the file system cannot (Windows, some networks), it is in place anyway.
        with contextlib.suppress(OSError):
            _flush(target.parent, os.O_RDONLY)
    except LinnaeusError:
        raise
    except OSError as error:
        raise MachineError(_sentence(target, error)) from error


def _create(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))


def _flush(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sentence(target: Path, error: OSError) -> str:
    if not target.parent.is_dir():
        return f"Cannot write {target}: there is no directory {target.parent}; create it first."
    if target.is_dir():
        return f"Cannot write {target}: it is a directory; give the name of a file."
    return f"Cannot write {target}: {error.strerror or error}; nothing was changed."
