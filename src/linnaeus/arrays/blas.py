"""BLAS on one thread: its sums change with the number of threads, and a fit has the same bits on every machine."""

from __future__ import annotations

from contextlib import AbstractContextManager


def single_blas() -> AbstractContextManager[object]:
    """A context in which every BLAS that is loaded by now works on one thread; one loaded later is not held."""
    from threadpoolctl import threadpool_limits

    held: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return held
