"""The last problems of teams: what is left when most are solved goes on one by one, where rows at rest cost nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import kernels
from linnaeus.optimizers.dual.binaries import WAVE, Progress, Work
from linnaeus.optimizers.dual.problems import BETA, CENTER, TOTAL, Binaries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.optimizers.dual.teams import Teams
    from linnaeus.types import Doubles

FEW, LONG = 3, 100
"""One problem in so many is few; after so many epochs any that fit into one wave are."""
PREFIX = "rest."
"""Of the names in a state that belong to the rest."""


def few_left(teams: Teams) -> bool:
    """Whether the rest is better solved one by one."""
    left = int((teams.lineup.finished == 0).sum())
    return 0 < left <= WAVE and (left * FEW <= teams.problems.count or teams.here >= LONG)


class Rest:
    """The unfinished problems of teams, with the duals they have come to."""

    def __init__(self, teams: Teams, saved: Mapping[str, NDArray[Any]] | None = None) -> None:
        self.teams, shape = teams, teams.shape
        self.which = np.flatnonzero(shape.collect(teams.lineup.finished) == 0)
        self.lanes = self.which // shape.each, self.which % shape.each  # team and lane of each
        settings = replace(teams.settings, epochs=max(teams.settings.epochs - teams.here, 0))
        mine = {name.removeprefix(PREFIX): value for name, value in (saved or {}).items() if name.startswith(PREFIX)}
        self.work = Work(self._problems(), settings, mine or None)
        if not mine:
            self._take_over()

    def _problems(self) -> Binaries:
        problems, which = self.teams.problems, self.which

        def sides(some: range) -> Any:
            return [problems.sides(range(which[i], which[i] + 1))[0] for i in some]

        return replace(problems, count=len(which), sides=sides, factors=problems.factors[which])

    def _take_over(self) -> None:
        """Duals and biases as they are; the weights are added up anew, for they were rounded."""
        lineup, work, (t, c) = self.teams.lineup, self.work, self.lanes
        alpha = lineup.alpha[t, :, c].astype(np.float64)
        work.wave.alpha[:] = alpha.reshape(-1)
        signs = np.where((lineup.marks[t] >> c[:, None].astype(np.uint16)) & 1, 1.0, -1.0)
        weights = np.zeros((self.teams.problems.width, len(t)))
        kernels.rows_tdot(work.problems.rows, np.ascontiguousarray((signs * alpha).T), weights, kernels.thread_count())
        work.weights[:] = weights.T
        for fact in (CENTER, BETA, TOTAL):
            work.wave.table[:, fact] = lineup.facts[t, fact, c]

    def progress(self) -> Progress:
        """What is told after an epoch: of all problems."""
        teams, rest = self.teams, self.work.progress()
        primal, dual = (teams.shape.collect(bound) for bound in teams.bounds)
        primal[self.which], dual[self.which] = rest.primal, rest.dual
        here = teams.here + self.work.here
        return Progress(here, primal, dual, rest.fresh, lambda: self.matrix().T, self.biases, self.state)

    def matrix(self) -> Doubles:
        """The weights of all problems (d, k), a copy."""
        W = self.teams.matrix()
        W[:, self.which] = self.work.weights.T
        return W

    def biases(self) -> Doubles:
        """The biases of all problems (k,)."""
        b = self.teams.biases()
        b[self.which] = self.work.biases()
        return b

    def state(self) -> dict[str, NDArray[Any]]:
        """That of the teams, with what the rest has come to in its place; and that of the rest."""
        state, (t, c) = self.teams.state(), self.lanes
        state["alpha"][t, :, c] = self.work.wave.alpha.reshape(len(t), -1)
        state["weights"][t, :, c] = self.work.weights
        for fact in (CENTER, BETA, TOTAL):
            state["facts"][t, fact, c] = self.work.wave.table[:, fact]
        return state | {PREFIX + name: value for name, value in self.work.state().items()}
