"""Delayed application of the regularizer to rows without a gradient.

After each step every weight moves along the penalty's flow for time rate/n. Flows compose, so a row without gradients
is updated in one step when it is next needed: `clock` is the total time, `seen` the time already applied to each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from linnaeus.protocols import Objective, Rule
    from linnaeus.types import Params


class Catcher:
    """Applies delayed penalties to rows of the penalized parameters."""

    def __init__(self, objective: Objective, rule: Rule, params: Params, state: Params) -> None:
        self.regularizer, self.rule, self.params, self.state = objective.regularizer, rule, params, state
        self.idle = getattr(rule, "own_penalty", False) or not _penalizes(objective.regularizer)
        self.names = () if self.idle else tuple(objective.penalized)
        self.clock = 0.0
        self.seen = {name: np.zeros(len(params[name])) for name in self.names}

    def advance(self, time: float) -> None:
        """Add the time of one step."""
        self.clock += time

    def catch_up(self, name: str, rows: Any) -> None:
        """Apply the delayed penalty to these rows."""
        if name not in self.names:
            return
        owed = self.clock - self.seen[name][rows]
        if np.any(owed):
            W = self.params[name]
            owed = owed.reshape(-1, *[1] * (W.ndim - 1)) * self.rule.pace(name, self.state, rows)
            W[rows] = self.regularizer.flow(W[rows], owed)
        self.seen[name][rows] = self.clock

    def settle(self) -> None:
        """Apply the delayed penalty to all rows, and reset the clock."""
        for name in self.names:
            self.catch_up(name, slice(None))
            self.seen[name][:] = 0.0
        self.clock = 0.0


def _penalizes(regularizer: Any) -> bool:
    """Whether the penalty changes weights."""
    return bool(regularizer.value(np.ones((1, 1))) != 0)
