"""Follow the regularized leader (FTRL-proximal): sparse weights in online learning."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus import kernels
from linnaeus.errors import UsageError, expect_within
from linnaeus.frozen import dataclass
from linnaeus.optimizers.fused_steps import Flow, Given, OnlineKernel
from linnaeus.optimizers.schedules import Constant
from linnaeus.optimizers.stochastic import Stochastic
from linnaeus.protocols import EpochPenalty, FusedRule, Rule, SeparablePenalty, ability
from linnaeus.types import Chosen, Doubles, Params, RowGrad

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective


@dataclass(frozen=True)
class FTRL(Stochastic):
    """FTRL-proximal (McMahan et al. 2013): with L1 many weights are exactly zero at any time.

    After gradients g_1..g_t a weight is argmin_w  w sum g_s + 1/2 sum sigma_s (w - w_s)^2 + l1 |w| + l2/2 w^2 with
    sum sigma_s = (beta + sqrt(sum g_s^2)) / rate: each weight has its own decreasing learning rate, so there is no
    schedule. l1 and l2 are those of the regularizer, applied once for every epoch, as in the objective; in the first
    epoch this is the algorithm of the paper. `rate` is its alpha.

    >>> FTRL(rate=0.5).beta
    1.0
    """

    beta: float = 1.0
    own_rates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_within("beta", self.beta, float, "(0, inf)")
        if not isinstance(self.schedule, Constant):
            raise UsageError("FTRL has its own learning rate for each weight; leave the schedule constant.")

    def rule_for(self, objective: Objective) -> Rule:
        """The update rule with the penalty. Larger batches have fewer steps, each with a mean gradient."""
        penalty, n = ability(objective.regularizer, SeparablePenalty), objective.X.shape[0]
        share = -(-n // self.batch) / n
        return Proximal(self.rate, self.beta, share * penalty.l1, share * penalty.l2, objective.penalized)


@dataclass(frozen=True)
class Proximal:
    """n += g^2, z += g - (change of sqrt n) / alpha w, w = -(z - sign(z) l1) / ((beta + sqrt n) / alpha + l2)."""

    alpha: float
    beta: float
    l1: float = 0.0
    l2: float = 0.0
    penalized: tuple[str, ...] = ("W",)
    charged: int = 1
    provides: ClassVar[tuple[type, ...]] = (FusedRule, EpochPenalty)
    eager: ClassVar[bool] = False

    def begin(self, params: Params) -> Params:
        """Sums such that the weights are those that were given."""
        state: Params = {}
        for name, w in params.items():
            l1, l2 = self._strengths(name)
            state[f"{name}.z"] = -w * (self.beta / self.alpha + l2) - np.sign(w) * l1
            state[f"{name}.n"] = np.zeros_like(w)
        return state

    def step(self, name: str, params: Params, state: Params, grad: RowGrad, rate: float) -> None:
        """Sums first, then the weights that balance them."""
        rows, g = grad.rows, grad.block
        l1, l2 = self._strengths(name)
        n = state[f"{name}.n"][rows]
        root = np.sqrt(n + g * g)
        z = state[f"{name}.z"][rows] + g - (root - np.sqrt(n)) / self.alpha * params[name][rows]
        state[f"{name}.n"][rows], state[f"{name}.z"][rows] = n + g * g, z
        params[name][rows] = self._weights(z, root, (l1, l2))

    def charge(self, epoch: int, params: Params, state: Params) -> Proximal:
        """The rule for this epoch: the penalty once more, and the weights that belong to it."""
        rule = replace(self, charged=epoch)
        for name, w in params.items():
            w[:] = rule._weights(state[f"{name}.z"], np.sqrt(state[f"{name}.n"]), rule._strengths(name))
        return rule

    def pace(self, name: str, state: Params, rows: Chosen) -> float:
        """The penalty is in the steps."""
        return 0.0

    @property
    def online(self) -> OnlineKernel:
        """Its fused kernel."""

        def learn(given: Given, _flow: Flow) -> tuple[float, int]:
            rule = (self.alpha, self.beta, *self._strengths("W"))
            return kernels.learn_ftrl(given.rows, given.truth, given.order[0], given.state, given.loss, rule)

        return OnlineKernel(3, learn, None, ("{}.z", "{}.n"), self.begin, own_penalty=True, charge=self._charge)

    def _charge(self, epoch: int, params: Params, state: Params) -> OnlineKernel:
        return self.charge(epoch, params, state).online

    def _strengths(self, name: str) -> tuple[float, float]:
        return (self.charged * self.l1, self.charged * self.l2) if name in self.penalized else (0.0, 0.0)

    def _weights(self, z: Doubles, root: Doubles, strengths: tuple[float, float]) -> Doubles:
        over = np.maximum(0.0, np.abs(z) - strengths[0])
        return -np.sign(z) * over / ((self.beta + root) / self.alpha + strengths[1])
