"""Hostile inputs, tried in workers that are forked from a warmed process and have limits on memory and time.

`try_all` tells what became of each case. A worker takes one case after the other, so that a case costs little more
than its own work; when one kills the worker or hangs, that is its outcome, and a new worker goes on with the next.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import select
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Case = TypeVar("Case")
MEGABYTE = 1 << 20
SPARE = 3 << 30
"""Bytes of address space beyond those before a case, after which an allocation fails."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case: "done", "refused" with a sentence, "failed" with an error, "died" or "hung".

    `grown` are the bytes by which memory rose at the highest, in the worker.
    """

    case: object
    kind: str
    text: str
    grown: int = 0
    seconds: float = 0.0


def try_all(cases: Iterable[Case], act: Callable[[Case], object], seconds: float = 10.0) -> list[Outcome]:
    """Call `act` with each case in a worker; call it once in this process before, with a sound case, to warm it.

    A `LinnaeusError` in one sentence is a refusal. One of the machine (too little memory) is a failure, as is every
    other exception.
    """
    waiting, found = list(cases), []
    while len(found) < len(waiting):
        found += _one_worker(waiting[len(found) :], act, seconds)
    return found


def assert_harmless(outcomes: Iterable[Outcome], allowance: Callable[[object], int]) -> None:
    """Fail if a case failed, died or hung, or took more memory than it is allowed; show the first few."""
    wrong = [one for one in outcomes if one.kind not in ("done", "refused") or one.grown > allowance(one.case)]
    shown = [f"{one.kind}, {one.grown / MEGABYTE:.0f} MB, {one.seconds:.1f} s: {one.case}: {one.text}" for one in wrong]
    assert not wrong, f"{len(wrong)} cases:\n" + "\n".join(line[:600] for line in shown[:10])


def _one_worker(cases: Sequence[Case], act: Callable[[Case], object], seconds: float) -> list[Outcome]:
    """The outcomes of these cases up to the first that ends the worker."""
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of warmed libraries are idle
        worker = os.fork()
    if not worker:
        os.close(ours)
        _work(cases, act, theirs)
    os.close(theirs)
    lines, found = _Lines(ours), []
    for case in cases:
        line = lines.following(seconds)
        if line is None:
            found.append(Outcome(case, "died" if lines.ended else "hung", ""))
            break
        found.append(Outcome(case, *json.loads(line)))
    os.kill(worker, signal.SIGKILL)
    os.close(ours)
    os.waitpid(worker, 0)
    return found


class _Lines:
    """What comes through a pipe, a line at a time."""

    def __init__(self, pipe: int) -> None:
        self._pipe, self._held, self.ended = pipe, b"", False

    def following(self, seconds: float) -> bytes | None:
        """The next line; None where the pipe ends, or none comes in time."""
        until = time.monotonic() + seconds
        while b"\n" not in self._held:
            if not select.select([self._pipe], [], [], max(0.0, until - time.monotonic()))[0]:
                return None
            part = os.read(self._pipe, 1 << 16)
            if not part:
                self.ended = True
                return None
            self._held += part
        line, _, self._held = self._held.partition(b"\n")
        return line


def _work(cases: Sequence[Case], act: Callable[[Case], object], pipe: int) -> None:
    """In the worker: each case, then the end."""
    import resource

    faulthandler.disable()  # the parent tells that a worker died
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    try:
        for case in cases:
            resource.setrlimit(resource.RLIMIT_AS, (_memory("VmSize") + SPARE, resource.RLIM_INFINITY))
            before, began = _settle(), time.monotonic()
            kind, text = _outcome(act, case)
            took = time.monotonic() - began
            os.write(pipe, json.dumps([kind, text[:500], _memory("VmHWM") - before, took]).encode() + b"\n")
    finally:
        os._exit(0)


def _outcome(act: Callable[[Case], object], case: Case) -> tuple[str, str]:
    from linnaeus.errors import LinnaeusError, MachineError

    try:
        return "done", str(act(case))
    except MachineError as error:
        return "failed", repr(error)
    except LinnaeusError as error:
        sentence = str(error)
        return ("failed", repr(error)) if "\n" in sentence or not sentence else ("refused", sentence)
    except BaseException as error:
        return "failed", repr(error)


def _settle() -> int:
    """Bytes in memory now, after what is free was given back; the highest mark is set to it."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _memory("VmRSS")


def _memory(name: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise AssertionError(name)
