"""Training that survives a crash: the state of an optimizer in a file, now and then, and the way back from it."""

from __future__ import annotations

import hashlib
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.erm.trace import Record, Trace
from linnaeus.errors import UsageError
from linnaeus.store import load, save
from linnaeus.types import LabelSets, Start, State

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective
    from linnaeus.types import Step

KIND = "training checkpoint"


@dataclass
class Checkpoint:
    """A listener that writes the optimizer's state to `path`, at most every `seconds`.

    The file is replaced in one step: killed at any moment, the last good one stands. `mark` says to which data and
    pieces it belongs (`fingerprint`).
    """

    path: Path
    mark: str
    seconds: float = 10.0
    written: float = field(default_factory=time.perf_counter)
    records: list[Record] = field(default_factory=list)

    def __call__(self, record: Record, step: Step) -> None:
        """Write, if it is time."""
        self.records.append(record)
        if time.perf_counter() - self.written < self.seconds:
            return
        tensors = {f"params.{name}": value for name, value in step.params().items()}
        tensors |= {f"state.{name}": np.asarray(value) for name, value in step.state().items()}
        manifest = {
            "kind": KIND,
            "mark": self.mark,
            "epoch": step.epoch,
            "records": [asdict(r) for r in self.records],
        }
        save(self.path, State(manifest, {name: np.ascontiguousarray(value) for name, value in tensors.items()}))
        self.written = time.perf_counter()


def resume(path: Path, mark: str, start: Start) -> tuple[Start, Trace] | None:
    """Where a checkpoint left off, and its trace; None when there is no file. One of other data is refused."""
    if not path.exists():
        return None
    kept = load(path)
    if kept.manifest.get("kind") != KIND or kept.manifest.get("mark") != mark:
        raise UsageError(
            f"The checkpoint {path} belongs to other data or other settings; remove it, or name another file."
        )
    params = {name[7:]: value for name, value in kept.tensors.items() if name.startswith("params.")}
    state = {name[6:]: value for name, value in kept.tensors.items() if name.startswith("state.")}
    trace = Trace([Record(**record) for record in kept.manifest["records"]])
    return Start(params, kept.manifest["epoch"], state, start.seed, start.epochs), trace


def fingerprint(objective: Objective, *settings: Any) -> str:
    """A digest of rows, truth, weights and pieces: equal for equal problems."""
    digest = hashlib.blake2b(digest_size=16)
    for array in _arrays(objective):
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    pieces = (objective.space, objective.loss, objective.regularizer, objective.bias, objective.k, *settings)
    digest.update(repr(pieces).encode())
    return digest.hexdigest()


def _arrays(objective: Objective) -> list[Any]:
    X, y = objective.X, objective.y
    truth = [y.offsets, y.labels] if isinstance(y, LabelSets) else [np.asarray(y)]
    names = [name for name in ("indptr", "indices", "data", "values") if hasattr(X, name)]
    return [getattr(X, name) for name in names] + truth + [objective.weights]
