"""SciPy's batch optimizers on our objective: L-BFGS, nonlinear conjugate gradients, truncated Newton."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.types import Step

if TYPE_CHECKING:
    from linnaeus.protocols import Objective
    from linnaeus.types import Doubles, Params, Start


@dataclass(frozen=True)
class LBFGS:
    """Limited-memory BFGS (Liu and Nocedal 1989) through SciPy, for losses and penalties with a gradient.

    Memory: about 2 `memory` + 6 times the parameters, in float64.
    """

    memory: int = 10

    def refuse(self, objective: Objective) -> str | None:
        """It needs gradients everywhere."""
        return refuse_kinks(objective, "L-BFGS")

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Until SciPy finds no way down, or `report` raises."""
        from scipy.optimize import minimize

        flat = Flat(objective, start.params)
        reporter = flat.reporter(start.epoch, report)
        options: Any = {"maxcor": self.memory, "maxiter": 1_000_000, "maxfun": 10_000_000, "ftol": 0.0, "gtol": 0.0}
        minimize(flat.value_and_grad, flat.x0, jac=True, method="L-BFGS-B", callback=reporter, options=options)  # type: ignore[call-overload]


class Flat:
    """An objective as a function of one vector, remembering the last value and gradient for the reports."""

    def __init__(self, objective: Objective, params: Params) -> None:
        self.objective, self.names = objective, list(params)
        self.shapes = [params[name].shape for name in self.names]
        self.x0 = np.concatenate([params[name].ravel() for name in self.names])
        self.last: tuple[Doubles, float, Doubles] | None = None

    def unpack(self, x: Doubles) -> Params:
        """Named arrays, as views into the vector."""
        sizes = np.cumsum([0] + [int(np.prod(shape)) for shape in self.shapes])
        return {
            name: x[a:b].reshape(shape)
            for name, shape, a, b in zip(self.names, self.shapes, sizes[:-1], sizes[1:], strict=True)
        }

    def pack(self, params: Params) -> Doubles:
        """One vector."""
        return np.concatenate([params[name].ravel() for name in self.names])

    def value_and_grad(self, x: Doubles) -> tuple[float, Doubles]:
        """The objective and its gradient."""
        value, grad = self.objective.value_and_grad(self.unpack(x))
        packed = self.pack(grad)
        self.last = (x.copy(), value, packed)
        return value, packed

    def reporter(self, epoch: int, report: Callable[[Step], float | None]) -> Callable[[Doubles], None]:
        """A callback for SciPy that reports each iterate."""
        count = epoch

        def tell(x: Doubles) -> None:
            nonlocal count
            count += 1
            kept = x.copy()
            if self.last is None or not np.array_equal(self.last[0], kept):
                self.value_and_grad(kept)
            assert self.last is not None
            _, value, grad = self.last
            report(Step(count, lambda: self.unpack(kept), _nothing, value=value, gradient=float(np.linalg.norm(grad))))

        return tell


def refuse_kinks(objective: Objective, name: str) -> str | None:
    """Why a solver that follows gradients cannot serve a loss or a penalty with kinks."""
    loss = type(objective.loss).__name__
    if not getattr(objective.loss, "smooth", True):
        return f"{name} needs a gradient everywhere, and the {loss} loss has a kink; use DualAscent, SGD or AdaGrad."
    if getattr(objective.regularizer, "l1", 1.0):
        penalty = type(objective.regularizer).__name__
        return (
            f"{name} needs a gradient everywhere, and the {penalty} penalty has a kink; "
            "use CoordinateDescent or ProximalGradient."
        )
    return None


def _nothing() -> dict[str, Any]:
    return {}
