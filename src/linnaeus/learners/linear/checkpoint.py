"""Checkpoints of a training, written atomically after epochs, so that an interrupted training can be resumed."""

from __future__ import annotations

import hashlib
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.erm import Record, SoFar, Trace, train
from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.protocols import Rows, Solver
from linnaeus.types import Array, Arrays, Doubles, LabelSets, Start, State, Step, Truth

if TYPE_CHECKING:
    from linnaeus.erm import Fit, Objective, Watch
    from linnaeus.learners.linear.solving import Problem
    from linnaeus.store.parts import Part

COLUMNS = [field.name for field in fields(Record)]
"""The columns of a trace as a table; NaN is unknown."""


@dataclass(frozen=True)
class Owner:
    """The training that a checkpoint belongs to: the problem, its optimizer and seed, and held-out rows, if any."""

    objective: Objective
    optimizer: Solver
    seed: int
    aside: Problem | None = None

    def digest(self) -> str:
        """A fingerprint of the data and the pieces."""
        o = self.objective
        pieces = (o.X.shape, o.k, o.bias, o.space, o.loss, o.regularizer, self.optimizer, self.seed)
        digest = hashlib.sha256(repr(pieces).encode())
        for part in [(o.X, o.y, o.weights)] + ([(a.rows, a.y, a.weights)] if (a := self.aside) is not None else []):
            for array in _arrays(*part):
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


class Checkpoint:
    """Saves the state of the optimizer, the trace, and the best parameters by held-out score.

    Optimizers that report a state resume with identical results; the others start from the saved weights.
    """

    def __init__(self, place: Part) -> None:
        self.place = place

    def resume(self, start: Start) -> tuple[Start, SoFar | None]:
        """The state of an interrupted training, if there is one; else the start unchanged."""
        state = self.place.get()
        if state is None:
            return start, None
        try:
            return _restored(start, state)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise damaged(f"the checkpoint misses something ({error})") from error

    def __call__(self, so_far: SoFar, step: Step) -> None:
        """Save the training after an epoch."""
        tensors = {f"params.{name}": value for name, value in step.params().items()}
        tensors |= {f"state.{name}": np.asarray(value) for name, value in step.state().items()}
        if so_far.best is not None and so_far.trace.epochs_since_best:
            tensors |= {f"best.{name}": value for name, value in so_far.best.items()}
        scale = np.nan if so_far.trace.scale is None else so_far.trace.scale
        tensors |= {"trace": _table(so_far.trace), "scale": np.array([scale])}
        self.place.put(State({"epoch": step.epoch}, tensors))


def train_from(place: Part | None, objective: Objective, optimizer: Solver, watch: Watch, start: Start) -> Fit:
    """Train, and save a checkpoint in this place after epochs; resume if there is one. None: without checkpoints."""
    if place is None:
        return train(objective, optimizer, watch, start)
    saver = Checkpoint(place)
    start, so_far = saver.resume(start)
    return train(objective, optimizer, replace(watch, listeners=[*watch.listeners, saver]), start, so_far)


def _restored(start: Start, state: State) -> tuple[Start, SoFar]:
    tensors = state.tensors
    trace = _trace(tensors["trace"], tensors["scale"])
    params, kept, best = (_below(kind, tensors) for kind in ("params.", "state.", "best."))
    last = trace.last
    if last.held_out is not None and not best:
        best = {name: value.copy() for name, value in params.items()}
    return replace(start, params=params, epoch=last.epoch, state=kept, score=last.held_out), SoFar(trace, best or None)


def _below(kind: str, tensors: Arrays) -> Arrays:
    return {name.removeprefix(kind): value for name, value in tensors.items() if name.startswith(kind)}


def _table(trace: Trace) -> Doubles:
    """A row for each record."""
    rows = [[getattr(record, name) for name in COLUMNS] for record in trace]
    return np.array(rows, dtype=np.float64)  # None becomes NaN


def _trace(table: Doubles, scale: Doubles) -> Trace:
    """Restore the records."""
    rows = [[None if np.isnan(value) else float(value) for value in row] for row in table]
    records = [replace(Record(*row), epoch=int(row[0] or 0)) for row in rows]  # type: ignore[arg-type]
    return Trace(records, scale=None if np.isnan(scale[0]) else float(scale[0]))


def _arrays(rows: Rows, y: Truth, weights: Doubles) -> list[Array]:
    """The arrays that identify these examples."""
    truth = [y.offsets, y.labels] if isinstance(y, LabelSets) else [np.asarray(y)]
    return [*truth, weights, rows.tdot(np.ones(rows.shape[0]))]
