"""How many threads the kernels use (the results never depend on it), and a thread of its own for other work."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, Self, TypeVar

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


T = TypeVar("T")


class Beside(Generic[T]):
    """`begin` starts the work, `result` waits for it: what it gives, or the error that it ended with.

    Where only one thread is to be used, or the system gives no other, it is done when its result is asked for. Nothing
    that others do meanwhile may change what it works on.

    >>> Beside(lambda: sum(range(10))).begin().result()
    45
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work, self._thread = work, None if thread_count() < 2 else self._ready()
        self._found: list[T] = []
        self._error: BaseException | None = None
        self._done = False

    def begin(self) -> Self:
        """Start, unless it has been started."""
        if self._thread is not None and self._thread.ident is None:
            try:
                self._thread.start()
            except RuntimeError:
                self._thread = None
        return self

    def result(self) -> T:
        """Wait for it, or do it now."""
        if self._thread is not None and self._thread.ident is not None:
            self._thread.join()
        if not self._done:
            self._run()
        if self._error is not None:
            raise self._error
        return self._found[0]

    def _ready(self) -> threading.Thread:
        # As many threads are used inside as were asked for outside.
        context = contextvars.copy_context()
        return threading.Thread(target=lambda: context.run(self._run))

    def _run(self) -> None:
        try:
            self._found.append(self._work())
        except BaseException as error:
            self._error = error
        self._done = True
