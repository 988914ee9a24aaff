"""Reports of batch solvers, with a certificate: a bound on how far the objective is above its optimum.

A convex loss with an L2 penalty of strength l2 on all parameters is strongly convex, so f(w) - f* <= ||g||^2 / (2 l2).
A free bias is not penalized. The bound holds for the weights alone if b is optimal for them (`Objective.polish`),
because f minimized over b keeps the strong convexity of the penalty; the report then has the polished parameters.
Polishing costs about one evaluation, so it is done when ||g||^2 / (2 l2) has fallen to a quarter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.arrays.numerics import dot
from linnaeus.optimizers.requirements import is_convex, ridge
from linnaeus.types import Arrays, Params, Start, Step

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective

EPS = float(np.finfo(np.float64).eps)


class Iterate(NamedTuple):
    """Where a solver is: its parameters, made when asked for, the objective there, and the norm of its gradient."""

    params: Callable[[], Params]
    value: float
    gradient: float


class Reporter:
    """Counts the iterations of a batch solver and reports them: value, gradient, and a gap if there is one.

    `exact` is False for solvers whose values and gradients come from recurrences: they have no gap. `state` is what the
    solver needs to resume, if it supports that.
    """

    def __init__(
        self, objective: Objective, start: Start, report: Callable[[Step], float | None], exact: bool = True
    ) -> None:
        self.objective, self.report, self.epoch, self.planned = objective, report, start.epoch, start.epochs
        self.exact = exact
        self.l2 = (ridge(objective) or 0.0) if is_convex(objective) else 0.0
        self.free = objective.bias == "free"
        self.scale: float | None = None
        self.told: Step | None = None
        self.seen: Iterate | None = None
        self.state: Callable[[], Arrays] | None = None
        self.certified = float(np.ravel(start.state.get("certified", np.inf))[0])
        self.resumed = "certified" in start.state

    def begin(self, params: Params, grad: Params) -> None:
        """Store the gradient norm at zero, to which later norms are compared."""
        zero = not any(value.any() for value in params.values())
        self.scale = norm(grad if zero else self.objective.value_and_grad(self.objective.initial())[1])

    def tell(
        self, params: Callable[[], Params], value: float, gradient: float, rate: float | None = None
    ) -> float | None:
        """Report an iteration and its gradient norm; parameters are computed on request, until the next iteration."""
        self.epoch += 1
        self.seen = Iterate(params, value, gradient)
        bound = 0.5 * gradient**2 / self.l2 if self.l2 else np.inf
        # The first time in any case: once a gap is known, it is the stopping criterion.
        due = (self.told is None and not self.resumed) or (bound <= 0.1 * abs(value) and bound <= 0.25 * self.certified)
        return self._say(rate, certify=due or (self.exact and not self.free) or self.epoch >= self.planned)

    def finish(self) -> None:
        """Report the last iterate again, if it had no gap or came from a recurrence."""
        if self.told is None or self.told.gap is not None or self.seen is None:
            return
        if not self.exact:
            self.seen = self._exactly(self.seen)
        if self.l2 or not self.exact:
            self._say(None, certify=True)

    def _say(self, rate: float | None, certify: bool) -> float | None:
        assert self.seen is not None
        at, gap = self.seen, None
        if self.l2 and certify:
            gap, at = self._certified(at)
        self.told = Step(self.epoch, at.params, self._state, at.value, gap, at.gradient, self.scale, rate)
        return self.report(self.told)

    def _state(self) -> Arrays:
        """The state of the solver and of the last certificate, so that a resumed run certifies at the same points."""
        return {} if self.state is None else {**self.state(), "certified": np.array([self.certified])}

    def _certified(self, at: Iterate) -> tuple[float | None, Iterate]:
        """The gap and the iterate it holds for; it includes rounding of the value."""
        left, self.certified = 0.0, 0.5 * at.gradient**2 / self.l2
        if self.free:
            polished = self.objective.polish(at.params())
            if polished is None:
                return None, at
            left, found = polished.left, polished.params
            at = Iterate(lambda: found, polished.value, norm(polished.grad))
            gap = 0.5 * norm({"W": polished.grad["W"]}) ** 2 / self.l2
        else:
            at = at if self.exact else self._exactly(at)
            gap = 0.5 * at.gradient**2 / self.l2
        if gap + left > 0:
            gap += rounding(self.objective, at.value)
        return gap + left, at

    def _exactly(self, at: Iterate) -> Iterate:
        """The same with value and gradient that come from no recurrence."""
        value, grad = self.objective.value_and_grad(at.params())
        return Iterate(at.params, value, norm(grad))


def rounding(objective: Objective, value: float) -> float:
    """A bound on the rounding error of an objective: of each loss, and of their sum."""
    return 16 * EPS * (abs(value) + float(np.abs(objective.weights).sum()))


def norm(grad: Params) -> float:
    """The Euclidean length of all entries."""
    flat = [np.ascontiguousarray(g).reshape(-1) for g in grad.values()]
    return float(np.sqrt(sum(dot(g, g) for g in flat)))
