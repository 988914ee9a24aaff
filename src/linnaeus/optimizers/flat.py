"""An objective as a function of one vector, for batch solvers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.vectors import norm, products
from linnaeus.optimizers.certificate import Reporter

if TYPE_CHECKING:
    from linnaeus.protocols import Objective
    from linnaeus.types import Doubles, Params, Start, Step


class Flat:
    """Value and gradient as functions of a vector; reports the iterates of a solver through a `Reporter`.

    Parameters and gradients are views into the vectors; nothing is copied. Results are cached for the same array, so a
    solver must not write into an array that it has evaluated.
    """

    def __init__(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        self.objective, self.names = objective, list(start.params)
        self.shapes = [start.params[name].shape for name in self.names]
        self.ends = np.cumsum([0] + [int(np.prod(shape)) for shape in self.shapes]).tolist()
        self.x0 = self.pack({name: start.state.get(f"at.{name}", p) for name, p in start.params.items()})
        self.last: tuple[Doubles, float, Doubles] | None = None
        self.bent: tuple[Doubles, Callable[[Params], Params]] | None = None
        self.reporter = Reporter(objective, start, report)
        self.reporter.begin(start.params, self.unpack(self.value_and_grad(self.x0)[1]))

    def unpack(self, x: Doubles) -> Params:
        """Named arrays, as views into the vector."""
        cuts = zip(self.names, self.shapes, self.ends[:-1], self.ends[1:], strict=True)
        return {name: x[a:b].reshape(shape) for name, shape, a, b in cuts}

    def pack(self, params: Params) -> Doubles:
        """One vector."""
        return np.concatenate([params[name].ravel() for name in self.names])

    def evaluate(self, x: Doubles, grad: Doubles) -> float:
        """The objective at x; its gradient is written into `grad`. Overflow is a value like any other."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.objective.value_and_grad(self.unpack(x), self.unpack(grad))[0]

    def value_and_grad(self, x: Doubles) -> tuple[float, Doubles]:
        """The objective and its gradient; both are kept for the next time."""
        if self.last is None or self.last[0] is not x:
            grad = np.empty_like(x)
            self.last = (x, self.evaluate(x, grad), grad)
        return self.last[1], self.last[2]

    def hessp(self, x: Doubles, v: Doubles) -> Doubles:
        """The Hessian at x times v; what belongs to x alone is kept."""
        if self.bent is None or self.bent[0] is not x:
            self.bent = (x, self.objective.hessp(self.unpack(x)))
        return self.pack(self.bent[1](self.unpack(v)))

    def tell(self, x: Doubles) -> None:
        """Report an iterate."""
        value, grad = self.value_and_grad(x)
        self.say(x, value, self.length(grad))

    def say(self, x: Doubles, value: float, gradient: float, rate: float | None = None) -> None:
        """Report an iterate and the length of its gradient; nothing is written into x until the next one."""
        self.reporter.tell(lambda: self.unpack(x), value, gradient, rate=rate)

    def products(self, lefts: Sequence[Doubles], rights: Sequence[Doubles]) -> Doubles:
        """The inner product of each left vector with each right one."""
        return products(lefts, rights)

    def length(self, g: Doubles) -> float:
        """The Euclidean length."""
        return norm(g)

    def settle(self, grad: Doubles) -> None:
        """What is missing of the gradient that was evaluated last: nothing."""

    def state(self, x: Doubles) -> dict[str, Doubles]:
        """The bias of a point that was told of, for the next time: the one in the report may be polished."""
        return {f"at.{name}": value for name, value in self.unpack(x).items() if name == "b"}

    def finish(self) -> None:
        """The last word: the start, if there was no step at all, and a gap for the last iterate."""
        if self.reporter.told is None:
            self.tell(self.x0)
        self.reporter.finish()
