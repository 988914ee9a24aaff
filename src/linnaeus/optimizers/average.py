"""The mean of the iterates over all steps: Polyak-Ruppert averaging; with the perceptron, the averaged perceptron."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Params


class LazyMean:
    """Averaging in O(nonzeros) per step, if only steps change weights: mean = w - (1/t) sum_s (s - 1) (step s)."""

    def __init__(self, params: Params, state: dict[str, Any] | None = None) -> None:
        self.drift = {name: np.zeros_like(value) for name, value in params.items()}
        for name in self.drift:
            if state and f"drift.{name}" in state:
                self.drift[name][:] = state[f"drift.{name}"]

    def moved(self, name: str, rows: Any, move: Doubles, t: int) -> None:
        """Rows of a parameter moved at step t."""
        self.drift[name][rows] += (t - 1) * move

    def stepped(self, params: Params) -> None:
        """Nothing: rows without a change are summed by the formula."""

    def mean(self, params: Params, t: int) -> Params:
        """The mean of the iterates of steps 1 to t."""
        return {name: value - self.drift[name] / max(t, 1) for name, value in params.items()}

    def arrays(self) -> dict[str, Doubles]:
        """The arrays of a checkpoint."""
        return {f"drift.{name}": value for name, value in self.drift.items()}


class FullMean:
    """The sum of all iterates, for penalties and rules that change all weights at every step."""

    def __init__(self, params: Params, state: dict[str, Any] | None = None) -> None:
        self.total = {name: np.zeros_like(value) for name, value in params.items()}
        for name in self.total:
            if state and f"total.{name}" in state:
                self.total[name][:] = state[f"total.{name}"]

    def moved(self, name: str, rows: Any, move: Doubles, t: int) -> None:
        """Nothing: the sum is taken after the step."""

    def stepped(self, params: Params) -> None:
        """Add the iterate."""
        for name, value in params.items():
            self.total[name] += value

    def mean(self, params: Params, t: int) -> Params:
        """The mean of the iterates of steps 1 to t."""
        return {name: value / max(t, 1) for name, value in self.total.items()}

    def arrays(self) -> dict[str, Doubles]:
        """The arrays of a checkpoint."""
        return {f"total.{name}": value for name, value in self.total.items()}
