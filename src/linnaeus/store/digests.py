"""The fingerprints of many tensors, by several threads where they are large."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from threading import Thread
from typing import Any

from numpy.typing import NDArray

from linnaeus.kernels.threads import thread_count
from linnaeus.store.manifest import fingerprint
from linnaeus.types import Json

LARGE = 4 * 1024 * 1024
"""Bytes together from which threads are worth their start."""

MOST = 4
"""Threads: one or two tensors are most of a file."""


def fingerprints(tensors: Mapping[str, NDArray[Any]]) -> dict[str, Json]:
    """The fingerprint of each; hashing leaves the interpreter to other threads.

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
                found[name] = fingerprint(tensors[name])

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
    return {name: found[name] if name in found else fingerprint(tensors[name]) for name in tensors}
