"""Checkpoints of a training: after an epoch, in one step, so that a kill leaves the last good one to go on from."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import store
from linnaeus.errors import UsageError
from linnaeus.types import LabelSets, Start, State

if TYPE_CHECKING:
    from linnaeus.erm import Objective, Record
    from linnaeus.types import Step

SHARE = 0.1
"""The share of the time that saving may take."""


class Checkpoint:
    """Saves what an optimizer needs to go on. It belongs to one problem and one recipe, and is gone when they are done.

    Optimizers that tell their state go on to the same bits; the others start from the weights reached so far.
    """

    def __init__(self, path: Any, objective: Objective, optimizer: Any) -> None:
        self.path = Path(path)
        self.belongs = _fingerprint(objective, optimizer)
        self.cost, self.saved = 0.0, -np.inf

    def resume(self, start: Start) -> Start:
        """Where the last training was when it ended before its time; else the start as it is."""
        if not self.path.exists():
            return start
        state = store.load(self.path)
        if state.manifest.get("belongs") != self.belongs:
            raise UsageError(
                f"The checkpoint {self.path} belongs to other data or another recipe; remove it, or name another file."
            )
        found = {
            kind: {name.removeprefix(kind): value for name, value in state.tensors.items() if name.startswith(kind)}
            for kind in ("params.", "state.")
        }
        unknown = {name: np.full(1, np.nan) for name in state.manifest["unknown"]}
        kept = {**found["state."], **unknown}
        return replace(start, params=found["params."], epoch=int(state.manifest["epoch"]), state=kept)

    def __call__(self, _record: Record, step: Step) -> None:
        """Save, unless the last time is so recent that it would take too much of the time."""
        now = time.perf_counter()
        if now - self.saved < self.cost / SHARE:
            return
        kept = step.state()
        unknown = [name for name, value in kept.items() if value.shape == (1,) and np.isnan(value[0])]
        tensors = {f"params.{name}": value for name, value in step.params().items()}
        tensors |= {f"state.{name}": np.asarray(value) for name, value in kept.items() if name not in unknown}
        manifest = {"kind": "checkpoint", "belongs": self.belongs, "epoch": step.epoch, "unknown": unknown}
        store.save(self.path, State(manifest, tensors))
        self.saved = time.perf_counter()
        self.cost = self.saved - now

    def done(self) -> None:
        """Nothing is left to go on from."""
        self.path.unlink(missing_ok=True)


def _fingerprint(objective: Objective, optimizer: Any) -> str:
    """A digest of data and pieces."""
    o = objective
    digest = hashlib.sha256(repr((o.X.shape, o.k, o.bias, o.space, o.loss, o.regularizer, optimizer)).encode())
    arrays = [o.y.offsets, o.y.labels] if isinstance(o.y, LabelSets) else [np.asarray(o.y)]
    for array in [*arrays, o.weights, o.X.tdot(np.ones(o.X.shape[0]))]:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
