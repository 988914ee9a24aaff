"""Stochastic optimizers over shuffled batches (SGD, momentum, AdaGrad, Adam), for any loss and output space.

A step on a batch B uses the mean gradient g = 1/|B| sum_B weight_i dloss_i, and the penalty's flow for time rate/n:
together, in expectation, 1/n of the objective's gradient. Each optimizer is an update rule (`protocols.Rule`), or makes
one for an objective. The general path is `stochastic_steps.py`, in NumPy over blocks of scores; rules and losses that
have a fused kernel take it for batches of one (`fused_steps.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError, expect, expect_within
from linnaeus.frozen import dataclass
from linnaeus.optimizers.fused_steps import Flow, Fused, Given, OnlineKernel, Table, online_kernel
from linnaeus.optimizers.schedules import Constant, Schedule, as_schedule
from linnaeus.optimizers.stochastic_steps import Descent, Run
from linnaeus.protocols import (
    AveragingSolver,
    FusedRule,
    RatedSolver,
    Rule,
    SeparablePenalty,
    Solver,
    StepwiseSolver,
    StochasticSolver,
    capability,
    has,
    meant,
)
from linnaeus.types import Chosen, Doubles, Params, RowGrad, Start, Step

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective


@dataclass(frozen=True)
class Stochastic(ABC):
    """Base class of stochastic optimizers: learning rate, schedule and batch size.

    A schedule is an object, or a name in `SCHEDULES`.

    >>> SGD(schedule="inverse").schedule
    InverseTime(offset=1.0)
    """

    rate: float = 0.1
    schedule: Schedule | str = field(default_factory=Constant)
    batch: int = 1
    provides: ClassVar[tuple[type, ...]] = (StepwiseSolver, StochasticSolver, RatedSolver)
    own_rates: ClassVar[bool] = False
    """Whether each weight has a learning rate of its own."""

    def __post_init__(self) -> None:
        expect_within("rate", self.rate, float, "(0, inf)")
        expect("batch", self.batch, int, 1)
        object.__setattr__(self, "schedule", as_schedule(self.schedule))

    def refuse(self, objective: Objective) -> str | None:
        """Accept every loss and every penalty; with a learning rate for each weight, not the group penalty."""
        if not self.own_rates or has(objective.regularizer, SeparablePenalty):
            return None
        return f"{type(self).__name__} has a learning rate for each weight, which the group penalty does not support."

    @abstractmethod
    def rule_for(self, objective: Objective) -> Rule:
        """The update rule for this objective."""

    def descent(self, objective: Objective, start: Start, averaged: bool) -> Run:
        """Start a run: with a fused kernel if there is one for this objective, else in NumPy."""
        rule = self.rule_for(objective)
        kernel = online_kernel(rule, objective, averaged) if self.batch == 1 else None
        if kernel is None:
            return Descent(self, rule, objective, start, averaged)
        return Fused(self, kernel, objective, start, averaged)

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Run epochs until `report` raises."""
        self.descent(objective, start, averaged=False).run(report)


class Ruled(Stochastic):
    """A stochastic optimizer that is its own update rule. It remembers one array for each parameter by default."""

    eager: ClassVar[bool] = False

    def rule_for(self, objective: Objective) -> Rule:
        """The update rule: itself, whatever the objective."""
        return self

    def begin(self, params: Params) -> Params:
        """Zeros for each parameter."""
        return {name: np.zeros_like(value) for name, value in params.items()}

    @abstractmethod
    def step(self, name: str, params: Params, state: Params, grad: RowGrad, rate: float) -> None:
        """Update `params[name]` in place."""

    @abstractmethod
    def pace(self, name: str, state: Params, rows: Chosen) -> Doubles | float:
        """The factor by which the updates of these rows are scaled."""


@dataclass(frozen=True)
class SGD(Ruled):
    """Stochastic gradient descent: w <- w - rate g. With the perceptron loss, rate 1 and no penalty: the perceptron.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="log", optimizer=SGD(), epochs=50).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    provides: ClassVar[tuple[type, ...]] = (FusedRule,)

    def begin(self, params: Params) -> Params:
        """Nothing to remember."""
        return {}

    def step(self, name: str, params: Params, state: Params, grad: RowGrad, rate: float) -> None:
        """Against the gradient."""
        params[name][grad.rows] -= rate * grad.block

    def pace(self, name: str, state: Params, rows: Chosen) -> Doubles | float:
        """As the rate says."""
        return 1.0

    @property
    def online(self) -> OnlineKernel:
        """Its fused kernel."""
        return OnlineKernel(1, lambda given, flow: kernels.learn_sgd(*given, flow), kernels.settle_sgd)


@dataclass(frozen=True)
class AdaGrad(Ruled):
    """AdaGrad: w_i <- w_i - rate g_i / sqrt(eps + sum of g_i^2), a learning rate per weight, larger for rare features.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="log", optimizer=AdaGrad(), epochs=50).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    eps: float = 1e-8
    own_rates: ClassVar[bool] = True
    provides: ClassVar[tuple[type, ...]] = (FusedRule,)

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_within("eps", self.eps, float, "[0, inf)")

    def step(self, name: str, params: Params, state: Params, grad: RowGrad, rate: float) -> None:
        """Each weight by its own history: the sum of squared gradients (Duchi, Hazan and Singer 2011)."""
        total = state[name][grad.rows] + grad.block * grad.block
        state[name][grad.rows] = total
        params[name][grad.rows] -= rate * grad.block / np.sqrt(self.eps + total)

    def pace(self, name: str, state: Params, rows: Chosen) -> Doubles | float:
        """1 / sqrt(eps + sum of g^2)."""
        return 1.0 / np.sqrt(self.eps + state[name][rows])

    @property
    def online(self) -> OnlineKernel | None:
        """Its fused kernel, which divides by sqrt(eps) and so wants some of it."""
        if self.eps < 1e-30:
            return None

        def learn(given: Given, flow: Flow) -> tuple[float, int]:
            return kernels.learn_adagrad(*given, (*flow, self.eps))

        def settle(state: Table, flow: Flow) -> None:
            kernels.settle_adagrad(state, (*flow, self.eps))

        return OnlineKernel(2, learn, settle, ("{}",))


