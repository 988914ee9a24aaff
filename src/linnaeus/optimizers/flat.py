"""An objective as a function of one vector, for SciPy's optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays.blas import single_blas
from linnaeus.optimizers.certificate import Reporter

if TYPE_CHECKING:
    from linnaeus.protocols import Objective
    from linnaeus.types import Doubles, Params, Start, Step


class Flat:
    """Value and gradient of a vector, each point computed once; tells of SciPy's iterates through a `Reporter`."""

    def __init__(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        self.objective, self.names = objective, list(start.params)
        self.shapes = [start.params[name].shape for name in self.names]
        self.ends = np.cumsum([0] + [int(np.prod(shape)) for shape in self.shapes])
        self.x0 = self.pack(start.params)
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

    def value_and_grad(self, x: Doubles) -> tuple[float, Doubles]:
        """The objective and its gradient; both are kept, because SciPy asks for them apart."""
        if self.last is None or not np.array_equal(self.last[0], x):
            value, grad = self.objective.value_and_grad(self.unpack(x))
            self.last = (x.copy(), value, self.pack(grad))
        return self.last[1], self.last[2]

    def hessp(self, x: Doubles, v: Doubles) -> Doubles:
        """The Hessian at x times v; what belongs to x alone is kept."""
        if self.bent is None or not np.array_equal(self.bent[0], x):
            self.bent = (x.copy(), self.objective.hessp(self.unpack(x)))
        return self.pack(self.bent[1](self.unpack(v)))

    def tell(self, x: Doubles) -> None:
        """Report an iterate: SciPy's callback."""
        kept = x.copy()
        value, grad = self.value_and_grad(kept)
        self.reporter.tell(self.unpack(kept), value, self.unpack(grad.copy()))

    def run(self, method: str, options: dict[str, Any]) -> None:
        """SciPy's minimize, until it ends or `report` raises."""
        from scipy.optimize import minimize

        # The BLAS that came with this import is a second one, which `train` could not hold to one thread.
        with single_blas(), np.errstate(over="ignore", invalid="ignore"):
            minimize(self.value_and_grad, self.x0, jac=True, method=method, callback=self.tell, options=options)  # type: ignore[call-overload]
        self.finish()

    def finish(self) -> None:
        """The last word: the start, if there was no step at all, and a gap for the last iterate."""
        if self.reporter.told is None:
            self.tell(self.x0)
        self.reporter.finish()
