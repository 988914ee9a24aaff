"""How many threads the kernels use. The results never depend on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from linnaeus.errors import UsageError, expect

_asked: ContextVar[int | None] = ContextVar("linnaeus_threads", default=None)


def thread_count() -> int:
    """What `threads`, `LINNAEUS_NUM_THREADS` or `OMP_NUM_THREADS` asks for, else the cores this process may use.

    >>> thread_count() >= 1
    True
    """
    asked = _asked.get()
    if asked is not None:
        return asked
    for name in ("LINNAEUS_NUM_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdecimal() and int(value) > 0:
            return int(value)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Use this many threads inside the `with` block.

    >>> with threads(3):
    ...     thread_count()
    3
    """
    expect("threads", count, int)
    if count < 1:
        raise UsageError(f"threads must be at least 1, not {count}; leave it out to use every core.")
    token = _asked.set(count)
    try:
        yield
    finally:
        _asked.reset(token)
