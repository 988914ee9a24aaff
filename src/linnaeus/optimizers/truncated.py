"""Truncated Newton: each step solves the Newton equations approximately, by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.vectors import combine, dot, norm, products
from linnaeus.frozen import dataclass
from linnaeus.optimizers.flat import Flat
from linnaeus.optimizers.search import armijo
from linnaeus.optimizers.smooth import refuse_flat

if TYPE_CHECKING:
    from linnaeus.protocols import Objective
    from linnaeus.types import Doubles, Start, Step


@dataclass(frozen=True)
class NewtonCG:
    """Newton's method by conjugate gradients, with a line search (Dembo and Steihaug 1983), as in LIBLINEAR.

    For losses with a second derivative. It takes few iterations, each with many products with the Hessian. It is faster
    than L-BFGS if products with the rows dominate the time. (SciPy's trust-region methods are slow on the squared
    hinge, whose curvature is discontinuous.) Memory: about 8 times the parameters, in float64.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="log", optimizer=NewtonCG()).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    def refuse(self, objective: Objective) -> str | None:
        """Refuse losses without second derivatives."""
        return refuse_flat(objective, "NewtonCG")

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Minimize until no step lowers the objective, or `report` raises."""
        flat = Flat(objective.by_columns(), start, report)
        x, scale = flat.x0, max(flat.reporter.scale or 0.0, 1e-300)
        while True:
            _, g = flat.value_and_grad(x)
            # More precise near the optimum, which makes the convergence superlinear.
            share = min(0.25, float(np.sqrt(norm(g) / scale)))
            found = armijo(flat, x, solve(lambda v, x=x: flat.hessp(x, v), -g, share))  # type: ignore[misc]
            if found is None:
                break
            x = found
            flat.tell(x)
        flat.finish()


def solve(product: Callable[[Doubles], Doubles], g: Doubles, share: float) -> Doubles:
    """H^-1 g by conjugate gradients until `share` of g is left over; no further where H has no curvature.

    >>> solve(lambda v: 2.0 * v, np.array([1.0, -4.0]), 0.1).tolist()
    [0.5, -2.0]
    """
    x, r, p = np.zeros_like(g), g.copy(), g.copy()
    rho = begin = dot(r, r)
    steepest = 0.0
    for _ in range(10 * len(g) + 10):
        if rho <= share**2 * begin or rho == 0.0:
            break
        q = product(p)
        bend, length = products([p], [q, p])[0].tolist()
        steepest = max(steepest, bend / length)
        if bend <= 1e-14 * steepest * length:
            return x if x.any() else g
        combine([x, p], [1.0, rho / bend], x)
        combine([r, q], [1.0, -rho / bend], r)
        rho, before = dot(r, r), rho
        combine([r, p], [1.0, rho / before], p)
    return x