@dataclass(frozen=True)
class Momentum(Ruled):
    """SGD with momentum: v <- decay v + g, w <- w - rate v.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="log", optimizer=Momentum(), epochs=50).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    decay: float = 0.9
    eager: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_within("decay", self.decay, float, "[0, 1)")

    def step(self, name: str, params: Params, state: Params, grad: RowGrad, rate: float) -> None:
        """Along the velocity (Polyak 1964). All rows change, also those without a gradient."""
        velocity = state[name]
        velocity *= self.decay
        velocity[grad.rows] += grad.block
        params[name] -= rate * velocity

    def pace(self, name: str, state: Params, rows: Chosen) -> Doubles | float:
        """A constant force moves 1 / (1 - decay) times as far."""
        return 1.0 / (1.0 - self.decay)


@dataclass(frozen=True)
class Adam(Ruled):
    """Adam (Kingma and Ba 2015), with the penalty decoupled as in AdamW: all rows change at every step.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="log", optimizer=Adam(), epochs=50).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    rate: float = 0.01
    first: float = 0.9
    second: float = 0.999
    eps: float = 1e-8
    own_rates: ClassVar[bool] = True
    eager: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_within("first", self.first, float, "[0, 1)")
        expect_within("second", self.second, float, "[0, 1)")
        expect_within("eps", self.eps, float, "[0, inf)")

    def begin(self, params: Params) -> Params:
        """First and second moments, and the number of steps."""
        state = {f"{name}.{moment}": np.zeros_like(value) for moment in "mv" for name, value in params.items()}
        return state | {f"{name}.t": np.zeros(1) for name in params}

    def step(self, name: str, params: Params, state: Params, grad: RowGrad, rate: float) -> None:
        """Along the corrected mean, over the root of the corrected square."""
        m, v, t = state[f"{name}.m"], state[f"{name}.v"], state[f"{name}.t"]
        t += 1
        m *= self.first
        m[grad.rows] += (1 - self.first) * grad.block
        v *= self.second
        v[grad.rows] += (1 - self.second) * grad.block**2
        params[name] -= rate * (m / (1 - self.first ** t[0])) / self._root(v, t[0])

    def pace(self, name: str, state: Params, rows: Chosen) -> Doubles | float:
        """The same scale as the step: 1 / root of the square."""
        return 1.0 / self._root(state[f"{name}.v"][rows], state[f"{name}.t"][0])

    def _root(self, v: Doubles, t: float) -> Doubles:
        return np.asarray(np.sqrt(v / (1 - self.second**t)) + self.eps)


@dataclass(frozen=True)
class Average:
    """Averaging: the mean of the iterates of a stochastic optimizer, given as an object or by name.

    `Average(SGD(rate=1.0))` with the perceptron loss is the averaged perceptron (Freund and Schapire 1999, Collins
    2002).

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="perceptron", optimizer=Average(SGD(rate=1.0)), regularizer="none").fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    inner: Solver | str = field(default_factory=SGD)
    provides: ClassVar[tuple[type, ...]] = (StepwiseSolver, AveragingSolver)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inner", _stepwise(self.inner))

    def refuse(self, objective: Objective) -> str | None:
        """Refuse what the averaged optimizer refuses."""
        return self._averaged.refuse(objective)

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Run the averaged optimizer; reported parameters are means."""
        self._averaged.descent(objective, start, averaged=True).run(report)

    @property
    def _averaged(self) -> StochasticSolver:
        return _stepwise(self.inner)


def _stepwise(value: object) -> StochasticSolver:
    """Return the stochastic optimizer: an object unchanged, or the one with this name."""
    from linnaeus.optimizers import OPTIMIZERS  # its table has this module's pieces

    found = capability(value, StochasticSolver)
    if found is None:
        table = {name: made for name, made in OPTIMIZERS.items() if has(made(), StochasticSolver)}
        found = capability(meant("stochastic optimizer", value, table, "minimize"), StochasticSolver)
    if found is None:
        raise UsageError(f"Average takes a stochastic optimizer, not {type(value).__name__}.")
    return found
