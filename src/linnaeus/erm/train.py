"""The training loop: runs an optimizer, records its history, computes held-out scores, and decides when to stop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, TypeAlias

from linnaeus.arrays.numerics import single_blas
from linnaeus.erm.check import check, vanishing
from linnaeus.errors import UsageError, did_you_mean, expect
from linnaeus.frozen import dataclass
from linnaeus.protocols import Solver
from linnaeus.types import Params, Start, Step, Warm

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective


@dataclass(frozen=True, slots=True)
class Record:
    """One epoch or iteration: seconds since the start, and the figures that the optimizer reports.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> model = LinearClassifier(loss="log").fit(np.array([[0.0], [1.0]]), ["no", "yes"])
    >>> record = model.trace_.records[-1]
    >>> record.epoch > 0, record.value is not None
    (True, True)
    """

    epoch: int
    seconds: float
    value: float | None = None
    gap: float | None = None
    gradient: float | None = None
    held_out: float | None = None
    rate: float | None = None
    mistakes: float | None = None


@dataclass
class Trace:
    """The history of a training, and why it ended. Larger held-out scores are better.

    `reason` is "converged" (the gap is within the tolerance), "small gradient" (if there is no gap), "optimum" (the
    optimizer ended at the optimum), "no further progress" (no step lowers the objective, but the tolerance is not
    reached), "no mistakes", "few mistakes", "no minimum" (see `erm.check.vanishing`), "no progress on held-out data",
    "epochs" or "time limit". The returned weights do not depend on the reason: they are the latest, or with held-out
    rows those of `best`.

    `value` is the objective. Stochastic optimizers do not evaluate it, as this would take as long as an epoch. They
    report a running estimate: the sum of the losses of each example before its step, plus the penalty after the last
    step. With `average` it is the estimate for the iterates, not for their mean, which is usually lower. An epoch that
    was cut by the time limit has no value.

    >>> trace = Trace([Record(1, 0.1, value=5.0), Record(2, 0.2, value=3.0)], "epochs")
    >>> trace.column("value")
    [5.0, 3.0]
    """

    records: list[Record] = field(default_factory=list)
    reason: str = ""
    scale: float | None = None
    """The norm of the gradient at zero weights, if the optimizer reported it."""

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    @property
    def last(self) -> Record:
        """The latest record."""
        return self.records[-1]

    @property
    def converged(self) -> bool:
        """Whether training ended near enough to the optimum, by the gap or else by the gradient."""
        return self.reason in ("converged", "small gradient", "no mistakes", "optimum")

    @property
    def first_gradient(self) -> float:
        """The gradient norm at zero weights, else the first reported one; 0 if none was reported."""
        if self.scale is not None:
            return self.scale
        return next((r.gradient for r in self.records if r.gradient is not None), 0.0)

    @property
    def best(self) -> Record | None:
        """The first record with the best held-out score: its weights are those returned; None without held-out rows."""
        scored = [record for record in self.records if record.held_out is not None]
        return max(scored, key=lambda record: record.held_out or 0.0, default=None)

    @property
    def epochs_since_best(self) -> int:
        """Epochs since the best held-out score."""
        best = self.best
        return 0 if best is None else self.last.epoch - best.epoch

    def column(self, name: str) -> list[float | None]:
        """One quantity over time, such as "value", "gap" or "seconds"."""
        known = [field.name for field in fields(Record)]
        if name not in known:
            raise UsageError(f"A trace has no column {name!r}; {did_you_mean(name, known)}")
        return [getattr(record, name) for record in self.records]

    def svg(self, *columns: str, over: str = "epoch") -> str:
        """The trace as a chart: SVG text to write to a file or show in a notebook. The default is all columns.

        >>> Trace([Record(1, 0.1, value=5.0), Record(2, 0.2, value=3.0)]).svg("value").startswith("<svg")
        True
        """
        from linnaeus.render import line_chart

        names = columns or tuple(name for name in _PLOTTED if any(v is not None for v in self.column(name)))
        lines = {
            name: [
                (float(at), float(v))
                for at, v in zip(self.column(over), self.column(name), strict=True)
                if at is not None and v is not None
            ]
            for name in names
        }
        return line_chart(lines, title=f"{len(self)} records: {self.reason}", x=over)

    def _repr_svg_(self) -> str:
        return self.svg()


_PLOTTED = ("value", "gap", "gradient", "held_out", "mistakes")


class Enough(Exception):  # noqa: N818 - not an error: the way out of a solver
    """Raised inside a report to end an optimizer; its message is the reason."""


@dataclass(frozen=True)
class Stop:
    """Stopping criteria. The first that holds ends training; None disables a criterion.

    `tol` is the relative tolerance: training ends if the certified gap is at most `tol` times the objective. `gradient`
    is for objectives without a gap (or `tol=None`): the gradient norm relative to that at zero weights. `mistakes` is
    the share of examples that may be wrong in an epoch. `patience` is the number of epochs without a better held-out
    score.

    >>> Stop(epochs=20, seconds=60.0).epochs
    20
    """

    epochs: int | None = 100
    tol: float | None = 1e-4
    gradient: float | None = 1e-6
    mistakes: float | None = None
    patience: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        real = dict.fromkeys(("tol", "gradient", "mistakes", "seconds"), (float, 0))
        for name, (kind, least) in (real | dict.fromkeys(("epochs", "patience"), (int, 1))).items():
            value = getattr(self, name)
            if value is not None:
                expect(name, value, kind, least)

    def reason(self, trace: Trace, examples: int) -> str | None:
        """The reason to stop now, or None."""
        last = trace.last
        if _within(last.gap, self.tol, last.value):
            return "converged"
        if self._by_gradient(trace) and _within(last.gradient, self.gradient, trace.first_gradient):
            return "small gradient"
        if self.mistakes is not None and last.mistakes is not None and last.mistakes <= self.mistakes * examples:
            return "few mistakes" if self.mistakes else "no mistakes"
        if self.patience is not None and trace.epochs_since_best >= self.patience:
            return "no progress on held-out data"
        if self.seconds is not None and last.seconds >= self.seconds:
            return "time limit"
        if self.epochs is not None and last.epoch >= self.epochs:
            return "epochs"
        return None

    def ending(self, trace: Trace) -> str:
        """The reason if the optimizer ended by itself: "optimum" if the gap or the gradient is small enough."""
        if not len(trace):
            return "no further progress"
        last, tol = trace.last, 1e-6 if self.tol is None else self.tol
        if last.gap is not None:
            return "optimum" if _within(last.gap, tol, last.value) else "no further progress"
        # Values are rounded to 1e-16, so steps stop lowering them when the gradient is about the square root of that.
        small = 1e-6 if self.gradient is None else max(self.gradient, 1e-7)
        return "optimum" if _within(last.gradient, small, trace.first_gradient) else "no further progress"

    def _by_gradient(self, trace: Trace) -> bool:
        """Whether the gradient criterion applies: only if there is no gap."""
        return self.tol is None or all(record.gap is None for record in trace)


def _within(found: float | None, tol: float | None, scale: float | None) -> bool:
    """Whether `found` is at most `tol` times `scale`; False if one of them is unknown."""
    if found is None or tol is None or scale is None:
        return False
    return found <= tol * max(abs(scale), 1e-300)


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


@dataclass(frozen=True)
class Leg:
    """One strength of a regularization path: its parameters, and why its training ended."""

    strength: float
    params: Params
    reason: str


def walk(
    pose: Callable[[float], Objective],
    choose: Callable[[Objective], tuple[Solver, Stop]],
    strengths: Iterable[float],
    seed: int = 0,
) -> Iterator[Leg]:
    """The regularization path: train for each strength in turn.

    `pose` makes the objective of a strength, `choose` its optimizer and stopping.

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
    before = 0.0
    params: Params = {}
    last: list[Step] = []

    def keep(_so_far: SoFar, step: Step) -> None:
        last[:] = [step]

    for strength in strengths:
        objective = pose(strength)
        solver, stop = choose(objective)
        start = Start(objective.initial(), seed=seed, epochs=stop.epochs or 100)
        if last:
            start = replace(start, params=params, warm=Warm(last[0].state(), before / strength))
        last.clear()
        fit = train(objective, solver, Watch(stop, None, [keep]), start)
        before, params = strength, fit.params
        yield Leg(strength, params, fit.trace.reason)
