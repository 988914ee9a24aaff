"""What is trained and how: the job and the settings that `neural.training` takes, the log loss, and schedules."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.types import Array, Arrays, Doubles, Floats, Longs, State

WARM = 0.1
"""The share of a training in which the schedules "linear" and "cosine" raise the rate."""


class Targets(NamedTuple):
    """The truth for the log loss in PyTorch: whether classes are scored together, indicators (n, w), weights (n,)."""

    joint: bool
    truth: Floats
    weights: Floats


class Keeps(Protocol):
    """The place of a checkpoint."""

    def get(self) -> State | None:
        """What is kept; None where nothing is."""

    def put(self, state: State) -> None:
        """Keep a state in place of the one before."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is trained, on what.

    `forward(ops, params, batch)` gives scores; `batch(rows)` the inputs of some examples; `loss(S, rows)` the loss
    of these examples, weighted and summed, and its gradient in the scores; `targets(rows)` the same as `Targets`, where
    the loss is one that PyTorch computes; `judge(S, rows)` how good scores are, more is better. `weights` are those at
    the start. `tables` are weights with a row for each number in an input: their names, and the name of the input.
    `fixed` are weights that stay. `sizes` are lengths of examples, `learned` the examples to learn from, `aside` those
    that tell when to stop, and `mean_weight` is the mean weight of an example. `joined` makes the scores of several
    batches one, where they are not just rows of examples one after the other.
    """

    forward: Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]
    batch: Callable[[Longs], Arrays]
    loss: Callable[[Doubles, Longs], tuple[float, Doubles]]
    judge: Callable[[Doubles, Longs], float]
    weights: Mapping[str, Array]
    sizes: Longs
    learned: Longs
    aside: Longs
    targets: Callable[[Longs], Targets] | None = None
    tables: Mapping[str, str]
    fixed: tuple[str, ...] = ()
    mean_weight: float = 1.0
    joined: Callable[[list[Doubles]], Doubles] = np.concatenate


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How it is trained; the fields are those of the learners in `learners.networks`."""

    optimizer: str = "adam"
    rate: float = 1e-3
    momentum: float = 0.9
    schedule: str = "constant"
    decay: float = 0.0
    dropout: float = 0.5
    clip: float | None = 5.0
    epochs: int = 25
    batch: int = 50
    patience: int = 5
    device: str = "auto"
    precision: str = "float32"
    seed: int = 0


class Told(NamedTuple):
    """Progress after an epoch: its number, the mean loss, and how good the scores of held-out examples are."""

    epoch: int
    loss: float
    score: float | None


class Trained(NamedTuple):
    """The weights, and facts of the training."""

    weights: dict[str, Floats]
    facts: dict[str, Any]


def scheduled(schedule: str, share: float) -> float:
    """The factor of the rate when this share of the steps is done.

    >>> [round(scheduled("linear", share), 2) for share in (0.0, 0.05, 0.1, 0.55, 1.0)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    if schedule == "constant":
        return 1.0
    if share < WARM:
        return share / WARM
    left = (1.0 - share) / (1.0 - WARM)
    return left if schedule == "linear" else 0.5 * (1.0 - math.cos(math.pi * left))


def log_loss(torch: Any, S: Any, targets: Targets) -> tuple[Any, Any]:
    """The log loss, weighted and summed, and its gradient in the scores."""
    joint, truth, weights = targets
    gold = (S * truth).sum(dim=1)
    if joint:
        values, parts = torch.logsumexp(S, dim=1) - gold, torch.softmax(S, dim=1) - truth
    else:
        values, parts = torch.nn.functional.softplus(S).sum(dim=1) - gold, torch.sigmoid(S) - truth
    return (values * weights).sum(), parts * weights[:, None]
