"""Binary problems over the rows of one matrix, their losses, and the decisions of solvers between epochs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from linnaeus import kernels
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Arrays, Bools, Doubles, Ints, Warm

if TYPE_CHECKING:
    from linnaeus.arrays import CSR
    from linnaeus.optimizers.dual.grouped import Lineup
    from linnaeus.optimizers.dual.separate import Wave

Answered = TypeVar("Answered")

CENTER, BETA, TOTAL, LOW, HIGH, DUAL, ESTIMATE, VIOLATION = range(8)
"""The columns of a wave's facts; see native/dual_problems.hpp."""
FREE_BETA = 0.1
"""How strongly a free bias is tied to its center, in units of the mean squared length of a row."""
MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Binaries:
    """`count` problems  min 1/2 |w|^2 + sum_i C_i phi(y_i (w.x_i + b))  over the rows of one matrix.

    `X` has the rows, and `costs` (n,) has C_i. `sides` returns the positive and the negative rows of some of the
    problems, so that no n x k matrix is needed; a problem ignores rows that are on neither side.
    """

    X: CSR
    costs: Doubles
    count: int
    sides: Callable[[range], list[tuple[Ints, Ints]]]


def cost_sums(costs: Doubles, sides: list[tuple[Ints, Ints]]) -> Doubles:
    """The sum of the costs of all negatives and of all positives of each problem (2, p)."""
    return np.array([(costs[no].sum(), costs[yes].sum()) for yes, no in sides]).reshape(-1, 2).T


PATIENCE = 20
"""The gap is computed at least once in this many epochs."""
STUCK, STILL, FASTER, LOOSEST = 0.7, 0.1, 2.0, 1e6
"""When the biases are tied more loosely: see `Ascent._move_centers`."""
SMOOTH_FLOOR, KINKED_FLOOR = 1e-12, 1e-15
"""A gap below this share of the objective at zero weights counts as zero, because the sums are rounded.

The share is larger for smooth losses, for which Newton's method continues from there.
"""


@dataclass(frozen=True)
class DualSteps:
    """The properties of a loss of binary problems that dual ascent uses.

    `alone` has two kernels for a wave of problems: one runs an epoch, the other computes the gap. `team` has the same
    two kernels for problems side by side, if they exist; `together` has the smallest tolerance for which these are
    faster, by the data type of the values. `at_zero` is the loss at margin 0. `best_bias` computes the optimal bias for
    zero weights from the costs of negatives and positives. A gap below `floor` times the objective at zero weights
    counts as zero. `bounded` tells whether the dual variables have an upper bound that grows with the costs.
    """

    alone: tuple[Callable[..., None], Callable[..., Doubles]]
    at_zero: float
    best_bias: Callable[[Doubles, Doubles], Doubles]
    floor: float
    bounded: bool = True
    team: tuple[Callable[..., None], Callable[..., Doubles]] | None = None
    together: Mapping[str, float] = field(default_factory=dict)


LOSSES = {
    "hinge": DualSteps(
        (kernels.dual_epoch_hinge, kernels.dual_gap_hinge),
        at_zero=1.0,
        best_bias=lambda no, yes: np.sign(yes - no),
        floor=KINKED_FLOOR,
        team=(kernels.team_epoch_hinge, kernels.team_gap_hinge),
        together={"float32": 1e-3},
    ),
    "squared_hinge": DualSteps(
        (kernels.dual_epoch_squared_hinge, kernels.dual_gap_squared_hinge),
        at_zero=1.0,
        best_bias=lambda no, yes: (yes - no) / np.maximum(yes + no, 1e-300),
        floor=SMOOTH_FLOOR,
        bounded=False,
        team=(kernels.team_epoch_squared_hinge, kernels.team_gap_squared_hinge),
        together={"float32": 1e-5, "float64": 1e-4},
    ),
    "logistic": DualSteps(
        (kernels.dual_epoch_logistic, kernels.dual_gap_logistic),
        at_zero=math.log(2.0),
        best_bias=lambda no, yes: np.clip(np.log(np.maximum(yes, 1e-300) / np.maximum(no, 1e-300)), -30.0, 30.0),
        floor=SMOOTH_FLOOR,
    ),
}
"""The losses by the name in their attribute `dual`."""


@dataclass(frozen=True)
class Settings:
    """The name of a loss in `LOSSES`, the kind of bias, and the stopping criteria.

    `tol` is the largest duality gap relative to the objective, `epochs` the largest number of epochs of each problem.
    """

    loss: str = "hinge"
    bias: Literal["free", "regularized", "none"] = "free"
    tol: float = 1e-4
    epochs: int = 1000
    seed: int = 0


