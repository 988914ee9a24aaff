"""An objective as a function of one vector, for batch solvers: over the weights, or over the span of the rows.

A solver that starts at zero and follows gradients never leaves the span of the rows: W = X'A with A (n, w), because the
gradient of the losses is X'D, and that of a ridge penalty is a multiple of W. If there are fewer rows than features, A
replaces W. A vector consists of A and its scores K = XX'A, and inner products of weights are computed without weights:

    <X'A, X'B> = <A, XX'B>

A solver then stores vectors of 2 n w numbers instead of d w, which for words as features is much less. The weights are
computed when a report asks for them. (This is the representer theorem, Kimeldorf and Wahba 1971.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.arrays.numerics import add_multiple, dot, norm, products
from linnaeus.optimizers.certificate import EPS, Reporter
from linnaeus.optimizers.requirements import ridge, single_rows
from linnaeus.types import Doubles, Params, Start, Step

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective


class Evaluated(NamedTuple):
    """An objective at a point."""

    x: Doubles
    value: float
    grad: Doubles


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
        self.last: Evaluated | None = None
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
        """The objective at x; its gradient is written into `grad`. Overflow gives infinity without a warning."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.objective.value_and_grad(self.unpack(x), self.unpack(grad))[0]

    def value_and_grad(self, x: Doubles) -> tuple[float, Doubles]:
        """The objective and its gradient, which are cached."""
        if self.last is None or self.last.x is not x:
            grad = np.empty_like(x)
            value = self.evaluate(x, grad)
            self.settle(grad)
            self.last = Evaluated(x, value, grad)
        return self.last.value, self.last.grad

    def hessp(self, x: Doubles, v: Doubles) -> Doubles:
        """The Hessian at x times v; the part that depends only on x is cached."""
        if self.bent is None or self.bent[0] is not x:
            self.bent = x, self.objective.hessp(self.unpack(x))
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
        """Complete the gradient that was evaluated last; here nothing is missing."""

    def state(self, x: Doubles) -> dict[str, Doubles]:
        """The bias of a reported point, for resuming: the bias in the report may be polished."""
        return {f"at.{name}": value for name, value in self.unpack(x).items() if name == "b"}

    def finish(self) -> None:
        """Report the start if there was no step, and compute a gap for the last iterate."""
        if self.reporter.told is None:
            self.tell(self.x0)
        self.reporter.finish()


def flatten(objective: Objective, start: Start, report: Callable[[Step], float | None]) -> Flat:
    """The objective over the span of the rows if that is smaller and contains the start; else over the weights."""
    n, d = objective.X.shape
    inside = "span" in start.state or not any(p.any() for p in start.params.values())
    inside = inside and not any("at." in name for name in start.state)
    smaller = single_rows(objective) and ridge(objective) is not None and 2 * n < d
    return (Span if smaller and inside else Flat)(objective.by_columns(), start, report)


class Span(Flat):
    """The objective over the span of the rows.

    Vectors are [A, b, K, b], row by row, so that linear combinations work on all parts at once.
    """

    def __init__(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        self.objective, self.ridge = objective, ridge(objective) or 0.0
        width = objective.space.width(objective.k)
        self.shape = (objective.X.shape[0], width)
        self.half = self.shape[0] * self.shape[1] + (0 if objective.bias == "none" else width)
        self.weights = np.empty((objective.X.shape[1], width))
        self.reporter, self.last = Reporter(objective, start, report), None
        self.x0 = np.zeros(2 * self.half)
        self.reporter.scale = self.length(self.value_and_grad(self.x0)[1])
        if "span" in start.state:
            self.x0 = np.array(start.state["span"])

    def cut(self, x: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """A, K and the bias (empty if there is none), as views."""
        n, w = self.shape
        A, K = x[: n * w].reshape(n, w), x[self.half : self.half + n * w].reshape(n, w)
        return A, K, x[n * w : self.half]

    def evaluate(self, x: Doubles, grad: Doubles) -> float:
        """The objective at x; its gradient is written into `grad` without its scores, which a slope does not need."""
        o, (A, K, b), (D, _, slope) = self.objective, self.cut(x), self.cut(grad)
        with np.errstate(over="ignore", invalid="ignore"):
            values, found = o.loss.value_and_grad(o.space, K + b if len(b) else K, o.y)
            np.multiply(found, o.weights[:, None], out=D)
            total = float(values @ o.weights)
            if len(b):
                D.sum(axis=0, out=slope)
            if o.bias == "regularized":
                total += 0.5 * self.ridge * add_multiple(b, self.ridge, slope)
            add_multiple(A, self.ridge, D)
            grad[self.half + K.size :] = slope
            return total + 0.5 * self.ridge * dot(A.reshape(-1), K.reshape(-1))

    def settle(self, grad: Doubles) -> None:
        """Compute the scores of the gradient that was evaluated last."""
        A, K, _ = self.cut(grad)
        K[:] = self.objective.X.dot(self.objective.X.tdot(A, self.weights))

    def products(self, lefts: Sequence[Doubles], rights: Sequence[Doubles]) -> Doubles:
        """The inner product of the weights of each left vector with those of each right one."""
        return products([v[: self.half] for v in lefts], [v[self.half :] for v in rights])

    def length(self, g: Doubles) -> float:
        """The Euclidean length of the weights; rounding never makes it zero."""
        A, K = g[: self.half], g[self.half :]
        return float(np.sqrt(max(dot(A, K), EPS * norm(A) * norm(K))))

    def unpack(self, x: Doubles) -> Params:
        """Weights and bias."""
        A, _, b = self.cut(x)
        W = self.objective.X.tdot(A)
        return {"W": W, "b": b.copy()} if len(b) else {"W": W}

    def state(self, x: Doubles) -> dict[str, Doubles]:
        """The reported point, for resuming."""
        return {"span": x}
