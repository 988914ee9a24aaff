"""Step by step over shuffled batches: the engine under SGD, momentum, AdaGrad and Adam, for any loss and output space.

A step on a batch B uses the mean gradient g = 1/|B| sum_B weight_i dloss_i, and the penalty's flow for time rate/n:
together, in expectation, 1/n of the objective's gradient. This is the general path, in NumPy over blocks of scores; a
rule and a loss that have a fused kernel take it for batches of one (`fused`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linnaeus.arrays.touched import row_gradient, touched
from linnaeus.errors import UsageError, expect
from linnaeus.optimizers.average import FullMean, LazyMean
from linnaeus.optimizers.lazy import Catcher
from linnaeus.optimizers.rules import Adaptive, Heavy, Moments, Plain
from linnaeus.optimizers.schedule import Constant, Schedule
from linnaeus.optimizers.shuffle import shuffled
from linnaeus.types import RowGrad, Step

if TYPE_CHECKING:
    from linnaeus.protocols import Objective, Rule
    from linnaeus.types import Doubles, Ints, Params, Start


@dataclass(frozen=True)
class Stochastic(ABC):
    """What step-wise optimizers share: the rate, its schedule, and how many examples a step looks at."""

    rate: float = 0.1
    schedule: Schedule = field(default_factory=Constant)
    batch: int = 1
    stepwise: ClassVar[bool] = True
    """It learns example by example, so it can go on with more of them: a stream."""

    def __post_init__(self) -> None:
        expect("rate", self.rate, float)
        expect("batch", self.batch, int)
        if not (self.rate > 0 and np.isfinite(self.rate)):
            raise UsageError(f"rate must be a positive number, not {self.rate}.")
        if self.batch < 1:
            raise UsageError(f"batch must be at least 1, not {self.batch}.")

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """The update."""

    def refuse(self, objective: Objective) -> str | None:
        """A first-order rule takes every loss and every penalty."""
        return None

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Epoch after epoch, until `report` raises."""
        Descent(self, objective, start, averaged=False).run(report)


@dataclass(frozen=True)
class SGD(Stochastic):
    """w <- w - rate g. With the perceptron loss, rate 1 and no penalty this is the perceptron."""

    @property
    def rule(self) -> Rule:
        """Plain steps."""
        return Plain()


@dataclass(frozen=True)
class AdaGrad(Stochastic):
    """w_i <- w_i - rate g_i / sqrt(eps + sum of g_i^2): a rate for each weight, large for rare features."""

    eps: float = 1e-8

    @property
    def rule(self) -> Rule:
        """Steps by history."""
        return Adaptive(self.eps)

    def refuse(self, objective: Objective) -> str | None:
        """The group penalty moves rows as a whole."""
        return refuse_groups(objective, "AdaGrad")


@dataclass(frozen=True)
class Momentum(Stochastic):
    """v <- decay v + g, w <- w - rate v."""

    decay: float = 0.9

    @property
    def rule(self) -> Rule:
        """Steps with a memory."""
        return Heavy(self.decay)


@dataclass(frozen=True)
class Adam(Stochastic):
    """Adam with decoupled penalty."""

    rate: float = 0.01
    first: float = 0.9
    second: float = 0.999
    eps: float = 1e-8

    @property
    def rule(self) -> Rule:
        """Steps by two moments."""
        return Moments(self.first, self.second, self.eps)

    def refuse(self, objective: Objective) -> str | None:
        """The group penalty moves rows as a whole."""
        return refuse_groups(objective, "Adam")


@dataclass(frozen=True)
class Average:
    """The mean of the iterates of a step-wise optimizer.

    `Average(SGD(rate=1.0))` with the perceptron loss is the averaged perceptron (Freund and Schapire 1999, Collins
    2002).
    """

    inner: Stochastic = field(default_factory=SGD)
    stepwise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.inner, Stochastic):
            raise UsageError(f"Only step-wise optimizers have iterates to average, not {type(self.inner).__name__}.")

    def refuse(self, objective: Objective) -> str | None:
        """What the inner one refuses."""
        return self.inner.refuse(objective)

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """As the inner one; reported parameters are means."""
        Descent(self.inner, objective, start, averaged=True).run(report)


def refuse_groups(objective: Objective, name: str) -> str | None:
    """Why rules with a rate for each weight cannot serve a penalty on whole rows."""
    if hasattr(objective.regularizer, "l1"):
        return None
    return (
        f"{name} has a rate for each weight, but the group penalty moves the weights of a feature together; "
        "use SGD or ProximalGradient."
    )


