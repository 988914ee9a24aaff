"""Passive-aggressive learning: the smallest step that corrects an example."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.kernels.online import LOSSES
from linnaeus.optimizers.fused_steps import Flow, Fused, Given, OnlineKernel
from linnaeus.optimizers.requirements import has_costs
from linnaeus.optimizers.schedules import Constant, Schedule
from linnaeus.optimizers.stochastic_steps import Run
from linnaeus.protocols import ListedSpace, OnlineLoss, StepwiseSolver, StochasticSolver, capability, has
from linnaeus.types import Start, Step

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective


@dataclass(frozen=True)
class PassiveAggressive:
    """Passive-aggressive learning: if the margin is below 1, the smallest step that makes it 1 (Crammer et al. 2006).

    The step is tau = loss / |x|^2 (in a joint space over 2 |x|^2). `slack` limits the effect of noisy examples:
    "linear" (PA-I) caps tau at `aggressiveness`, "squared" (PA-II) adds 1 / (2 aggressiveness) to |x|^2, "none" (PA)
    does neither. The weight of an example multiplies its aggressiveness. There is no learning rate: it is one.

    >>> PassiveAggressive(aggressiveness=0.1).limits
    (0.1, 0.0)
    """

    aggressiveness: float = 1.0
    slack: Literal["linear", "squared", "none"] = "linear"
    provides: ClassVar[tuple[type, ...]] = (StepwiseSolver, StochasticSolver)
    rate: ClassVar[float] = 1.0
    schedule: ClassVar[Schedule] = Constant()
    batch: ClassVar[int] = 1

    def __post_init__(self) -> None:
        expect("aggressiveness", self.aggressiveness, float)
        if not self.aggressiveness > 0:
            raise UsageError(f"aggressiveness must be positive, not {self.aggressiveness}.")
        if self.slack not in ("linear", "squared", "none"):
            raise UsageError(f"slack takes 'linear' (PA-I), 'squared' (PA-II) or 'none' (PA), not {self.slack!r}.")

    @property
    def limits(self) -> tuple[float, float]:
        """The maximum of tau, and the addition to |x|^2."""
        cap = float(self.aggressiveness) if self.slack == "linear" else np.inf
        return cap, 0.5 / self.aggressiveness if self.slack == "squared" else 0.0

    def refuse(self, objective: Objective) -> str | None:
        """Refuse losses other than the hinge, penalties, and other output spaces."""
        loss = capability(objective.loss, OnlineLoss)
        if loss is None or loss.online != LOSSES["hinge"]:
            return "PassiveAggressive supports the hinge loss only."
        if objective.regularizer.value(np.ones((1, 1))) != 0:
            return "PassiveAggressive is regularized by aggressiveness, and takes no penalty but NoPenalty."
        if not has(objective.space, ListedSpace) or has_costs(objective):
            return "PassiveAggressive supports binary, multiclass, onevsrest and multilabel outputs without costs."
        return None

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Run epochs until `report` raises."""
        self.descent(objective, start, averaged=False).run(report)

    def descent(self, objective: Objective, start: Start, averaged: bool) -> Run:
        """Start a run."""
        return Fused(self, OnlineKernel(1, self._learn, own_penalty=True), objective, start, averaged)

    def _learn(self, given: Given, _flow: Flow) -> tuple[float, int]:
        order, space = given.order[0], given.loss[0]
        return kernels.learn_aggressive(given.rows, given.truth, order, given.state, space, self.limits)
