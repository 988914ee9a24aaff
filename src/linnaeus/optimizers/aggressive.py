"""Passive-aggressive learning: the smallest step that puts an example right."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.kernels.online import LOSSES
from linnaeus.optimizers.fused import Fused, OnlineKernel, knows

if TYPE_CHECKING:
    from linnaeus.optimizers.descent import Run
    from linnaeus.protocols import Objective
    from linnaeus.types import Doubles, Start, Step


@dataclass(frozen=True)
class PassiveAggressive:
    """Do nothing when the margin is at least 1; else move the least that makes it 1 (Crammer et al. 2006).

    The step is tau = loss / |x|^2 (in a joint space over 2 |x|^2). `slack` is how a noisy example is kept from having
    its way: "linear" (PA-I) caps tau at `aggressiveness`, "squared" (PA-II) adds 1 / (2 aggressiveness) to |x|^2,
    "none" (PA) does neither. The weight of an example multiplies its aggressiveness. There is no rate.

    >>> PassiveAggressive(aggressiveness=0.1).limits
    (0.1, 0.0)
    """

    aggressiveness: float = 1.0
    slack: Literal["linear", "squared", "none"] = "linear"
    stepwise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        expect("aggressiveness", self.aggressiveness, float)
        if not self.aggressiveness > 0:
            raise UsageError(f"aggressiveness must be positive, not {self.aggressiveness}.")
        if self.slack not in ("linear", "squared", "none"):
            raise UsageError(f"slack takes 'linear' (PA-I), 'squared' (PA-II) or 'none' (PA), not {self.slack!r}.")

    @property
    def limits(self) -> tuple[float, float]:
        """The cap of a step, and what is added to |x|^2."""
        cap = float(self.aggressiveness) if self.slack == "linear" else np.inf
        return cap, 0.5 / self.aggressiveness if self.slack == "squared" else 0.0

    def refuse(self, objective: Objective) -> str | None:
        """It is a rule for the hinge loss, with a limit of its own instead of a penalty."""
        if vars(type(objective.loss)).get("online") != LOSSES["hinge"]:
            return "PassiveAggressive steps on margins below 1, which is the hinge loss alone."
        if objective.regularizer.value(np.ones((1, 1))) != 0:
            return "PassiveAggressive limits its steps by aggressiveness, and takes no penalty but NoPenalty."
        if not knows(objective) or getattr(objective.space, "costs", None) is not None:
            return "PassiveAggressive knows binary, multiclass, onevsrest and multilabel outputs without costs."
        return None

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Epoch after epoch, until `report` raises."""
        self.descent(objective, start, averaged=False).run(report)

    def descent(self, objective: Objective, start: Start, averaged: bool) -> Run:
        """A run of it."""
        return Fused(self, OnlineKernel(1, self._learn, own_penalty=True), objective, start, averaged)

    def rates(self, first: int, count: int, total: int) -> Doubles:
        """Steps have the size they need."""
        return np.ones(count)

    def adapt(self, factor: float, score: float | None, before: float | None) -> float:
        """Nothing to adapt."""
        return factor

    def _learn(self, rows: Any, truth: Any, order: Any, state: Any, asked: Any, _flow: Any) -> tuple[float, int]:
        return kernels.learn_aggressive(rows, truth, order[0], state, asked[0], self.limits)
