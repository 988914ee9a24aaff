"""Solves binary problems in waves of a fixed size, so that the memory for dual variables stays bounded."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from linnaeus import kernels
from linnaeus.frozen import dataclass
from linnaeus.optimizers.dual.between import (
    FLOORS,
    LOOSEST,
    PATIENCE,
    growth,
    is_solved,
    looks_solved,
    move_centers,
    warm_facts,
    with_bias,
)
from linnaeus.optimizers.dual.problems import (
    BETA,
    CENTER,
    ESTIMATE,
    FREE_BETA,
    TOTAL,
    Binaries,
    Wave,
    cost_sums,
    lay_out,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles

WAVE = 32
"""Problems that are solved side by side; not a function of the threads."""

LOSSES: dict[str, tuple[Callable[..., None], Callable[..., Any], float, Callable[[Doubles, Doubles], Doubles]]] = {
    "hinge": (kernels.dual_epoch_hinge, kernels.dual_gap_hinge, 1.0, lambda no, yes: np.sign(yes - no)),
    "squared_hinge": (
        kernels.dual_epoch_squared_hinge,
        kernels.dual_gap_squared_hinge,
        1.0,
        lambda no, yes: (yes - no) / np.maximum(yes + no, 1e-300),
    ),
    "logistic": (
        kernels.dual_epoch_logistic,
        kernels.dual_gap_logistic,
        math.log(2.0),
        lambda no, yes: np.clip(np.log(np.maximum(yes, 1e-300) / np.maximum(no, 1e-300)), -30.0, 30.0),
    ),
}
"""By name: a kernel for an epoch, one for the gap, the loss at margin 0, and the best bias when all weights are 0."""


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
    state: Callable[[], dict[str, NDArray[Any]]]


def solve_binaries(
    problems: Binaries,
    settings: Settings,
    tell: Callable[[Progress], object] = lambda _: None,
    saved: Mapping[str, NDArray[Any]] | None = None,
    warm: tuple[Mapping[str, NDArray[Any]], float] | None = None,
) -> tuple[Doubles, Doubles]:
    """Weights W (d, k) and biases b (k,) of all problems, each solved to `tol` or for `epochs`.

    `saved` is what `Progress.state` gave: the work goes on from there, to the same bits. `warm` is what it gave when
    all costs were so many times smaller: the work begins with its duals. `tell` may raise to end it.

    >>> rows = np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([1.0, -1.0])
    >>> sides = lambda which: [(np.array([0]), np.array([1])) for _ in which]
    >>> problems = Binaries(rows, 1, np.ones(2), 1, sides, np.ones((1, 2)))
    >>> W, b = solve_binaries(problems, Settings("hinge", tol=1e-9))
    >>> W.round(3).tolist(), (b.round(3) + 0.0).tolist()
    ([[1.0]], [0.0])
    """
    work = Work(problems, settings, saved)
    if warm is not None and not saved:
        work.warm_up(*warm)
    while work.which:
        while work.unfinished:
            work.epoch()
            tell(work.progress())
        work.next_wave()
    return work.weights.T, work.biases()


class Work:
    """The state of a solution: everything that has to be kept to go on later."""

    def __init__(self, problems: Binaries, settings: Settings, saved: Mapping[str, NDArray[Any]] | None) -> None:
        self.problems, self.settings = problems, settings
        self.run, self.measure, at_zero, self.center = LOSSES[settings.loss]
        self.box = problems.squares(), problems.costs
        k, d = problems.count, problems.width
        if saved:
            self._restore(saved)
            return
        self.weights, self.bias = np.zeros((k, d)), np.zeros(k)
        self.bounds = np.zeros((2, k))  # primal and dual value, as last certified
        self.scale = at_zero
        self.epochs = self.here = 0
        self._begin(range(min(WAVE, k)))

    def _begin(self, which: range) -> None:
        """Lay a wave out, and put its biases where they would be best without weights."""
        self.which, self.here, self.fresh = which, 0, False
        if not which:
            return
        self.wave = lay_out(self.problems, which, self.weights[which.start : which.stop], self.settings.seed)
        self.before = np.array([[np.inf], [0.0]]).repeat(len(which), axis=1)  # estimate, sum of y alpha: one epoch ago
        no, yes = cost_sums(self.problems, self.wave, which).T
        self.at_zero = self.scale * (no + yes)
        self.bounds[:, which.start : which.stop] = np.stack([self.at_zero, np.zeros(len(which))])
        self.wave.finished[:] = no + yes == 0
        if self.settings.bias == "free":
            self.wave.table[:, BETA] = FREE_BETA * self._mean_square()
            self.wave.table[:, CENTER] = self.center(no, yes)
            lonely = (no == 0) | (yes == 0)  # the bias alone is right about every row
            self.bounds[0, which.start : which.stop][lonely] = 0.0
            self.wave.finished[lonely] = 1
        elif self.settings.bias == "regularized":
            self.wave.table[:, BETA] = 1.0

    def warm_up(self, saved: Mapping[str, NDArray[Any]], larger: float) -> None:
        """Begin with the duals of smaller costs, where all of them were kept: one wave."""
        if self.problems.count > WAVE or saved["alpha"].shape != self.wave.alpha.shape:
            return
        factor = growth(self.settings.loss, larger)
        np.multiply(saved["alpha"], factor, out=self.wave.alpha)
        np.multiply(saved["all_weights"], factor, out=self.weights)
        before = saved["facts"].reshape(self.wave.table.shape)
        warm_facts(self.wave.table.T, before.T, factor, self.settings.bias)

    def _mean_square(self) -> float:
        return float(self.box[0].mean() or 1.0) if len(self.box[0]) else 1.0

    @property
    def unfinished(self) -> bool:
        """Whether this wave has an epoch to come."""
        return self.here < self.settings.epochs and not self.wave.finished.all()

    @property
    def arrays(self) -> tuple[Doubles, Doubles, Doubles]:
        """What the kernels call the box."""
        return (*self.box, self.problems.factors[self.which.start : self.which.stop].reshape(-1))

    def epoch(self) -> None:
        """The free biases move, then one epoch for the problems of the wave; those that look solved are measured."""
        if self.settings.bias == "free" and self.here:
            loosest = LOOSEST * FREE_BETA * self._mean_square()
            move_centers(self.wave.table.T, self.wave.finished == 0, self.before[1], loosest)
            self.before[1] = self.wave.table[:, TOTAL]
        self.run(self.problems.rows, self.arrays, tuple(self.wave), kernels.thread_count())
        self.here += 1
        self.epochs += 1
        self._certify(self._worth_measuring())
        self.before[0] = self.wave.table[:, ESTIMATE]

    def _worth_measuring(self) -> NDArray[np.bool_]:
        """Those that look solved, and from time to time all."""
        near = looks_solved(self.wave.table.T, self.before[0], self.settings.tol)
        due = self.here % PATIENCE == 0 or self.here >= self.settings.epochs
        worth: NDArray[np.bool_] = (near | due) & (self.wave.finished == 0)
        return worth

    def _certify(self, which: NDArray[np.bool_]) -> None:
        """Primal and dual values of these problems; the others are passed over by the kernel as if finished."""
        last = self.which.stop == self.problems.count  # before, nothing is known of the problems to come
        self.fresh = last and bool((which | (self.wave.finished != 0)).all())
        if not which.any():
            return
        finished = self.wave.finished.copy()
        self.wave.finished[:] = ~which
        values = self.measure(self.problems.rows, self.arrays, tuple(self.wave), kernels.thread_count()).reshape(-1, 3)
        self.wave.finished[:] = finished
        primal, dual = values[:, 0], values[:, 2 if self.settings.bias == "free" else 1]
        if self.settings.bias == "regularized":
            primal, dual = with_bias(primal, dual, self.wave.table.T)
        self.bounds[0, self.which.start : self.which.stop][which] = primal[which]
        self.bounds[1, self.which.start : self.which.stop][which] = dual[which]
        floor = FLOORS[self.settings.loss] * self.at_zero
        self.wave.finished[which & is_solved(primal, dual, self.settings.tol, floor)] = 1

    def next_wave(self) -> None:
        """Keep the biases of this wave, and lay out the next."""
        self.bias[self.which.start : self.which.stop] = self.wave.bias
        stop = self.which.stop
        self._begin(range(stop, min(stop + WAVE, self.problems.count)))

    def biases(self) -> Doubles:
        """The biases of all problems (k,), those of the wave as they are now."""
        bias = self.bias.copy()
        if self.which:
            bias[self.which.start : self.which.stop] = self.wave.bias
        return bias

    def progress(self) -> Progress:
        """What is told after an epoch."""
        primal, dual = self.bounds.copy()
        epoch = -(-self.epochs // max(1, -(-self.problems.count // WAVE)))
        return Progress(epoch, primal, dual, self.fresh, lambda: self.weights, self.biases, self.state)

    def state(self) -> dict[str, NDArray[Any]]:
        """Copies of all arrays, and the numbers beside them."""
        named = {name: value.copy() for name, value in self.wave._asdict().items() if name != "weights"}
        numbers = np.array([self.epochs, self.here, self.which.start, self.which.stop], np.int64)
        mine = {"all_weights": self.weights, "all_bias": self.bias, "bounds": self.bounds, "before": self.before}
        mine |= {"at_zero": self.at_zero, "scale": np.array(self.scale)}
        return named | {name: value.copy() for name, value in mine.items()} | {"numbers": numbers}

    def _restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        self.weights, self.bias = saved["all_weights"].copy(), saved["all_bias"].copy()
        self.bounds, self.before = saved["bounds"].copy(), saved["before"].copy()
        self.at_zero, self.scale, self.fresh = saved["at_zero"].copy(), float(saved["scale"]), False
        self.epochs, self.here, start, stop = (int(value) for value in saved["numbers"])
        self.which = range(start, stop)
        arrays = {name: saved[name].copy() for name in Wave._fields if name != "weights"}
        self.wave = Wave(weights=self.weights[start:stop].reshape(-1), **arrays)
