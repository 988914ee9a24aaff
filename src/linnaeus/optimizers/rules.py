"""First-order update rules (`protocols.Rule`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linnaeus import kernels
from linnaeus.frozen import dataclass
from linnaeus.optimizers.fused import OnlineKernel

if TYPE_CHECKING:
    from linnaeus.types import Params, RowGrad


@dataclass(frozen=True)
class Plain:
    """w <- w - rate g."""

    eager: ClassVar[bool] = False

    def begin(self, params: Params) -> Params:
        """Nothing to remember."""
        return {}

    def step(self, name: str, params: Params, state: Params, grad: RowGrad, rate: float) -> None:
        """Against the gradient."""
        params[name][grad.rows] -= rate * grad.block

    def pace(self, name: str, state: Params, rows: Any) -> Any:
        """As the rate says."""
        return 1.0

    @property
    def online(self) -> OnlineKernel:
        """Its fused kernel."""
        return OnlineKernel(1, kernels.learn_sgd, kernels.settle_sgd)


@dataclass(frozen=True)
class Adaptive:
    """AdaGrad (Duchi, Hazan, Singer 2011): w <- w - rate g / sqrt(eps + sum of g^2), per weight."""

    eps: float = 1e-8
    eager: ClassVar[bool] = False

    def begin(self, params: Params) -> Params:
        """Sums of squared gradients."""
        return {name: np.zeros_like(value) for name, value in params.items()}

    def step(self, name: str, params: Params, state: Params, grad: RowGrad, rate: float) -> None:
        """Each weight by its own history."""
        total = state[name][grad.rows] + grad.block * grad.block
        state[name][grad.rows] = total
        params[name][grad.rows] -= rate * grad.block / np.sqrt(self.eps + total)

    def pace(self, name: str, state: Params, rows: Any) -> Any:
        """1 / sqrt(eps + sum of g^2)."""
        return 1.0 / np.sqrt(self.eps + state[name][rows])

    @property
    def online(self) -> OnlineKernel | None:
        """Its fused kernel, which divides by sqrt(eps) and so wants some of it."""
        if self.eps < 1e-30:
            return None

        def learn(rows: Any, truth: Any, order: Any, state: Any, loss: Any, flow: Any) -> tuple[float, int]:
            return kernels.learn_adagrad(rows, truth, order, state, loss, (*flow, self.eps))

        def settle(state: Any, flow: tuple[float, float, float]) -> None:
            kernels.settle_adagrad(state, (*flow, self.eps))

        return OnlineKernel(2, learn, settle, ("{}",))


@dataclass(frozen=True)
class Heavy:
    """Momentum (Polyak 1964): v <- decay v + g, w <- w - rate v. All rows change, also those without a gradient."""

    decay: float = 0.9
    eager: ClassVar[bool] = True

    def begin(self, params: Params) -> Params:
        """Velocities."""
        return {name: np.zeros_like(value) for name, value in params.items()}

    def step(self, name: str, params: Params, state: Params, grad: RowGrad, rate: float) -> None:
        """Along the velocity."""
        velocity = state[name]
        velocity *= self.decay
        velocity[grad.rows] += grad.block
        params[name] -= rate * velocity

    def pace(self, name: str, state: Params, rows: Any) -> Any:
        """A constant force moves 1 / (1 - decay) times as far."""
        return 1.0 / (1.0 - self.decay)


@dataclass(frozen=True)
class Moments:
    """Adam (Kingma and Ba 2015), with the penalty decoupled as in AdamW: all rows change at every step."""

    first: float = 0.9
    second: float = 0.999
    eps: float = 1e-8
    eager: ClassVar[bool] = True

    def begin(self, params: Params) -> Params:
        """First and second moments, and the number of steps."""
        state = {f"{name}.m": np.zeros_like(value) for name, value in params.items()}
        state |= {f"{name}.v": np.zeros_like(value) for name, value in params.items()}
        return state | {f"{name}.t": np.zeros(1) for name in params}

    def step(self, name: str, params: Params, state: Params, grad: RowGrad, rate: float) -> None:
        """Along the corrected mean, over the root of the corrected square."""
        m, v, t = state[f"{name}.m"], state[f"{name}.v"], state[f"{name}.t"]
        t += 1
        m *= self.first
        m[grad.rows] += (1 - self.first) * grad.block
        v *= self.second
        v[grad.rows] += (1 - self.second) * grad.block**2
        params[name] -= rate * (m / (1 - self.first ** t[0])) / self._root(v, t[0])

    def pace(self, name: str, state: Params, rows: Any) -> Any:
        """The same scale as the step: 1 / root of the square."""
        return 1.0 / self._root(state[f"{name}.v"][rows], state[f"{name}.t"][0])

    def _root(self, v: Any, t: float) -> Any:
        return np.sqrt(v / (1 - self.second**t)) + self.eps