class Descent:
    """One run of a step-wise optimizer: all that changes while it steps."""

    def __init__(self, piece: Stochastic, objective: Objective, start: Start, averaged: bool) -> None:
        self.piece, self.objective, self.start, self.rule = piece, objective, start, piece.rule
        self.params = {name: value.copy() for name, value in start.params.items()}
        kept = start.state
        for name in self.params:
            if f"at.{name}" in kept:
                self.params[name][:] = kept[f"at.{name}"]
        self.memory = self.rule.begin(self.params)
        for name in self.memory:
            if f"rule.{name}" in kept:
                self.memory[name][:] = kept[f"rule.{name}"]
        self.t = int(kept["t"][0]) if "t" in kept else 0
        self.factor = float(kept["factor"][0]) if "factor" in kept else 1.0
        self.before = float(kept["before"][0]) if "before" in kept and not np.isnan(kept["before"][0]) else None
        self.catcher = Catcher(objective, self.rule, self.params, self.memory)
        self.eager = self.rule.eager or (averaged and not self.catcher.idle)
        self.mean: Any = None
        if averaged:
            self.mean = (FullMean if self.eager else LazyMean)(self.params, dict(kept))

    def run(self, report: Callable[[Step], float | None]) -> None:
        """Epoch after epoch; `report` ends it."""
        epoch = self.start.epoch
        while True:
            epoch += 1
            rate, loss, mistakes = self.epoch(epoch)
            value = loss + self.objective.penalty(self.params)
            step = Step(epoch, self.result, self.arrays, value=value, rate=rate, mistakes=mistakes)
            score = report(step)
            self.factor = self.piece.schedule.adapt(self.factor, score, self.before)
            self.before = score

    def epoch(self, epoch: int) -> tuple[float, float, float]:
        """One walk over all examples: last rate, sum of losses before each step, mistakes."""
        n, size = self.objective.X.shape[0], self.piece.batch
        order = shuffled(n, self.start.seed, epoch)
        count = -(-n // size)
        factors = self.piece.schedule.factors(self.t + 1, count, count * self.start.epochs)
        rates = self.piece.rate * self.factor * factors
        loss = mistakes = 0.0
        for i in range(count):
            lost, wrong = self.step(order[i * size : (i + 1) * size], float(rates[i]))
            loss, mistakes = loss + lost, mistakes + wrong
        self.catcher.settle()
        return float(rates[-1]), loss, mistakes

    def step(self, batch: Ints, rate: float) -> tuple[float, float]:
        """One update from these examples."""
        o = self.objective
        self.t += 1
        X, y, weights = o.X.take(batch), o.y[batch], o.weights[batch]
        rows = slice(None) if self.eager else touched(X)
        self.catcher.catch_up("W", rows)
        S = o.scores(X, self.params)
        values, D = o.loss.value_and_grad(o.space, S, y)
        self._move(row_gradient(X, D * (weights / len(batch))[:, None], rows), "W", rate)
        if "b" in self.params:
            self.catcher.catch_up("b", slice(None))
            self._move(RowGrad(slice(None), (D * (weights / len(batch))[:, None]).sum(axis=0)), "b", rate)
        self.catcher.advance(rate / o.X.shape[0])
        if self.eager:
            self.catcher.settle()
        if self.mean is not None:
            self.mean.stepped(self.params)
        return float(values @ weights), _mistakes(o, S, y)

    def result(self) -> Params:
        """The parameters to use: the latest, or the mean."""
        return self.params if self.mean is None else self.mean.mean(self.params, self.t)

    def arrays(self) -> dict[str, Any]:
        """All that a run needs to go on from here to the same bits."""
        before = np.nan if self.before is None else self.before
        kept: dict[str, Any] = {f"at.{name}": value for name, value in self.params.items()}
        kept |= {f"rule.{name}": value for name, value in self.memory.items()}
        kept |= {"t": np.array([self.t]), "factor": np.array([self.factor]), "before": np.array([before])}
        return kept | (self.mean.arrays() if self.mean is not None else {})

    def _move(self, grad: RowGrad, name: str, rate: float) -> None:
        if self.mean is None or self.eager:
            self.rule.step(name, self.params, self.memory, grad, rate)
            return
        before = self.params[name][grad.rows].copy()
        self.rule.step(name, self.params, self.memory, grad, rate)
        self.mean.moved(name, grad.rows, self.params[name][grad.rows] - before, self.t)


def _mistakes(objective: Objective, S: Doubles, y: Any) -> float:
    """Examples whose truth is not the only best output; a tie is a mistake."""
    try:
        best, gold = objective.space.best(S, y), objective.space.gold(S, y)
    except UsageError:
        return 0.0
    return float(np.any(best.parts != gold.parts, axis=1).sum())
