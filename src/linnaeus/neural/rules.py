"""Steps of stochastic optimizers on tensors: new weights from gradients, and from what the rule remembers.

`w` and each tensor of `memory` change in place. `settings.decay` pulls weights towards zero beside the gradient
(Loshchilov and Hutter, "Decoupled weight decay regularization", 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Pace(NamedTuple):
    """The rate of this step, the number of the step from 1, and the momentum of gradient descent."""

    rate: float
    step: int
    momentum: float


def adam(w: Any, g: Any, memory: Mapping[str, Any], pace: Pace) -> None:
    """Adam (Kingma and Ba 2015)."""
    m, v = memory["mean"], memory["square"]
    m.mul_(BETA1).add_(g, alpha=1 - BETA1)
    v.mul_(BETA2).addcmul_(g, g, value=1 - BETA2)
    size = (v / (1 - BETA2**pace.step)).sqrt_().add_(EPSILON)
    w.addcdiv_(m, size, value=-pace.rate / (1 - BETA1**pace.step))


def adagrad(w: Any, g: Any, memory: Mapping[str, Any], pace: Pace) -> None:
    """AdaGrad (Duchi, Hazan and Singer 2011)."""
    total = memory["square"]
    total.addcmul_(g, g)
    w.addcdiv_(g, total.sqrt().add_(EPSILON), value=-pace.rate)


def sgd(w: Any, g: Any, memory: Mapping[str, Any], pace: Pace) -> None:
    """Gradient descent with momentum."""
    velocity = memory["velocity"]
    velocity.mul_(pace.momentum).add_(g)
    w.add_(velocity, alpha=-pace.rate)


class Rule(NamedTuple):
    """A step, and the names of the tensors that it remembers."""

    step: Callable[[Any, Any, Mapping[str, Any], Pace], None]
    memory: tuple[str, ...]


RULES = {
    "adam": Rule(adam, ("mean", "square")),
    "adagrad": Rule(adagrad, ("square",)),
    "sgd": Rule(sgd, ("velocity",)),
}
"""Every rule by name."""
