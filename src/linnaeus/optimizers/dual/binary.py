"""Binary problems over the rows of one matrix, their losses, and what solvers decide between epochs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from linnaeus import kernels
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.arrays import CSR
    from linnaeus.optimizers.dual.grouped import Lineup
    from linnaeus.optimizers.dual.separate import Wave
    from linnaeus.types import Array, Arrays, Doubles, Ints, Warm

Answered = TypeVar("Answered")

CENTER, BETA, TOTAL, LOW, HIGH, DUAL, ESTIMATE, VIOLATION = range(8)
"""The columns of a wave's facts; see native/dual_problems.hpp."""
FREE_BETA = 0.1
"""How strongly an unregularized bias is tied to its center, in squared lengths of a row."""
MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Binaries:
    """`count` problems  min 1/2 |w|^2 + sum_i C_i factor phi(y_i (w.x_i + b))  over the rows of one matrix.

    `X` has the rows, `costs` C_i (n,). `sides` gives the positive and the negative rows of some of the problems, so
    that no n x k matrix is ever made; rows on neither side take no part. `factors` (count, 2) multiply the costs of
    negatives and positives.
    """

    X: CSR
    costs: Doubles
    count: int
    sides: Callable[[range], list[tuple[Ints, Ints]]]
    factors: Doubles


PATIENCE = 20
"""A gap is computed at least every so many epochs."""
STUCK, STILL, FASTER, LOOSEST = 0.7, 0.1, 2.0, 1e6
"""When sum y alpha keeps its sign and this part of its size while all else stands still, the bias is let go faster."""
SMOOTH_FLOOR, KINKED_FLOOR = 1e-12, 1e-15
"""A gap of this part of the objective at zero weights is no gap for dual ascent: sums of that size are rounded.

From there Newton's method goes on where the loss is smooth; no other does for a loss with a kink.
"""


def move_centers(facts: Doubles, going: NDArray[np.bool_], before: Doubles, loosest: float) -> None:
    """The method of multipliers: the center of a free bias goes to where the bias is.

    Where the sum of y alpha, `before` an epoch ago, has hardly come down, the bias is tied more loosely.
    """
    center, beta, total = facts[CENTER], facts[BETA], facts[TOTAL]
    slow = going & (total * before > 0)
    slow &= np.abs(total) > STUCK * np.abs(before)
    slow &= facts[ESTIMATE] < STILL * beta * total**2
    center[going] += (beta * total)[going]
    beta[slow] = np.minimum(beta[slow] * FASTER, loosest)


def looks_solved(facts: Doubles, before: Doubles, tol: float) -> NDArray[np.bool_]:
    """Whose estimate of the gap, falling as fast as in the last epoch, is now below the tolerance."""
    known = np.where(np.isfinite(before), before, facts[ESTIMATE])
    falling = np.minimum(facts[ESTIMATE] / np.maximum(known, 1e-300), 1.0)
    near: NDArray[np.bool_] = facts[ESTIMATE] * falling <= tol * np.abs(facts[DUAL])
    return near


def with_bias(primal: Doubles, dual: Doubles, facts: Doubles) -> tuple[Doubles, Doubles]:
    """Primal and dual values with the square of a regularized bias."""
    square = 0.5 * facts[BETA] * facts[TOTAL] ** 2
    return primal + square, dual - square


def is_solved(primal: Doubles, dual: Doubles, tol: float, floor: Doubles) -> NDArray[np.bool_]:
    """Whether the gap is within the tolerance, or so small that rounding hides it."""
    return primal - dual <= np.maximum(tol * primal, floor)


@dataclass(frozen=True)
class DualSteps:
    """What dual ascent knows of a loss of binary problems.

    `alone` are the kernels of an epoch and of the gap for a wave of problems, `team` those for problems side by side,
    where there are some; `together` has the tolerances from which that is faster, by the type of the values.
    `at_zero` is the loss at margin 0, `best_bias` the bias without weights, from the costs of negatives and positives.
    `floor` is the part of the objective at zero weights that is no gap, because sums of that size are rounded: from
    there Newton's method goes on where the loss is smooth. `bounded` says whether duals have a bound that grows with
    the costs.
    """

    alone: tuple[Callable[..., None], Callable[..., Doubles]]
    at_zero: float
    best_bias: Callable[[Doubles, Doubles], Doubles]
    floor: float
    bounded: bool = True
    team: tuple[Callable[..., None], Callable[..., Doubles]] | None = None
    together: Mapping[str, float] = field(default_factory=dict)

    def growth(self, larger: float) -> float:
        """The factor of the duals when costs are so many times larger: those at a bound grow with it."""
        return larger if self.bounded else 1.0


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
"""By the name that a loss gives its `dual`."""


@dataclass(frozen=True)
class Settings:
    """How to solve: a loss of `LOSSES`, the kind of bias, and when a problem is solved.

    `tol` is the duality gap relative to the objective, `epochs` how many each problem gets at most.
    """

    loss: str = "hinge"
    bias: Literal["free", "regularized", "none"] = "free"
    tol: float = 1e-4
    epochs: int = 1000
    seed: int = 0


@dataclass(frozen=True)
class Progress:
    """Told after each epoch: primal and dual value of each problem (k,), as last certified; exact where `fresh`.

    A problem whose turn has not come counts nothing, and nothing is exact before the last has come. `weights` (k, d),
    `bias` and `state` are made when asked for; the weights are those being worked on, not a copy.
    """

    epoch: int
    primal: Doubles
    dual: Doubles
    fresh: bool
    weights: Callable[[], Doubles]
    bias: Callable[[], Doubles]
    state: Callable[[], Arrays]


