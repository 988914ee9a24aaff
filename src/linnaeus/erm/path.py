"""The regularization path: strengths from strong to weak, each training starting from the previous solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from linnaeus.erm.train import Stop, Watch, train
from linnaeus.frozen import dataclass
from linnaeus.types import Start, Warm

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective
    from linnaeus.erm.train import SoFar
    from linnaeus.protocols import Solver
    from linnaeus.types import Params, Step


@dataclass(frozen=True)
class Leg:
    """One strength of a path: its parameters, and why its training ended."""

    strength: float
    params: Params
    reason: str


def walk(
    pose: Callable[[float], Objective],
    choose: Callable[[Objective], tuple[Solver, Stop]],
    strengths: Sequence[float],
    seed: int = 0,
) -> Iterator[Leg]:
    """Train for each strength in turn. `pose` makes the objective of a strength, `choose` its optimizer and stopping.

    An optimizer starts from the weights of the previous strength, or from its dual variables; `Start.warm` has the
    ratio of the strengths.

    >>> import numpy as np
    >>> from linnaeus.arrays import Dense
    >>> from linnaeus.erm import Objective
    >>> from linnaeus.losses import Hinge
    >>> from linnaeus.optimizers import DualAscent
    >>> from linnaeus.outputs import Binary
    >>> from linnaeus.regularizers import L2
    >>> X, y = Dense(np.array([[1.0], [-1.0]])), np.array([1, 0])
    >>> pose = lambda strength: Objective(X, y, Binary(), Hinge(), L2(strength), np.ones(2), 2, "none")
    >>> legs = walk(pose, lambda _: (DualAscent(), Stop(epochs=50)), [4.0, 2.0])
    >>> [leg.params["W"].round(2).tolist() for leg in legs]
    [[[0.5]], [[1.0]]]
    """
    before, last = None, _Last()
    for strength in strengths:
        objective = pose(strength)
        solver, stop = choose(objective)
        start = Start(objective.initial(), seed=seed, epochs=stop.epochs or 100)
        if before is not None and last.step is not None:
            start = _warm(start, last.step, before / strength)
        last.step = None
        fit = train(objective, solver, Watch(stop, None, [last]), start)
        yield Leg(strength, fit.params, fit.trace.reason)
        before = strength


def _warm(start: Start, step: Step, weaker: float) -> Start:
    return replace(start, params=step.params(), warm=Warm(step.state(), weaker))


class _Last:
    """Keeps the last step of a training and its final arrays."""

    step: Any = None

    def __call__(self, _so_far: SoFar, step: Step) -> None:
        self.step = step
