"""BLAS on one thread: its sums depend on the number of threads, but a fit must not."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def single_blas() -> AbstractContextManager[object]:
    """A context in which every loaded BLAS library uses one thread; libraries loaded later are not affected."""
    held: AbstractContextManager[object] = _found("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")
    return held


@cache
def _found(scipy: bool) -> Any:
    """The BLAS libraries of this process, searched once (3 ms), and again after SciPy has loaded its own."""
    from threadpoolctl import ThreadpoolController

    del scipy
    return ThreadpoolController()
