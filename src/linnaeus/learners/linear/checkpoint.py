"""Checkpoints of a training: after an epoch, in one step, so that a kill leaves the last good one to go on from."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import store
from linnaeus.erm import Record, SoFar, Trace
from linnaeus.errors import UsageError, damaged, expect
from linnaeus.frozen import dataclass
from linnaeus.types import LabelSets, Start, State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.erm import Objective
    from linnaeus.types import Doubles, Step

SHARE = 0.1
"""The share of the time that saving may take."""

COLUMNS = [field.name for field in fields(Record)]
"""The columns of a trace as a table; NaN is unknown."""


@dataclass(frozen=True)
class Owner:
    """What a checkpoint belongs to: the problem, its optimizer and seed, and the rows held out, if any."""

    objective: Objective
    optimizer: Any
    seed: int
    aside: Any = None

    def digest(self) -> str:
        """A fingerprint of data and pieces."""
        o = self.objective
        pieces = (o.X.shape, o.k, o.bias, o.space, o.loss, o.regularizer, self.optimizer, self.seed)
        digest = hashlib.sha256(repr(pieces).encode())
        for part in [(o.X, o.y, o.weights)] + ([(a.rows, a.y, a.weights)] if (a := self.aside) is not None else []):
            for array in _arrays(*part):
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


class Checkpoint:
    """Saves what a training needs to go on: the state of its optimizer, its trace, the best by held-out score.

    It belongs to one problem and one recipe, and is gone when they are done. Optimizers that tell their state go on to
    the same bits; the others (those of SciPy among them) start from the weights reached so far.
    """

    def __init__(self, path: Any, owner: Owner) -> None:
        expect("checkpoint", path, os.PathLike)
        self.path, self.belongs = Path(path), owner.digest()
        self.cost, self.saved = 0.0, -np.inf

    def resume(self, start: Start) -> tuple[Start, SoFar | None]:
        """Where the last training was when it ended before its time; else the start as it is."""
        if not self.path.exists():
            return start, None
        state = store.load(self.path)
        if state.manifest.get("belongs") != self.belongs:
            raise UsageError(
                f"The checkpoint {self.path} belongs to other data or another recipe; remove it, or name another file."
            )
        try:
            return _restored(start, state)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise damaged(f"the checkpoint misses something ({error})") from error

    def __call__(self, so_far: SoFar, step: Step) -> None:
        """Save, unless the last time is so recent that it would take too much of the time."""
        now = time.perf_counter()
        if now - self.saved < self.cost / SHARE:
            return
        tensors = {f"params.{name}": value for name, value in step.params().items()}
        tensors |= {f"state.{name}": np.asarray(value) for name, value in step.state().items()}
        if so_far.best is not None and so_far.trace.epochs_since_best:
            tensors |= {f"best.{name}": value for name, value in so_far.best.items()}
        tensors |= {"trace": _table(so_far.trace), "scale": _known(so_far.trace.scale)}
        wild = [name for name, value in tensors.items() if value.dtype == np.float64 and not np.isfinite(value).all()]
        # A file holds finite numbers only; bits are numbers too.
        tensors |= {name: np.array(tensors[name], order="C").view(np.int64) for name in wild}
        manifest = {"kind": "checkpoint", "belongs": self.belongs, "epoch": step.epoch, "bits": wild}
        store.save(self.path, State(manifest, tensors))
        self.saved = time.perf_counter()
        self.cost = self.saved - now

    def done(self) -> None:
        """Nothing is left to go on from."""
        self.path.unlink(missing_ok=True)


def _restored(start: Start, state: State) -> tuple[Start, SoFar]:
    bits = set(state.manifest["bits"])
    tensors = {name: value.view(np.float64) if name in bits else value for name, value in state.tensors.items()}
    trace = _trace(tensors["trace"], tensors["scale"])
    params, kept, best = (_below(kind, tensors) for kind in ("params.", "state.", "best."))
    last = trace.last
    if last.held_out is not None and not best:
        best = {name: value.copy() for name, value in params.items()}
    return replace(start, params=params, epoch=last.epoch, state=kept, score=last.held_out), SoFar(trace, best or None)


def _below(kind: str, tensors: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(kind): value for name, value in tensors.items() if name.startswith(kind)}


def _table(trace: Trace) -> Doubles:
    """A row for each record."""
    rows = [[getattr(record, name) for name in COLUMNS] for record in trace]
    return np.array(rows, dtype=np.float64)  # None becomes NaN


def _trace(table: Doubles, scale: Doubles) -> Trace:
    """The records again."""
    rows = [[None if np.isnan(value) else float(value) for value in row] for row in table]
    records = [replace(Record(*row), epoch=int(row[0] or 0)) for row in rows]  # type: ignore[arg-type]
    return Trace(records, scale=None if np.isnan(scale[0]) else float(scale[0]))


def _known(value: float | None) -> Doubles:
    return np.array([np.nan if value is None else value])


def _arrays(rows: Any, y: Any, weights: Doubles) -> list[NDArray[Any]]:
    """What tells these examples from others."""
    truth = [y.offsets, y.labels] if isinstance(y, LabelSets) else [np.asarray(y)]
    return [*truth, weights, rows.tdot(np.ones(rows.shape[0]))]
