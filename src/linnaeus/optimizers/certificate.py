"""Reports of batch solvers, with a certificate: a bound on how far the objective is above its optimum.

A convex loss with an L2 penalty of strength l2 on all parameters is strongly convex, so f(w) - f* <= ||g||^2 / (2 l2).
A free bias is not penalized. The same holds for the weights alone once b is at its best for them (`Objective.polish`),
because f minimized over b keeps the strong convexity of the penalty; the report is then of the polished parameters.
Polishing costs about one evaluation, so it is done when ||g||^2 / (2 l2) has become a quarter of what it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays.vectors import dot
from linnaeus.types import Step

if TYPE_CHECKING:
    from linnaeus.protocols import Objective
    from linnaeus.types import Params, Start

EPS = float(np.finfo(np.float64).eps)


class Reporter:
    """Counts the iterations of a batch solver, and tells of them: value, gradient, and a gap where there is one.

    `exact` is False for solvers whose values and gradients come from recurrences: no gap is made of those. `state` is
    what the solver needs to go on, if it tells that.
    """

    def __init__(
        self, objective: Objective, start: Start, report: Callable[[Step], float | None], exact: bool = True
    ) -> None:
        self.objective, self.report, self.epoch, self.planned = objective, report, start.epoch, start.epochs
        self.exact = exact
        plain = objective.convex and not getattr(objective.regularizer, "l1", 1.0)
        self.l2 = float(getattr(objective.regularizer, "l2", 0.0)) if plain else 0.0
        self.free = objective.bias == "free"
        self.scale: float | None = None
        self.told: Step | None = None
        self.seen: tuple[Callable[[], Params], float, float] | None = None
        self.state: Callable[[], dict[str, Any]] | None = None
        self.certified = float(np.ravel(start.state.get("certified", np.inf))[0])
        self.resumed = "certified" in start.state

    def begin(self, params: Params, grad: Params) -> None:
        """Remember how large the gradient is at zero: what later ones are small against."""
        zero = not any(value.any() for value in params.values())
        self.scale = norm(grad if zero else self.objective.value_and_grad(self.objective.initial())[1])

    def tell(
        self, params: Callable[[], Params], value: float, gradient: float, rate: float | None = None
    ) -> float | None:
        """One more iteration, with the length of its gradient; parameters are made when asked for, until the next."""
        self.epoch += 1
        self.seen = (params, value, gradient)
        bound = 0.5 * gradient**2 / self.l2 if self.l2 else np.inf
        # The first time in any case: a gap that is known, however large, is what decides from then on.
        due = (self.told is None and not self.resumed) or (bound <= 0.1 * abs(value) and bound <= 0.25 * self.certified)
        return self._say(rate, certify=due or (self.exact and not self.free) or self.epoch >= self.planned)

    def finish(self) -> None:
        """The last iterate once more, where it was told without a gap, or from a recurrence."""
        if self.told is None or self.told.gap is not None or self.seen is None:
            return
        if not self.exact:
            value, grad = self.objective.value_and_grad(self.seen[0]())
            self.seen = (self.seen[0], value, norm(grad))
        if self.l2 or not self.exact:
            self._say(None, certify=True)

    def _say(self, rate: float | None, certify: bool) -> float | None:
        assert self.seen is not None
        params, value, gradient = self.seen
        gap = None
        if self.l2 and certify:
            gap, params, value, gradient = self._certified(params, value, gradient)
        facts: Any = {"value": value, "gap": gap, "gradient": gradient, "scale": self.scale, "rate": rate}
        self.told = Step(self.epoch, params, self._state, **facts)
        return self.report(self.told)

    def _state(self) -> dict[str, Any]:
        """The solver's own, and how near the last certificate was, so that the next one comes when it would have."""
        return {} if self.state is None else {**self.state(), "certified": np.array([self.certified])}

    def _certified(
        self, params: Callable[[], Params], value: float, gradient: float
    ) -> tuple[float | None, Callable[[], Params], float, float]:
        """The gap, and what it is the gap of. Rounding of the value is part of it."""
        left, self.certified = 0.0, 0.5 * gradient**2 / self.l2
        if self.free:
            polished = self.objective.polish(params())
            if polished is None:
                return None, params, value, gradient
            found, value, left = polished.params, polished.value, polished.left
            params, gradient = (lambda: found), norm(polished.grad)
            gap = 0.5 * norm({"W": polished.grad["W"]}) ** 2 / self.l2
        else:
            if not self.exact:
                value, grad = self.objective.value_and_grad(params())
                gradient = norm(grad)
            gap = 0.5 * gradient**2 / self.l2
        if gap + left > 0:
            gap += rounding(self.objective, value)
        return gap + left, params, value, gradient


def rounding(objective: Objective, value: float) -> float:
    """What rounding hides of an objective: losses of order 1 are rounded when they are made, and their sum is again."""
    return 16 * EPS * (abs(value) + float(np.abs(objective.weights).sum()))


def norm(grad: Params) -> float:
    """The Euclidean length of all entries."""
    flat = [np.ascontiguousarray(g).reshape(-1) for g in grad.values()]
    return float(np.sqrt(sum(dot(g, g) for g in flat)))
