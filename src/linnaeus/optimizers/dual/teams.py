"""Solves binary problems that have all rows in common side by side, in teams: a row is read once for a whole team."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import kernels
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
from linnaeus.optimizers.dual.binaries import LOSSES, Progress, Settings
from linnaeus.optimizers.dual.lineup import Lineup, Shape, line_up, mark, number_of
from linnaeus.optimizers.dual.problems import BETA, CENTER, ESTIMATE, FREE_BETA, TOTAL, Binaries
from linnaeus.optimizers.dual.rest import Rest, few_left

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles, Words16

    Marked = tuple[Words16, Doubles]

KERNELS: dict[str, tuple[Callable[..., None], Callable[..., Doubles]]] = {
    "hinge": (kernels.team_epoch_hinge, kernels.team_gap_hinge),
    "squared_hinge": (kernels.team_epoch_squared_hinge, kernels.team_gap_squared_hinge),
}
"""By name: a kernel for an epoch and one for the gap."""


def solve_teams(
    problems: Binaries,
    settings: Settings,
    tell: Callable[[Progress], object] = lambda _: None,
    saved: Mapping[str, NDArray[Any]] | None = None,
    warm: tuple[Mapping[str, NDArray[Any]], float] | None = None,
) -> tuple[Doubles, Doubles] | None:
    """What `solve_binaries` does, for problems that have all rows in common: one-vs-rest, label sets.

    None for other problems, for losses without a kernel here, and for a state of `solve_binaries`.

    >>> rows = np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([1.0, -1.0])
    >>> sides = lambda which: [(np.array([0]), np.array([1])) for _ in which]
    >>> problems = Binaries(rows, 1, np.ones(2), 3, sides, np.ones((3, 2)))
    >>> W, b = solve_teams(problems, Settings("hinge", tol=1e-9))
    >>> W.round(3).tolist(), (b.round(3) + 0.0).tolist()
    ([[1.0, 1.0, 1.0]], [0.0, 0.0, 0.0])
    """
    known = settings.loss in KERNELS and not (saved and "marks" not in saved)
    marked = mark(problems) if known else None
    if marked is None:
        return None
    work = Teams(problems, settings, marked)
    if saved:
        work.restore(saved)
    elif warm is not None:
        work.warm_up(*warm)
    while work.unfinished and not few_left(work):
        work.epoch()
        tell(work.progress())
    if not work.unfinished:
        return work.matrix(), work.biases()
    rest = Rest(work, saved)
    while rest.work.unfinished:
        rest.work.epoch()
        tell(rest.progress())
    return rest.matrix(), rest.biases()


class Teams:
    """The state of a solution: everything that has to be kept to go on later."""

    def __init__(self, problems: Binaries, settings: Settings, marked: Marked) -> None:
        self.problems, self.settings, self.shape = problems, settings, Shape.of(problems.count)
        self.run, self.measure = KERNELS[settings.loss]
        squares, (marks, (no, yes)) = problems.squares(), marked
        sides = np.ones((self.shape.teams, 2, self.shape.lanes))
        sides[:, 0], sides[:, 1] = (self.shape.deal(side, 1.0) for side in problems.factors.T)
        self.box = squares, problems.costs, sides
        self.lineup = line_up(problems, marks, settings.seed, number_of(problems, squares, settings.tol))
        self.tie = FREE_BETA * (float(squares.mean() or 1.0) if len(squares) else 1.0)
        self.at_zero = LOSSES[settings.loss][2] * (no + yes)
        self.bounds = np.stack([self.at_zero, np.zeros_like(no)])  # primal and dual value, as last certified
        self.before = np.stack([np.full_like(no, np.inf), np.zeros_like(no)])  # estimate, sum of y alpha: an epoch ago
        self.here, self.fresh = 0, False
        self._place_biases(no, yes)

    def _place_biases(self, no: Doubles, yes: Doubles) -> None:
        """Where they would be best without weights; what is solved by that is finished."""
        facts = self.lineup.facts
        self.lineup.finished[no + yes == 0] = 1
        if self.settings.bias == "free":
            facts[:, BETA] = self.tie
            facts[:, CENTER] = LOSSES[self.settings.loss][3](no, yes)
            lonely = (no == 0) | (yes == 0)  # the bias alone is right about every row
            self.bounds[0][lonely] = 0.0
            self.lineup.finished[lonely] = 1
        elif self.settings.bias == "regularized":
            facts[:, BETA] = 1.0

    def warm_up(self, saved: Mapping[str, NDArray[Any]], larger: float) -> None:
        """Begin with the duals of smaller costs."""
        if "marks" not in saved or saved["alpha"].shape != self.lineup.alpha.shape:
            return
        factor = growth(self.settings.loss, larger)
        self.lineup.alpha[:] = saved["alpha"] * factor
        self.lineup.weights[:] = saved["weights"] * factor
        warm_facts(self.facts, saved["facts"].transpose(1, 0, 2), factor, self.settings.bias)

    @property
    def facts(self) -> Doubles:
        """The facts with their names first (8, t, l), a view."""
        return self.lineup.facts.transpose(1, 0, 2)

    @property
    def unfinished(self) -> bool:
        """Whether there is an epoch to come."""
        return self.here < self.settings.epochs and not self.lineup.finished.all()

    def epoch(self) -> None:
        """The free biases move, then one epoch for all teams; those that look solved are measured."""
        if self.settings.bias == "free" and self.here:
            move_centers(self.facts, self.lineup.finished == 0, self.before[1], LOOSEST * self.tie)
            self.before[1] = self.facts[TOTAL]
        self.run(self.problems.rows, self.box, tuple(self.lineup), kernels.thread_count())
        self.here += 1
        self._certify(self._worth_measuring())
        self.before[0] = self.lineup.facts[:, ESTIMATE]

    def _worth_measuring(self) -> NDArray[np.bool_]:
        """Teams (t,) of which half the unfinished problems, falling as fast as in the last epoch, look solved."""
        going = self.lineup.finished == 0
        near = looks_solved(self.facts, self.before[0], self.settings.tol)
        half: NDArray[np.bool_] = 2 * (near & going).sum(axis=1) >= going.sum(axis=1)
        due = self.here % PATIENCE == 0 or self.here >= self.settings.epochs
        worth: NDArray[np.bool_] = (half | due) & going.any(axis=1)
        return worth

    def _certify(self, which: NDArray[np.bool_]) -> None:
        """Primal and dual values of these teams; the others are passed over by the kernel as if finished."""
        finished = self.lineup.finished.copy()
        self.fresh = bool((which | finished.all(axis=1)).all())
        if not which.any():
            return
        self.lineup.finished[~which] = 1
        values = self.measure(self.problems.rows, self.box, tuple(self.lineup), kernels.thread_count())
        self.lineup.finished[:] = finished
        primal, *duals = values.reshape(-1, 3, self.shape.lanes).transpose(1, 0, 2)
        dual = duals[self.settings.bias == "free"]
        if self.settings.bias == "regularized":
            primal, dual = with_bias(primal, dual, self.facts)
        new = which[:, None] & (finished == 0)
        self.bounds[0][new], self.bounds[1][new] = primal[new], dual[new]
        floor = FLOORS[self.settings.loss] * self.at_zero
        self.lineup.finished[new & is_solved(primal, dual, self.settings.tol, floor)] = 1

    def matrix(self) -> Doubles:
        """The weights of all problems (d, k), a copy."""
        W = np.empty((self.problems.width, self.shape.problems))
        for t in range(self.shape.teams):
            which = self.shape.team(t)
            W[:, which.start : which.stop] = self.lineup.weights[t, :, : len(which)]
        return W

    def biases(self) -> Doubles:
        """The biases of all problems (k,)."""
        return self.shape.collect(self.lineup.bias)

    def progress(self) -> Progress:
        """What is told after an epoch."""
        primal, dual = (self.shape.collect(bound) for bound in self.bounds)
        return Progress(self.here, primal, dual, self.fresh, lambda: self.matrix().T, self.biases, self.state)

    def state(self) -> dict[str, NDArray[Any]]:
        """Copies of all arrays, and the numbers beside them."""
        mine = {"bounds": self.bounds, "before": self.before, "here": np.array(self.here)}
        return {name: value.copy() for name, value in (self.lineup._asdict() | mine).items()}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state."""
        self.lineup = Lineup(*(saved[name].copy() for name in Lineup._fields))
        self.bounds, self.before = saved["bounds"].copy(), saved["before"].copy()
        self.here = int(saved["here"])
