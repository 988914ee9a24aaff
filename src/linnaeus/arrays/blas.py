"""BLAS on one thread: its sums change with the number of threads, and a fit has the same bits on every machine."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def single_blas() -> AbstractContextManager[object]:
    """A context in which every BLAS that is loaded by now works on one thread; one loaded later is not held."""
    held: AbstractContextManager[object] = _found("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")
    return held


@cache
def _found(scipy: bool) -> Any:
    """The libraries in this process, looked for once (3 ms), and again when SciPy has brought its own."""
    from threadpoolctl import ThreadpoolController

    del scipy
    return ThreadpoolController()