@dataclass(frozen=True)
class Progress:
    """The report after each epoch: primal and dual value of each problem (k,), as last measured.

    `fresh` is True if the values are those of the present weights. Problems that have not been started count as zero,
    and `fresh` is False until the last has been started. `weights` (d, k), `bias` and `state` are computed on request.
    The weights may be a view of arrays that change later.
    """

    epoch: int
    primal: Doubles
    dual: Doubles
    fresh: bool
    weights: Callable[[], Doubles]
    bias: Callable[[], Doubles]
    state: Callable[[], Arrays]


class Ascent(ABC):
    """Epochs over binary problems and the decisions between them, for any layout of the problems.

    The first axis of the facts is their name: (8, ...) with one number for each problem. `bounds` (2, ...) are the
    primal and dual values as last measured, `before` (2, ...) the estimate of the gap and the sum of y alpha one epoch
    ago. `steps` are two kernels: one runs an epoch, the other computes the primal value, the dual value, and the dual
    value for a free bias.
    """

    arrays: Wave | Lineup
    """The arrays that the kernels change."""
    bounds: Doubles
    before: Doubles
    at_zero: Doubles
    ones: Doubles
    """The factors of the costs of negatives and positives that the kernels take: all one."""
    lanes: tuple[int, ...] = ()
    """The number of problems in a team; empty for single problems."""

    def __init__(
        self,
        problems: Binaries,
        settings: Settings,
        steps: tuple[Callable[..., None], Callable[..., Doubles]] | None,
    ) -> None:
        assert steps is not None
        self.problems, self.settings, self.loss, self.steps = problems, settings, LOSSES[settings.loss], steps
        self.squares = problems.X.squares()
        self.tie = FREE_BETA * (float(self.squares.mean() or 1.0) if len(self.squares) else 1.0)
        self.here, self.fresh = 0, False

    @property
    def facts(self) -> Doubles:
        """The facts of the current problems, as a view."""
        return self._named(self.arrays.facts, VIOLATION + 1)

    def _named(self, values: Doubles, names: int) -> Doubles:
        """Numbers of problems or teams as a view whose first axis is their name."""
        return np.moveaxis(values.reshape(-1, names, *self.lanes), 1, 0)

    @property
    def bias(self) -> Doubles:
        """The biases of the current problems."""
        return self.facts[CENTER] + self.facts[BETA] * self.facts[TOTAL]

    @property
    @abstractmethod
    def finished(self) -> Array:
        """Whether each of the current problems is solved, as a view."""

    @property
    def bounds_here(self) -> Doubles:
        """The bounds of the current problems, as a view."""
        return self.bounds

    @property
    def last(self) -> bool:
        """Whether all problems have been started."""
        return True

    def _ask(self, step: Callable[..., Answered]) -> Answered:
        box = self.squares, self.problems.costs, self.ones
        return step(self.problems.X.arrays, box, tuple(self.arrays), kernels.thread_count())

    def warm_up(self, warm: Warm) -> None:
        """Start from the dual variables of the same problems with smaller costs, if all of them were kept.

        Dual variables at a bound grow with the costs, and so do the sums of y alpha. Free biases stay the same.
        """
        saved, factor = warm.state, warm.ratio if self.loss.bounded else 1.0
        if not self.last or saved["alpha"].shape != self.arrays.alpha.shape:
            return
        np.multiply(saved["alpha"], factor, out=self.arrays.alpha)
        np.multiply(saved["weights"].reshape(self.arrays.weights.shape), factor, out=self.arrays.weights)
        facts, before = self.facts, self._named(saved["facts"], VIOLATION + 1)
        facts[TOTAL] = factor * before[TOTAL]
        if self.settings.bias == "free":
            facts[CENTER] = before[CENTER] + before[BETA] * before[TOTAL]
            facts[CENTER] -= facts[BETA] * facts[TOTAL]

    def state(self) -> Arrays:
        """Copies of all arrays and numbers that are needed to continue later."""
        mine = {"bounds": self.bounds, "before": self.before, "at_zero": self.at_zero, "here": np.array(self.here)}
        return {name: value.copy() for name, value in (self.arrays._asdict() | mine).items()}

    def restore(self, saved: Mapping[str, Array]) -> None:
        """Continue from a state."""
        self.bounds, self.before, self.at_zero = (saved[name].copy() for name in ("bounds", "before", "at_zero"))
        self.here = int(saved["here"])

    @property
    def told(self) -> int:
        """The number of epochs to report."""
        return self.here

    def all_bounds(self) -> Doubles:
        """Primal and dual values of all problems (2, k), as a copy."""
        return self.bounds.copy()

    @abstractmethod
    def matrix(self) -> Doubles:
        """The weights of all problems (d, k)."""

    @abstractmethod
    def biases(self) -> Doubles:
        """The biases of all problems (k,)."""

    def run(self, tell: Callable[[Progress], object]) -> None:
        """Run epochs until the current problems are finished; `tell` is called after each and may raise to stop."""
        while self.unfinished:
            self.epoch()
            primal, dual = self.all_bounds()
            tell(Progress(self.told, primal, dual, self.fresh, self.matrix, self.biases, self.state))

    @abstractmethod
    def worth_measuring(self, near: Bools, due: bool) -> Bools:
        """The problems or teams to measure, given which look solved, and whether a measurement is due for all."""

    def place_biases(self, no: Doubles, yes: Doubles) -> None:
        """Set the biases to the optimum for zero weights; problems that are solved by that are finished.

        `no` and `yes` are the sums of the costs of negatives and positives.
        """
        self.at_zero = self.loss.at_zero * (no + yes)
        self.bounds_here[:] = np.stack([self.at_zero, np.zeros_like(no)])
        self.before = np.stack([np.full_like(no, np.inf), np.zeros_like(no)])
        self.finished[no + yes == 0] = 1
        if self.settings.bias == "free":
            self.facts[BETA] = self.tie
            self.facts[CENTER] = self.loss.best_bias(no, yes)
            lonely = (no == 0) | (yes == 0)  # all rows are on one side, and the bias classifies them correctly
            self.bounds_here[0][lonely] = 0.0
            self.finished[lonely] = 1
        elif self.settings.bias == "regularized":
            self.facts[BETA] = 1.0

    @property
    def unfinished(self) -> bool:
        """Whether there are more epochs to run."""
        return self.here < self.settings.epochs and not self.finished.all()

    def epoch(self) -> None:
        """Move free biases, run one epoch of the current problems, and measure those that look solved."""
        if self.settings.bias == "free" and self.here:
            self._move_centers()
        self._ask(self.steps[0])
        self.here += 1
        due = self.here % PATIENCE == 0 or self.here >= self.settings.epochs
        self._measure(self.worth_measuring(self._look_solved(), due))
        self.before[0] = self.facts[ESTIMATE]

    def _move_centers(self) -> None:
        """The method of multipliers: move the center of each free bias to the bias.

        If the sum of y alpha keeps its sign and most of its size, and nothing else changes much, the bias is tied more
        loosely.
        """
        center, beta, total, estimate = (self.facts[name] for name in (CENTER, BETA, TOTAL, ESTIMATE))
        going, before = self.finished == 0, self.before[1]
        slow = going & (total * before > 0)
        slow &= np.abs(total) > STUCK * np.abs(before)
        slow &= estimate < STILL * beta * total**2
        center[going] += (beta * total)[going]
        beta[slow] = np.minimum(beta[slow] * FASTER, LOOSEST * self.tie)
        self.before[1] = total

    def _look_solved(self) -> Bools:
        """Whether the estimated gap will be below the tolerance if it falls as in the last epoch."""
        estimate, before = self.facts[ESTIMATE], self.before[0]
        known = np.where(np.isfinite(before), before, estimate)
        falling = np.minimum(estimate / np.maximum(known, 1e-300), 1.0)
        return estimate * falling <= self.settings.tol * np.abs(self.facts[DUAL])

    def _measure(self, which: Bools) -> None:
        """Compute the primal and dual values of these problems; the kernel skips the others as finished."""
        finished = self.finished.copy()
        going = finished == 0
        new = going & which.reshape(which.shape + (1,) * (going.ndim - which.ndim))
        self.fresh = self.last and bool((new | ~going).all())
        if not which.any():
            return
        self.finished[~which] = 1
        primal, *duals = self._named(self._ask(self.steps[1]), 3)
        self.finished[:] = finished
        dual = duals[self.settings.bias == "free"]
        if self.settings.bias == "regularized":
            square = 0.5 * self.facts[BETA] * self.facts[TOTAL] ** 2  # of the bias
            primal, dual = primal + square, dual - square
        self.bounds_here[0][new], self.bounds_here[1][new] = primal[new], dual[new]
        small = np.maximum(self.settings.tol * primal, self.loss.floor * self.at_zero)
        self.finished[new & (primal - dual <= small)] = 1