class Ascent(ABC):
    """Epochs over binary problems, and what is decided between them, whichever way the problems are laid out.

    Facts come with their names first: (8, ...), one number of each problem behind each name. `bounds` (2, ...) are the
    primal and dual values as last certified, `before` (2, ...) the estimate and the sum of y alpha an epoch ago. The
    kernels `steps` are one of an epoch, and one of primal value, dual value, and dual value with a free bias.
    """

    arrays: Wave | Lineup
    """What changes, as the kernels take it."""
    bounds: Doubles
    before: Doubles
    at_zero: Doubles
    lanes: tuple[int, ...] = ()
    """How many problems a number of the facts has behind it, where these are more than one."""

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
        """The facts of the problems that are worked on, a view."""
        return self._named(self.arrays.facts, VIOLATION + 1)

    def _named(self, values: Doubles, names: int) -> Doubles:
        """Numbers by problem or team, so many of each, with their names first: a view."""
        return np.moveaxis(values.reshape(-1, names, *self.lanes), 1, 0)

    @property
    def bias(self) -> Doubles:
        """The biases of the problems that are worked on."""
        facts = self.facts
        bias: Doubles = facts[CENTER] + facts[BETA] * facts[TOTAL]
        return bias

    @property
    @abstractmethod
    def finished(self) -> Array:
        """Whether each of them is solved, a view."""

    @property
    @abstractmethod
    def box(self) -> tuple[Doubles, Doubles, Doubles]:
        """What the kernels call the box: squared lengths and costs of the rows, factors of the problems."""

    @property
    def bounds_here(self) -> Doubles:
        """Their part of the bounds, a view."""
        return self.bounds

    @property
    def last(self) -> bool:
        """Whether no problem is still to come."""
        return True

    def _ask(self, step: Callable[..., Answered]) -> Answered:
        return step(self.problems.X.arrays, self.box, tuple(self.arrays), kernels.thread_count())

    def warm_up(self, warm: Warm) -> None:
        """Begin with the duals of smaller costs, where all of them were kept.

        Sums of y alpha grow with the duals, and free biases stay where they were.
        """
        saved, factor = warm.state, self.loss.growth(warm.ratio)
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
        """Copies of all arrays, and the numbers beside them: everything that has to be kept to go on later."""
        mine = {"bounds": self.bounds, "before": self.before, "at_zero": self.at_zero, "here": np.array(self.here)}
        return {name: value.copy() for name, value in (self.arrays._asdict() | mine).items()}

    def restore(self, saved: Mapping[str, Array]) -> None:
        """Go on from a state."""
        self.bounds, self.before, self.at_zero = (saved[name].copy() for name in ("bounds", "before", "at_zero"))
        self.here = int(saved["here"])

    @property
    def told(self) -> int:
        """The number of epochs, as it is told."""
        return self.here

    def collect(self, values: Doubles) -> Doubles:
        """Numbers of all problems (k,), a copy."""
        return values.copy()

    @abstractmethod
    def matrix(self) -> Doubles:
        """The weights of all problems (d, k)."""

    @abstractmethod
    def biases(self) -> Doubles:
        """The biases of all problems (k,)."""

    def progress(self) -> Progress:
        """What is told after an epoch."""
        primal, dual = (self.collect(bound) for bound in self.bounds)
        return Progress(self.told, primal, dual, self.fresh, lambda: self.matrix().T, self.biases, self.state)

    @abstractmethod
    def worth_measuring(self, near: NDArray[np.bool_], due: bool) -> NDArray[np.bool_]:
        """Which to measure, given which look solved and whether all are due."""

    def place_biases(self, no: Doubles, yes: Doubles) -> None:
        """Put biases where they would be best without weights; what is solved by that is finished."""
        self.at_zero = self.loss.at_zero * (no + yes)
        self.bounds_here[:] = np.stack([self.at_zero, np.zeros_like(no)])
        self.before = np.stack([np.full_like(no, np.inf), np.zeros_like(no)])
        self.finished[no + yes == 0] = 1
        if self.settings.bias == "free":
            self.facts[BETA] = self.tie
            self.facts[CENTER] = self.loss.best_bias(no, yes)
            lonely = (no == 0) | (yes == 0)  # the bias alone is right about every row
            self.bounds_here[0][lonely] = 0.0
            self.finished[lonely] = 1
        elif self.settings.bias == "regularized":
            self.facts[BETA] = 1.0

    @property
    def unfinished(self) -> bool:
        """Whether there is an epoch to come."""
        return self.here < self.settings.epochs and not self.finished.all()

    def epoch(self) -> None:
        """The free biases move, then one epoch for the problems; those that look solved are measured."""
        if self.settings.bias == "free" and self.here:
            move_centers(self.facts, self.finished == 0, self.before[1], LOOSEST * self.tie)
            self.before[1] = self.facts[TOTAL]
        self._ask(self.steps[0])
        self.here += 1
        near = looks_solved(self.facts, self.before[0], self.settings.tol)
        due = self.here % PATIENCE == 0 or self.here >= self.settings.epochs
        self._certify(self.worth_measuring(near, due))
        self.before[0] = self.facts[ESTIMATE]

    def _certify(self, which: NDArray[np.bool_]) -> None:
        """Primal and dual values of these; the others are passed over by the kernel as if finished."""
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
            primal, dual = with_bias(primal, dual, self.facts)
        self.bounds_here[0][new], self.bounds_here[1][new] = primal[new], dual[new]
        self.finished[new & is_solved(primal, dual, self.settings.tol, self.loss.floor * self.at_zero)] = 1
