"""Runs of stochastic optimizers: epochs over shuffled examples (`Run`), and general steps in NumPy (`Descent`).

The penalty is applied late to rows without a gradient (`Catcher`), and iterates can be averaged (`LazyMean`).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays import linear
from linnaeus.arrays.grouped import row_gradient, touched
from linnaeus.optimizers.schedules import as_schedule
from linnaeus.optimizers.shuffle import shuffled
from linnaeus.protocols import EpochPenalty, RatedSolver, Regularizer, Rule, capability, has
from linnaeus.types import Array, Arrays, Chosen, Doubles, Ints, Params, RowGrad, Start, Step

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective


def resume(arrays: Params, prefix: str, kept: Mapping[str, Array]) -> None:
    """Write what a checkpoint has of these arrays into them."""
    for name, value in arrays.items():
        if f"{prefix}.{name}" in kept:
            value[:] = kept[f"{prefix}.{name}"]


class Mean(ABC):
    """Sums from which the mean of the iterates is computed; they are `prefix` in a checkpoint."""

    prefix: ClassVar[str]

    def __init__(self, params: Params, kept: Mapping[str, Array]) -> None:
        self.sums = {name: np.zeros_like(value) for name, value in params.items()}
        resume(self.sums, self.prefix, kept)

    def moved(self, name: str, rows: Chosen, move: Doubles, t: int) -> None:  # noqa: B027 - not every mean looks
        """Rows of a parameter moved at step t."""

    def stepped(self, params: Params) -> None:  # noqa: B027
        """A step was taken, which led to these parameters."""

    @abstractmethod
    def mean(self, params: Params, t: int) -> Params:
        """The mean of the iterates of steps 1 to t."""

    def arrays(self) -> Arrays:
        """The arrays of a checkpoint."""
        return {f"{self.prefix}.{name}": value for name, value in self.sums.items()}


class LazyMean(Mean):
    """Averaging in O(nonzeros) per step, if only steps change weights: mean = w - (1/t) sum_s (s - 1) (step s)."""

    prefix = "drift"

    def moved(self, name: str, rows: Chosen, move: Doubles, t: int) -> None:
        """Rows of a parameter moved at step t."""
        self.sums[name][rows] += (t - 1) * move

    def mean(self, params: Params, t: int) -> Params:
        """The mean of the iterates of steps 1 to t."""
        return {name: value - self.sums[name] / max(t, 1) for name, value in params.items()}


class FullMean(Mean):
    """The sum of all iterates, for penalties and rules that change all weights at every step."""

    prefix = "total"

    def stepped(self, params: Params) -> None:
        """Add the iterate."""
        for name, value in params.items():
            self.sums[name] += value

    def mean(self, params: Params, t: int) -> Params:
        """The mean of the iterates of steps 1 to t."""
        return {name: value / max(t, 1) for name, value in self.sums.items()}


class Catcher:
    """Applies delayed penalties to rows of the penalized parameters."""

    def __init__(self, objective: Objective, rule: Rule, params: Params, state: Params) -> None:
        self.regularizer, self.rule, self.params, self.state = objective.regularizer, rule, params, state
        self.idle = has(rule, EpochPenalty) or not _penalizes(objective.regularizer)
        self.names = () if self.idle else tuple(objective.penalized)
        self.clock = 0.0
        self.seen = {name: np.zeros(len(params[name])) for name in self.names}

    def advance(self, time: float) -> None:
        """Add the time of one step."""
        self.clock += time

    def catch_up(self, name: str, rows: Chosen) -> None:
        """Apply the delayed penalty to these rows."""
        if name not in self.names:
            return
        owed = self.clock - self.seen[name][rows]
        if np.any(owed):
            W = self.params[name]
            owed = owed.reshape(-1, *[1] * (W.ndim - 1)) * self.rule.pace(name, self.state, rows)
            W[rows] = self.regularizer.flow(W[rows], owed)
        self.seen[name][rows] = self.clock

    def settle(self) -> None:
        """Apply the delayed penalty to all rows, and reset the clock."""
        for name in self.names:
            self.catch_up(name, slice(None))
            self.seen[name][:] = 0.0
        self.clock = 0.0


def _penalizes(regularizer: Regularizer) -> bool:
    """Whether the penalty changes weights."""
    return bool(regularizer.value(np.ones((1, 1))) != 0)


class Run(ABC):
    """The state of a stochastic optimizer during training: the number of steps, and the factor of the learning rate."""

    def __init__(self, piece: RatedSolver, objective: Objective, start: Start) -> None:
        self.objective, self.start, self.size = objective, start, piece.batch
        self.rate, self.schedule = piece.rate, as_schedule(piece.schedule)
        kept = start.state
        self.t = int(kept["t"][0]) if "t" in kept else 0
        self.factor = float(kept["factor"][0]) if "factor" in kept else 1.0
        self.before = float(kept["before"][0]) if "before" in kept and not np.isnan(kept["before"][0]) else None
        if start.score is not None:  # the stored state is older than the score of its epoch
            self._adapt(start.score)

    def run(self, report: Callable[[Step], float | None]) -> None:
        """Run epochs until `report` raises."""
        epoch = self.start.epoch
        while True:
            epoch += 1
            self._adapt(report(self.epoch(epoch)))

    def epoch(self, epoch: int) -> Step:
        """One pass over all examples; if the deadline ends it, losses and mistakes are unknown."""
        order = shuffled(self.objective.X.shape[0], self.start.seed, epoch)
        count = -(-len(order) // self.size)
        self.begin(epoch)
        factors = self.schedule.factors(self.t + 1, count, count * self.start.epochs)
        rates = self.factor * (self.rate * factors)
        before = self.t
        loss, mistakes = self.walk(order, rates)
        if self.t - before < count:
            return Step(epoch, self.result, self.arrays, rate=float(rates[self.t - before]))
        value = loss + self.penalty()
        return Step(epoch, self.result, self.arrays, value=value, rate=float(rates[-1]), mistakes=mistakes)

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self.start.deadline is not None and time.perf_counter() >= self.start.deadline

    def arrays(self) -> Arrays:
        """All arrays that are needed to resume with identical results."""
        before = np.nan if self.before is None else self.before
        kept = {"t": np.array([self.t]), "factor": np.array([self.factor]), "before": np.array([before])}
        return kept | self.memories()

    def _adapt(self, score: float | None) -> None:
        """Adapt the learning rate to the held-out score of an epoch."""
        self.factor = self.schedule.adapt(self.factor, score, self.before)
        self.before = score

    @abstractmethod
    def begin(self, epoch: int) -> None:
        """Prepare an epoch."""

    @abstractmethod
    def walk(self, order: Ints, rates: Doubles) -> tuple[float, float]:
        """Steps over the examples in this order, until the deadline: sum of losses before each step, and mistakes."""

    @abstractmethod
    def result(self) -> Params:
        """The parameters to return: the latest, or the mean."""

    @abstractmethod
    def penalty(self) -> float:
        """The value of the regularizer at the latest parameters."""

    @abstractmethod
    def memories(self) -> Arrays:
        """Parameters and accumulators, for a checkpoint."""


class Descent(Run):
    """Steps for any loss, output space, penalty and rule, in NumPy over batches."""

    def __init__(self, piece: RatedSolver, rule: Rule, objective: Objective, start: Start, averaged: bool) -> None:
        super().__init__(piece, objective, start)
        self.rule = rule
        self.params = {name: value.copy() for name, value in start.params.items()}
        resume(self.params, "at", start.state)
        self.memory = self.rule.begin(self.params)
        resume(self.memory, "rule", start.state)
        self.catcher = Catcher(objective, self.rule, self.params, self.memory)
        self.eager = self.rule.eager or (averaged and not self.catcher.idle)
        kind = FullMean if self.eager else LazyMean
        self.mean: Mean | None = kind(self.params, start.state) if averaged else None

    def begin(self, epoch: int) -> None:
        """Apply the penalty, for rules that do it once per epoch."""
        charging = capability(self.rule, EpochPenalty)
        if charging is not None:
            self.rule = charging.charge(epoch, self.params, self.memory)

    def walk(self, order: Ints, rates: Doubles) -> tuple[float, float]:
        """Batch after batch."""
        loss = mistakes = 0.0
        for i, rate in enumerate(rates):
            lost, wrong = self.step(order[i * self.size : (i + 1) * self.size], float(rate))
            loss, mistakes = loss + lost, mistakes + wrong
            if self.late:
                break
        self.catcher.settle()
        return loss, mistakes

    def step(self, batch: Ints, rate: float) -> tuple[float, float]:
        """One update from these examples."""
        o = self.objective
        self.t += 1
        X, y, weights = o.X.take(batch), o.y[batch], o.weights[batch]
        rows = slice(None) if self.eager else touched(X)
        self.catcher.catch_up("W", rows)
        S = linear.scores(X, self.params)
        values, D = o.loss.value_and_grad(o.space, S, y)
        D = o.weighed(D, weights / len(batch))
        self._move(row_gradient(X, D, rows), "W", rate)
        if "b" in self.params:
            self.catcher.catch_up("b", slice(None))
            self._move(RowGrad(slice(None), D.sum(axis=0)), "b", rate)
        self.catcher.advance(rate / o.X.shape[0])
        if self.eager:
            self.catcher.settle()
        if self.mean is not None:
            self.mean.stepped(self.params)
        return float(values @ weights), o.mistakes(S, y)

    def result(self) -> Params:
        """The parameters to return: the latest, or the mean."""
        return self.params if self.mean is None else self.mean.mean(self.params, self.t)

    def penalty(self) -> float:
        """The value of the regularizer."""
        return self.objective.penalty(self.params)

    def memories(self) -> Arrays:
        """Parameters, the rule's accumulators, and the sums of the mean."""
        kept: Arrays = {f"at.{name}": value for name, value in self.params.items()}
        kept |= {f"rule.{name}": value for name, value in self.memory.items()}
        return kept | (self.mean.arrays() if self.mean is not None else {})

    def _move(self, grad: RowGrad, name: str, rate: float) -> None:
        if self.mean is None or self.eager:
            self.rule.step(name, self.params, self.memory, grad, rate)
            return
        before = self.params[name][grad.rows].copy()
        self.rule.step(name, self.params, self.memory, grad, rate)
        self.mean.moved(name, grad.rows, self.params[name][grad.rows] - before, self.t)
