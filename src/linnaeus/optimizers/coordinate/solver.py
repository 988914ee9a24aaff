"""Coordinate descent on all score columns of an objective, in parallel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import kernels
from linnaeus.frozen import dataclass
from linnaeus.optimizers.coordinate.columns import Columns, columns_of
from linnaeus.optimizers.coordinate.problem import Place, Problem
from linnaeus.optimizers.coordinate.rowwise import RowLoss
from linnaeus.types import Step

if TYPE_CHECKING:
    from linnaeus.protocols import Objective
    from linnaeus.types import Params, Start

LEFT = 0.1
"""A problem whose gap is below this share of the mean gap pauses."""


@dataclass(frozen=True)
class CoordinateDescent:
    """Coordinate descent for L1 and elastic net, with working sets, proximal Newton steps and a certified gap.

    For losses with a second derivative, in output spaces with independent score columns: binary, one-vs-rest,
    one-vs-one, multi-label, real. An epoch is one working set. Memory: a transposed copy of the matrix, and per score
    column four numbers for each row and two for each feature.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="logistic", optimizer=CoordinateDescent(), regularizer="l1").fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    def refuse(self, objective: Objective) -> str | None:
        """Refuse losses that are not smooth, joint output spaces, and penalties on groups of weights."""
        loss, penalty = type(objective.loss).__name__, type(objective.regularizer).__name__
        if not (hasattr(objective.regularizer, "l1") and hasattr(objective.regularizer, "l2")):
            return f"CoordinateDescent takes penalties on single weights, not {penalty}."
        if not (getattr(objective.loss, "second", False) and getattr(objective.loss, "convex", True)):
            return f"CoordinateDescent needs a convex loss with a second derivative, which {loss} is not."
        if not objective.rowwise or not _separable(objective):
            space = type(objective.space).__name__
            return f"CoordinateDescent needs independent scores, but {space} combines them."
        if hasattr(objective.loss, "upper") and getattr(objective.space, "costs", None) is not None:
            return f"CoordinateDescent takes the {loss} loss without costs."
        return None

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Minimize until no weight changes, or `report` raises."""
        threads = kernels.thread_count()
        problems = _problems(objective, start, columns_of(objective.X, threads))
        with ThreadPoolExecutor(min(threads, len(problems))) as pool:
            team = _Team(problems, pool, threads)
            team.look(problems)
            epoch, best = start.epoch, np.inf
            while team.value < best:
                epoch, best = epoch + 1, team.value
                team.advance()
                report(team.step(epoch, objective))


@dataclass
class _Team:
    """Problems that are solved in parallel."""

    problems: Sequence[Problem]
    pool: ThreadPoolExecutor
    threads: int

    @property
    def value(self) -> float:
        return sum(problem.value for problem in self.problems)

    def look(self, problems: Sequence[Problem]) -> None:
        """Each problem has a thread; the gradients of all are one walk over the matrix."""
        list(self.pool.map(Problem.look, problems))
        slopes, columns = [problem.alpha for problem in problems], problems[0].columns
        if len(self.problems) == 1:
            gradients = columns.correlate(slopes[0], self.threads)[None]
        else:
            gradients = columns.correlate_all(slopes, self.threads)
        list(self.pool.map(Problem.judge, problems, gradients))

    def advance(self) -> None:
        """An iteration of every problem that still has its share to do."""
        late = self._late()
        list(self.pool.map(Problem.advance, late))
        self.look(late)

    def _late(self) -> list[Problem]:
        gaps = [problem.gap for problem in self.problems]
        left = [problem.violation if gap is None else gap for problem, gap in zip(self.problems, gaps, strict=True)]
        mean = sum(left) / len(left)
        return [problem for problem, own in zip(self.problems, left, strict=True) if own >= LEFT * mean]

    def step(self, epoch: int, objective: Objective) -> Step:
        """What to tell: values and gaps are sums over problems, the gradient is the largest violation."""
        gaps = [problem.gap for problem in self.problems]
        gap = None if None in gaps else float(sum(g for g in gaps if g is not None))
        worst = max(problem.violation for problem in self.problems)
        return Step(epoch, lambda: self.params(objective), self.state, value=self.value, gap=gap, gradient=worst)

    def params(self, objective: Objective) -> Params:
        """W (d, w) and b (w,), copied."""
        d = objective.X.shape[1]
        params: Params = {"W": np.stack([problem.place.w[:d] for problem in self.problems], axis=1)}
        if objective.bias == "free":
            params["b"] = np.concatenate([problem.place.b for problem in self.problems])
        elif objective.bias == "regularized":
            params["b"] = np.array([problem.place.w[d] for problem in self.problems])
        return params

    def state(self) -> dict[str, Any]:
        """What the next iteration depends on beside the parameters."""
        return {
            "passes": np.array([problem.place.passes for problem in self.problems]),
            "bound": np.array([problem.place.bound for problem in self.problems]),
        }


def _problems(objective: Objective, start: Start, columns: Columns) -> list[Problem]:
    """One problem for each score column, at the parameters of the start."""
    W, b = start.params["W"], start.params.get("b")
    seen = objective.loss.view(objective.space, np.zeros((len(objective.weights), W.shape[1])), objective.y)
    signs = seen.push(np.ones_like(seen.values))
    columns = columns.with_constant() if objective.bias == "regularized" else columns
    problems = []
    for j in range(W.shape[1]):
        place = Place(W[:, j].astype(np.float64), np.zeros(0))
        if objective.bias == "free" and b is not None:
            place.b = b[j : j + 1].astype(np.float64)
        elif b is not None:
            place.w = np.append(place.w, b[j])
        if "passes" in start.state:
            place.passes, place.bound = float(start.state["passes"][j]), float(start.state["bound"][j])
        weights = objective.weights * seen.stakes[:, j]
        phi = RowLoss(objective.loss, signs[:, j].copy(), seen.values[:, j].copy(), weights)
        problems.append(Problem(columns, phi, objective.regularizer.l1, objective.regularizer.l2, place))
    return problems


def _separable(objective: Objective) -> bool:
    """Whether the loss looks at every score by itself: as many numbers as scores, for one row."""
    width = objective.space.width(objective.k)
    try:
        seen = objective.loss.view(objective.space, np.zeros((1, width)), objective.y[:1])
    except ValueError:
        return False
    return bool(seen.values.shape[1] == width)
