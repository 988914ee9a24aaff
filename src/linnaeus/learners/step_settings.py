"""The settings that learners share which take a step for each sentence: the loss, the rule and its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import UsageError, expect
from linnaeus.kernels.online import LOSSES
from linnaeus.learners.early_stopping import check_early_stopping
from linnaeus.protocols import OnlineLoss, OracleLoss, capability, has_method
from linnaeus.types import Array, Floats, Piece

if TYPE_CHECKING:
    from linnaeus.learners.chain.learner import Chain
    from linnaeus.learners.dependencies.learner import Dependencies

STEP_LOSSES = ("perceptron", "hinge", "log", "softmargin")
RULES = ("sgd", "adagrad")


def check_steps(plan: Chain | Dependencies) -> None:
    """Refuse settings that mean nothing; a loss that the kernels know gets its plain name."""
    object.__setattr__(plan, "loss", _named(plan.loss))
    if not has_method(plan.loss, "value_and_grad"):
        one_of("loss", plan.loss, STEP_LOSSES)
    one_of("rule", plan.rule, RULES)
    check_early_stopping(plan.held_out, plan.patience)
    expect("epochs", plan.epochs, int)
    if plan.epochs < 1:
        raise UsageError(f"epochs is a whole number from 1 up, not {plan.epochs}.")
    for name, value in (("rate", plan.rate), ("smoothing", plan.smoothing), ("strength", plan.strength)):
        expect(name, value, float)
        if not (0 <= value < np.inf and (value > 0 or name == "strength")):
            raise UsageError(f"{name} is a {'' if name == 'strength' else 'positive '}number, not {value}.")


def _named(loss: Piece) -> Piece:
    """The plain name of a loss that the kernels know; any other loss as it is."""
    known = capability(loss, OnlineLoss) if capability(loss, OracleLoss) is not None else None
    return loss if known is None else next(name for name in STEP_LOSSES if LOSSES[name] == known.online)


def one_of(name: str, value: object, known: tuple[object, ...]) -> None:
    """Refuse a value that is none of these.

    >>> one_of("rule", "sgd", RULES)
    """
    if value not in known:
        raise UsageError(f"{name} is one of {', '.join(map(str, known))}, not {value!r}.")


def single(values: Array) -> Floats:
    """As float32, the numbers that a model stores."""
    return np.ascontiguousarray(values, np.float32)
