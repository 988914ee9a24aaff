"""The training loop: runs an optimizer, records its history, computes held-out scores, and decides when to stop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, TypeAlias

from linnaeus.arrays.blas import single_blas
from linnaeus.erm.check import check, vanishing
from linnaeus.erm.stopping import Enough, Stop
from linnaeus.erm.trace import Record, Trace
from linnaeus.frozen import dataclass
from linnaeus.types import Start

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective
    from linnaeus.protocols import Solver
    from linnaeus.types import Params, Step


@dataclass(frozen=True)
class SoFar:
    """The state of a training: its trace, and the best parameters by held-out score (None: use the latest).

    >>> from linnaeus.erm import Trace
    >>> SoFar(Trace()).best is None
    True
    """

    trace: Trace
    best: Params | None = None


Listener: TypeAlias = "Callable[[SoFar, Step], None]"


@dataclass(frozen=True)
class Fit:
    """The result of training: parameters (float64; averages of large tables are float32), and the trace.

    >>> import numpy as np
    >>> from linnaeus.arrays import as_rows
    >>> from linnaeus.losses import Log
    >>> from linnaeus.outputs import Multiclass
    >>> from linnaeus.regularizers import L2
    >>> from linnaeus.erm import Objective, train
    >>> from linnaeus.optimizers import LBFGS
    >>> X, y = as_rows(np.array([[0.0], [1.0]])), np.array([0, 1])
    >>> objective = Objective(X, y, Multiclass(), Log(), L2(1.0), np.ones(2), 2)
    >>> fit = train(objective, LBFGS())
    >>> isinstance(fit, Fit), sorted(fit.params)
    (True, ['W', 'b'])
    """

    params: Params
    trace: Trace


@dataclass(frozen=True)
class Watch:
    """Settings of the training loop: stopping criteria, held-out score (larger is better), and listeners.

    >>> from linnaeus.erm import Stop
    >>> Watch(stop=Stop(epochs=5)).stop.epochs
    5
    """

    stop: Stop = field(default_factory=Stop)
    held_out: Callable[[Params], float] | None = None
    listeners: Sequence[Listener] = ()


def train(
    objective: Objective,
    optimizer: Solver,
    watch: Watch | None = None,
    start: Start | None = None,
    so_far: SoFar | None = None,
) -> Fit:
    """Minimize the objective. With held-out data the parameters with the best score are returned, else the last.

    `start` and `so_far` continue an earlier training. BLAS uses one thread meanwhile, because its sums depend on the
    number of threads and the result must not.

    >>> import numpy as np
    >>> from linnaeus.arrays import as_rows
    >>> from linnaeus.losses import Log
    >>> from linnaeus.outputs import Multiclass
    >>> from linnaeus.regularizers import L2
    >>> from linnaeus.erm import Objective
    >>> from linnaeus.optimizers import LBFGS
    >>> X, y = as_rows(np.array([[0.0], [1.0]])), np.array([0, 1])
    >>> objective = Objective(X, y, Multiclass(), Log(), L2(1.0), np.ones(2), 2)
    >>> fit = train(objective, LBFGS())
    >>> fit.params["W"].shape
    (1, 2)
    """
    check(objective, optimizer)
    watch = watch or Watch()
    begin = start or Start(objective.initial(), epochs=watch.stop.epochs or 100)
    keeper = _Keeper(watch, objective, so_far or SoFar(Trace()))
    if watch.stop.seconds is not None:
        begin = replace(begin, deadline=keeper.began + watch.stop.seconds - keeper.before)
    try:
        keeper.end()
        with single_blas():
            optimizer.minimize(objective, begin, keeper.report)
        keeper.trace.reason = watch.stop.ending(keeper.trace)
    except Enough as enough:
        keeper.trace.reason = str(enough)
    return Fit(keeper.params(begin), keeper.trace)


class _Keeper:
    """Holds the trace and the parameters to return while an optimizer reports."""

    def __init__(self, watch: Watch, objective: Objective, so_far: SoFar) -> None:
        self.watch, self.examples = watch, objective.X.shape[0]
        self.vanishing = vanishing(objective)
        self.trace = Trace(list(so_far.trace), scale=so_far.trace.scale)
        self.before = self.trace.last.seconds if len(self.trace) else 0.0
        self.best = so_far.best
        self.latest: Callable[[], Params] | None = None
        self.began = time.perf_counter()

    def report(self, step: Step) -> float | None:
        """Record a step; raise `Enough` to stop."""
        score = self._score(step)
        seconds = self.before + time.perf_counter() - self.began
        record = Record(step.epoch, seconds, step.value, step.gap, step.gradient, score, step.rate, step.mistakes)
        self.trace.records.append(record)
        self.trace.scale = self.trace.scale if step.scale is None else step.scale
        self.latest = step.params
        if score is not None and self.trace.epochs_since_best == 0:
            # A copy, because the optimizer changes its arrays later.
            self.best = {name: value.copy() for name, value in step.params().items()}
        for listener in self.watch.listeners:
            listener(SoFar(self.trace, self.best), step)
        self.end()
        return score

    def end(self) -> None:
        """Raise `Enough` to stop; a resumed training may already be finished."""
        if not len(self.trace):
            return
        reason, value = self.watch.stop.reason(self.trace, self.examples), self.trace.last.value
        if self.vanishing is not None and value is not None and value < self.vanishing:
            reason = "no minimum"
        if reason is not None:
            raise Enough(reason)

    def params(self, begin: Start) -> Params:
        """The best by held-out score, else the latest, else those of the start."""
        if self.best is not None:
            return self.best
        return begin.params if self.latest is None else self.latest()

    def _score(self, step: Step) -> float | None:
        """The held-out score; weights that are not finite get the worst score."""
        if self.watch.held_out is None:
            return None
        score = self.watch.held_out(step.params())
        return -math.inf if math.isnan(score) else score
