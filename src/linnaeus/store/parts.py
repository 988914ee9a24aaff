"""A file of several states, written in one step, from which interrupted work continues."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from linnaeus.errors import UsageError, damaged, expect
from linnaeus.frozen import dataclass
from linnaeus.store.file import load, save
from linnaeus.types import Arrays, State

KIND = "checkpoint"
SHARE = 0.1
"""The share of the time that saving may take."""


class PartsFile:
    """States by name in one file, which belongs to one piece of work and is gone when that is done.

    A state is written at once, unless the last time is so recent that saving would take too much of the time; then it
    is written with the next one.

    >>> file = PartsFile("work.part", belongs="these data")
    >>> file.part("first").put(State({"step": 1}, {"w": np.array([1.0, np.inf])}))
    >>> PartsFile("work.part", belongs="these data").part("first").get().tensors["w"].tolist()
    [1.0, inf]
    >>> file.done()
    """

    def __init__(self, path: str | os.PathLike[str], belongs: str) -> None:
        expect("checkpoint", path, os.PathLike)
        self.path, self.belongs = Path(path), belongs
        self._cost, self._saved = 0.0, -np.inf
        self._parts = self._read() if self.path.exists() else {}

    def part(self, name: str) -> Part:
        """The place of one state."""
        return Part(self, name)

    def get(self, name: str) -> State | None:
        """The state of this name; None where there is none."""
        return self._parts.get(name)

    def put(self, name: str, state: State) -> None:
        """Keep a state, in place of the one before."""
        # Copies: who gave the arrays goes on with them, and a later write has all states.
        self._parts[name] = State(state.manifest, {inner: array.copy() for inner, array in state.tensors.items()})
        if time.perf_counter() - self._saved >= self._cost / SHARE:
            self.write()

    def write(self) -> None:
        """Write all states now."""
        now = time.perf_counter()
        if self._parts:
            save(self.path, self._whole(), force=True)
        self._saved = time.perf_counter()
        self._cost = self._saved - now

    def done(self) -> None:
        """Remove the file when the work is done."""
        self.path.unlink(missing_ok=True)

    def _whole(self) -> State:
        tensors: Arrays = {}
        for name, part in self._parts.items():
            tensors |= {f"{name}/{inner}": array for inner, array in part.tensors.items()}
        wild = [name for name, array in tensors.items() if array.dtype == np.float64 and not np.isfinite(array).all()]
        # A file holds finite numbers only; bits are numbers too.
        tensors |= {name: np.array(tensors[name], order="C").view(np.int64) for name in wild}
        parts = {name: part.manifest for name, part in self._parts.items()}
        return State({"kind": KIND, "belongs": self.belongs, "parts": parts, "bits": wild}, tensors)

    def _read(self) -> dict[str, State]:
        state = load(self.path)
        if state.manifest.get("kind") != KIND:
            raise UsageError(f"{self.path} is not a checkpoint; name another file.")
        if state.manifest.get("belongs") != self.belongs:
            raise UsageError(
                f"The checkpoint {self.path} belongs to other data or another recipe; remove it, or name another file."
            )
        bits, parts = state.manifest.get("bits"), state.manifest.get("parts")
        if not isinstance(bits, list) or not isinstance(parts, dict):
            raise damaged("the checkpoint has no parts")
        found = {str(name): State(dict(manifest), {}) for name, manifest in parts.items()}
        for path, array in state.tensors.items():
            name, _, inner = path.partition("/")
            if name in found:
                found[name].tensors[inner] = array.view(np.float64) if path in bits else array
        return found


@dataclass(frozen=True)
class Part:
    """The place of one state in a file."""

    file: PartsFile
    name: str

    def get(self) -> State | None:
        """The state; None where there is none."""
        return self.file.get(self.name)

    def put(self, state: State) -> None:
        """Keep a state, in place of the one before."""
        self.file.put(self.name, state)
