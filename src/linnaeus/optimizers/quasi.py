"""Batch solvers that use gradients alone, through SciPy: L-BFGS and nonlinear conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linnaeus.errors import UsageError, expect
from linnaeus.optimizers.flat import Flat
from linnaeus.optimizers.smooth import refuse_kinks

if TYPE_CHECKING:
    from linnaeus.protocols import Objective
    from linnaeus.types import Start, Step

ENDLESS = 10**9
"""Iterations are counted by whoever listens."""


@dataclass(frozen=True)
class LBFGS:
    """Limited-memory BFGS (Liu and Nocedal 1989), for losses and penalties with a gradient. The solver for most.

    Memory: about 2 `memory` + 6 times the parameters, in float64.
    """

    memory: int = 10

    def __post_init__(self) -> None:
        expect("memory", self.memory, int)
        if self.memory < 1:
            raise UsageError(f"memory must be at least 1, not {self.memory}.")

    def refuse(self, objective: Objective) -> str | None:
        """It needs gradients everywhere."""
        return refuse_kinks(objective, "LBFGS")

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Until SciPy finds no way down, or `report` raises."""
        options = {"maxcor": self.memory, "maxiter": ENDLESS, "maxfun": ENDLESS, "ftol": 0.0, "gtol": 0.0}
        Flat(objective.by_columns(), start, report).run("L-BFGS-B", options)


@dataclass(frozen=True)
class ConjugateGradient:
    """Nonlinear conjugate gradients (Polak and Ribiere), for losses and penalties with a gradient.

    Memory: about 6 times the parameters, in float64: less than L-BFGS, for more iterations.
    """

    def refuse(self, objective: Objective) -> str | None:
        """It needs gradients everywhere."""
        return refuse_kinks(objective, "ConjugateGradient")

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Until SciPy finds no way down, or `report` raises."""
        Flat(objective.by_columns(), start, report).run("CG", {"maxiter": ENDLESS, "gtol": 0.0})
