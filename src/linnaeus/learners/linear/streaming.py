"""Learning from a stream of batches: `partial_fit`. Each batch is one more epoch of a step-wise optimizer.

The penalty applies to all rows together, so its strength is scaled by the batch's share of the rows seen so far. New
classes may appear later; their weights start at zero. When two classes become three, the one score of a binary problem
becomes two columns, w and -w (halved in a joint space), and the optimizer's state is reset.

`epochs` is the planned number of batches, for schedules that end there (None: no end). `tol` has no effect.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.labels import encode
from linnaeus.arrays.linear import stored
from linnaeus.erm import Watch, train
from linnaeus.erm.choose import choose_stepwise, stepwise
from linnaeus.erm.pieces import piece
from linnaeus.erm.progress import listening
from linnaeus.errors import InputTypeError, UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.linear.learner import strength_of
from linnaeus.learners.linear.solving import Problem, objective_of, refuse_following, refuse_large, stopping
from linnaeus.outputs.product import pairs
from linnaeus.protocols import ClassScores, JointSpace, OutputSpace, Solver, has
from linnaeus.types import Array, Arrays, Floats, Label, Params, Piece, Start, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.erm import Objective, Trace
    from linnaeus.learners.linear.solving import Spec

ENDLESS = 10**6
"""Epochs a stream is planned for: schedules that end somewhere end there."""

MEANINGLESS = {"held_out": 0.0, "patience": 5, "seconds": None, "checkpoint": None}
"""Settings that only a training on all rows can follow, and their defaults, at which a stream leaves them."""


@dataclass(frozen=True)
class Memory:
    """The state of a stream: batches and rows so far, and the arrays of the optimizer."""

    batches: int = 0
    rows: int = 0
    state: Arrays = field(default_factory=dict)


def standing(face: object) -> tuple[Params | None, Memory]:
    """The parameters and the memory to continue from; None and an empty memory for a new estimator."""
    params = vars(face).get("params_")
    doubles = None if params is None else {name: value.astype(np.float64) for name, value in params.items()}
    return doubles, vars(face).get("memory_", Memory())


@dataclass(frozen=True)
class Batch:
    """What a model is after one more batch: its float32 parameters, the trace of the epoch, the state of the stream."""

    params: dict[str, Floats]
    trace: Trace
    memory: Memory


def go_on(spec: Spec, problem: Problem, params: Params | None, memory: Memory) -> Batch:
    """Run one epoch over this batch from these parameters (None: zeros)."""
    _refuse_settings(spec)
    refuse_large(problem)
    n = problem.rows.shape[0]
    share = n / (memory.rows + n)
    objective = replace(objective_of(spec, problem), regularizer=_scaled(piece("regularizer", spec.regularizer), share))
    optimizer = _optimizer(spec, objective)
    kept: Arrays = {}

    def remember(_so_far: object, step: Step) -> None:
        kept.update({name: value.copy() for name, value in step.state().items()})

    asked = stopping(spec, objective.loss, optimizer)
    stop = replace(asked, epochs=memory.batches + 1, tol=None, gradient=None, mistakes=None)
    begin = objective.initial() if params is None else params
    start = Start(begin, memory.batches, memory.state, int(spec.seed), spec.epochs or ENDLESS)
    with listening(spec.progress, stop) as listeners:
        fit = train(objective, optimizer, Watch(stop, listeners=(remember, *listeners)), start)
    if fit.trace.last.rate == 0:
        raise UsageError(
            f"The learning rate is zero after {memory.batches} batches, because epochs={spec.epochs}; set epochs to "
            "the number of batches, or use another schedule."
        )
    memory = Memory(memory.batches + 1, memory.rows + n, kept)
    return Batch(stored(fit.params), fit.trace, memory)


def _refuse_settings(spec: Spec) -> None:
    """One batch at a time: no rows to keep aside, nothing to go on from but the model itself."""
    expect("seed", spec.seed, int)
    for name, usual in MEANINGLESS.items():
        if getattr(spec, name) != usual:
            raise UsageError(
                f"{name}={getattr(spec, name)!r} has no meaning for partial_fit, which sees one batch at a time; leave "
                f"it at {usual!r}, or use fit."
            )


def _optimizer(spec: Spec, objective: Objective) -> Solver:
    """A step-wise one: the one that is asked for, or the best."""
    if isinstance(spec.optimizer, str) and spec.optimizer == "auto":
        return choose_stepwise(objective)
    optimizer: Solver = piece("optimizer", spec.optimizer)
    if not stepwise(optimizer):
        name = type(optimizer).__name__
        raise UsageError(f"{name} needs all rows at once; for partial_fit use sgd, adagrad, adam, or 'auto'.")
    refuse_following(optimizer)
    return optimizer


def widened(
    params: Params, memory: Memory, known: tuple[OutputSpace, Array], wanted: tuple[OutputSpace, Array]
) -> tuple[Params, Memory]:
    """The parameters to continue from, with room for new classes; `known` and `wanted` are space and classes."""
    (old, before), (space, classes), w = known, wanted, params["W"].shape[1]
    if len(before) == len(classes) and isinstance(old, type(space)):
        return params, memory
    if w > 1:
        source = _sources(space, before, classes)
        params = {name: _spread(value, source) for name, value in params.items()}
        state = {name: _spread(a, source) if a.shape[-1:] == (w,) else a for name, a in memory.state.items()}
    else:
        params = {name: _unfold(value, space, before, classes) for name, value in params.items()}
        state = {}
    return params, replace(memory, state=state)


def _sources(space: OutputSpace, before: Array, classes: Array) -> NDArray[np.intp]:
    """For each new score column the old one it goes on from, or -1."""
    old = np.full(len(classes), -1)
    old[np.searchsorted(classes, before)] = np.arange(len(before))
    if not has(space, ClassScores):
        return old
    number = {pair: i for i, pair in enumerate(zip(*(p.tolist() for p in pairs(len(before))), strict=True))}
    first, second = pairs(len(classes))
    return np.array([number.get((int(old[a]), int(old[b])), -1) for a, b in zip(first, second, strict=True)])


def _spread(array: Array, source: NDArray[np.intp]) -> Array:
    wide = np.zeros((*array.shape[:-1], len(source)), array.dtype)
    wide[..., source >= 0] = array[..., source[source >= 0]]
    return wide


def _unfold(w: Array, space: OutputSpace, before: Array, classes: Array) -> Array:
    """The one score of two classes, positive for the second, as columns of more; one label stays one label."""
    if len(before) == 1:
        return _spread(w, _sources(space, before, classes))
    if has(space, ClassScores):
        return _spread(-w, _sources(space, before, classes))
    both = np.concatenate([-w, w], axis=-1)
    return _spread(both / 2 if has(space, JointSpace) else both, _sources(space, before, classes))


def merged(face: object, given: Label, found: Array) -> Array:
    """All known classes: earlier ones, those in `classes`, and those of this batch."""
    known = (face.__dict__.get("classes_"), None if given is None else _announced(given), found)
    parts = [part for part in known if part is not None and len(part)]
    kinds = {part.dtype.kind if part.dtype.kind not in "biuf" else "number" for part in parts}
    if len(kinds) > 1:
        raise UsageError("The classes of this batch have a different type than earlier classes; use one type for all.")
    return np.unique(np.concatenate(parts)) if parts else found


def _announced(classes: Label) -> Array:
    """The classes that are to come."""
    if isinstance(classes, str | bytes) or not hasattr(classes, "__len__") or getattr(classes, "ndim", 1) == 0:
        raise InputTypeError(f"classes takes a list of all classes, not {classes!r}.")
    labels = encode(list(classes))
    if labels.form != "single":
        raise UsageError("classes takes a list of all classes, each of them one label.")
    return labels.classes


def _scaled(regularizer: Piece, share: float) -> Piece:
    """The penalty for a share of the rows."""
    strength = strength_of(regularizer)
    return regularizer if strength is None else replace(regularizer, strength=strength * share)
