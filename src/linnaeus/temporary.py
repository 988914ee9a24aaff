"""Temporary files and folders of this process: a process that has to end at once removes them all.

Each one is named here before it is made and forgotten when it is gone, so that none is left whenever a signal comes.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder) / "half"
...     create(path, Path.touch)
...     remove(path)
...     path.exists()
False
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path

_paths: set[Path] = set()
_lock = threading.Lock()


def create(path: Path, make: Callable[[Path], object]) -> None:
    """Make a file or a folder that is to be removed, or moved to its place, later."""
    with _lock:
        _paths.add(path)
        make(path)


def forget(path: Path) -> None:
    """It is temporary no more."""
    _paths.discard(path)


def remove(path: Path) -> None:
    """Remove it, if it is there; what cannot be removed is left without a word."""
    with contextlib.suppress(OSError):
        if path.is_dir():
            import shutil

            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    forget(path)


def remove_all() -> None:
    """Remove what there is, as the last act of a process: nothing temporary can be made after it."""
    _lock.acquire(timeout=0.1)
    for path in list(_paths):
        remove(path)
