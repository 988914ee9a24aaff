"""Truncated Newton: each step solves the Newton equations as far as it pays, by conjugate gradients in a region."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.optimizers.flat import Flat
from linnaeus.optimizers.quasi import ENDLESS
from linnaeus.optimizers.smooth import refuse_flat

if TYPE_CHECKING:
    from linnaeus.protocols import Objective
    from linnaeus.types import Start, Step


@dataclass(frozen=True)
class NewtonCG:
    """Newton's method in a trust region, by conjugate gradients (Steihaug 1983; TRON is this for LIBLINEAR).

    For losses with a second derivative. Few iterations, each of many products with the Hessian; a step that was refused
    counts as one. Memory: about 8 times the parameters, in float64.
    """

    def refuse(self, objective: Objective) -> str | None:
        """It needs second derivatives."""
        return refuse_flat(objective, "NewtonCG")

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Until no step helps any more, or `report` raises."""
        flat = Flat(objective, start, report)
        _, g = flat.value_and_grad(flat.x0)
        size = float(np.linalg.norm(g))
        if size == 0.0:
            flat.tell(flat.x0)
            return
        # SciPy's inner tolerance, min(1/2, sqrt |g|), is meant for gradients that start near 1.
        unit = max(size, flat.reporter.scale or 0.0)
        bend = float(g @ flat.hessp(flat.x0, g))
        radius = 10.0 * size**3 / bend if bend > 0 else 1.0
        options = {"maxiter": ENDLESS, "gtol": 0.0, "initial_trust_radius": radius, "max_trust_radius": 1e12 * radius}
        flat.run("trust-ncg", options, unit=unit, second=True)
