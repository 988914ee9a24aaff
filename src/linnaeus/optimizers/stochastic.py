"""Step by step over shuffled batches: the engine under SGD, momentum, AdaGrad and Adam, for any loss and output space.

A step on a batch B uses the mean gradient g = 1/|B| sum_B weight_i dloss_i, and the penalty's flow for time rate/n:
together, in expectation, 1/n of the objective's gradient. The general path is `descent.py`, in NumPy over blocks of
scores; rules and losses that have a fused kernel take it for batches of one (`fused.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linnaeus.errors import InputTypeError, UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.optimizers.descent import Descent
from linnaeus.optimizers.fused import Fused, online_kernel
from linnaeus.optimizers.rules import Adaptive, Heavy, Moments, Plain
from linnaeus.optimizers.schedule import Constant, Schedule, as_schedule

if TYPE_CHECKING:
    from linnaeus.optimizers.descent import Run
    from linnaeus.protocols import Objective, Rule
    from linnaeus.types import Doubles, Start, Step


@dataclass(frozen=True)
class Stochastic(ABC):
    """What step-wise optimizers share: the rate, its schedule, and how many examples a step looks at.

    A schedule is an object, or a plain name out of `SCHEDULES`.

    >>> SGD(schedule="inverse").schedule
    InverseTime(offset=1.0)
    """

    rate: float = 0.1
    schedule: Any = field(default_factory=Constant)
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
        object.__setattr__(self, "schedule", as_schedule(self.schedule))

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """The update."""

    def refuse(self, objective: Objective) -> str | None:
        """A first-order rule takes every loss and every penalty."""
        return None

    def rule_for(self, objective: Objective) -> Rule:
        """The update for this objective, where it needs to know it."""
        return self.rule

    def rates(self, first: int, count: int, total: int) -> Doubles:
        """The rates of the steps first, first + 1, ...; `total` are planned."""
        schedule: Schedule = self.schedule
        return self.rate * schedule.factors(first, count, total)

    def adapt(self, factor: float, score: float | None, before: float | None) -> float:
        """What to multiply the rates of the next epoch with, by the held-out scores of this one and the one before."""
        schedule: Schedule = self.schedule
        return schedule.adapt(factor, score, before)

    def descent(self, objective: Objective, start: Start, averaged: bool) -> Run:
        """A run of it: by a fused kernel where there is one for these pieces, else in NumPy."""
        rule = self.rule_for(objective)
        kernel = online_kernel(rule, objective, averaged) if self.batch == 1 else None
        if kernel is None:
            return Descent(self, rule, objective, start, averaged)
        return Fused(self, kernel, objective, start, averaged)

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Epoch after epoch, until `report` raises."""
        self.descent(objective, start, averaged=False).run(report)


@dataclass(frozen=True)
class SGD(Stochastic):
    """w <- w - rate g. With the perceptron loss, rate 1 and no penalty this is the perceptron.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="log", optimizer=SGD(), epochs=50).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    @property
    def rule(self) -> Rule:
        """Plain steps."""
        return Plain()


@dataclass(frozen=True)
class AdaGrad(Stochastic):
    """w_i <- w_i - rate g_i / sqrt(eps + sum of g_i^2): a rate for each weight, large for rare features.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="log", optimizer=AdaGrad(), epochs=50).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    eps: float = 1e-8

    def __post_init__(self) -> None:
        super().__post_init__()
        _expect_within("eps", self.eps, np.inf)

    @property
    def rule(self) -> Rule:
        """Steps by history."""
        return Adaptive(self.eps)

    def refuse(self, objective: Objective) -> str | None:
        """The group penalty moves rows as a whole."""
        return refuse_groups(objective, "AdaGrad")


@dataclass(frozen=True)
class Momentum(Stochastic):
    """v <- decay v + g, w <- w - rate v.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="log", optimizer=Momentum(), epochs=50).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    decay: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        _expect_within("decay", self.decay, 1.0)

    @property
    def rule(self) -> Rule:
        """Steps with a memory."""
        return Heavy(self.decay)


@dataclass(frozen=True)
class Adam(Stochastic):
    """Adam with decoupled penalty.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        _expect_within("first", self.first, 1.0)
        _expect_within("second", self.second, 1.0)
        _expect_within("eps", self.eps, np.inf)

    @property
    def rule(self) -> Rule:
        """Steps by two moments."""
        return Moments(self.first, self.second, self.eps)

    def refuse(self, objective: Objective) -> str | None:
        """The group penalty moves rows as a whole."""
        return refuse_groups(objective, "Adam")


@dataclass(frozen=True)
class Average:
    """The mean of the iterates of a step-wise optimizer, which is an object or a plain name.

    `Average(SGD(rate=1.0))` with the perceptron loss is the averaged perceptron (Freund and Schapire 1999, Collins
    2002).

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="perceptron", optimizer=Average(SGD(rate=1.0)), regularizer="none").fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    inner: Any = field(default_factory=SGD)
    stepwise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "inner", _stepwise(self.inner))

    def refuse(self, objective: Objective) -> str | None:
        """What the inner one refuses."""
        said: str | None = self.inner.refuse(objective)
        return said

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """As the inner one; reported parameters are means."""
        self.inner.descent(objective, start, averaged=True).run(report)


def _expect_within(name: str, value: float, end: float) -> None:
    """Refuse what is no number from 0 up to, but not including, the end."""
    expect(name, value, float)
    if not 0 <= value < end:
        last = "finite" if end == np.inf else f"below {end:g}"
        raise UsageError(f"{name} must be at least 0 and {last}, not {value}.")


def _stepwise(value: Any) -> Any:
    """The step-wise optimizer that is meant."""
    from linnaeus.optimizers import OPTIMIZERS  # its table has this module's pieces

    if hasattr(value, "descent") and not isinstance(value, type):
        return value
    table = {name: made for name, made in OPTIMIZERS.items() if hasattr(made, "descent")}
    if isinstance(value, str) and value in table:
        return table[value]()
    if isinstance(value, str | type) or not hasattr(value, "minimize"):
        raise InputTypeError(
            f"Average takes a step-wise optimizer, by a plain name ({', '.join(table)}) or an object, not {value!r}."
        )
    raise UsageError(f"Only step-wise optimizers have iterates to average, not {type(value).__name__}.")


def refuse_groups(objective: Objective, name: str) -> str | None:
    """Why rules with a rate for each weight cannot serve a penalty on whole rows."""
    if hasattr(objective.regularizer, "l1"):
        return None
    return f"{name} has a rate for each weight, but the group penalty moves the weights of a feature together."
