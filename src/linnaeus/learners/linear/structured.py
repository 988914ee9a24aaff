"""The linear engine over candidates that change from example to example: all share one weight for each feature."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.grouped import Grouped
from linnaeus.erm import Watch
from linnaeus.erm.objective import Structured, structured
from linnaeus.erm.progress import listening
from linnaeus.learners.linear.checkpoint import train_from
from linnaeus.learners.linear.solving import stopping
from linnaeus.optimizers import LBFGS, AdaGrad, Average
from linnaeus.outputs import Candidates
from linnaeus.types import Start

if TYPE_CHECKING:
    from linnaeus.arrays import CSR
    from linnaeus.erm import Fit
    from linnaeus.learners.linear.learner import Linear
    from linnaeus.learners.run import Run
    from linnaeus.protocols import Solver
    from linnaeus.types import AnyInts, Choices, Params

BATCH = 16
"""Examples that a step looks at."""


def solve_candidates(
    learner: Linear, X: CSR, y: Choices, seed: int, start: Params | None = None, run: Run | None = None
) -> Fit:
    """Weights W (d, 1) of the rows of all candidates, from these weights on."""
    objective = structured(X, y, Candidates(), learner.loss, learner.regularizer)
    optimizer = _optimizer(learner)
    stop = stopping(learner.settings(seed), learner.loss, optimizer)
    objective, columns = _narrowed(objective) if start is None else (objective, None)
    begin = Start(start or objective.initial(), seed=seed, epochs=stop.epochs or 100)
    with listening(None if run is None else run.watching, stop) as listeners:
        place = None if run is None else run.kept
        fit = train_from(place, objective, optimizer, Watch(stop, listeners=listeners), begin)
    if columns is None:
        return fit
    W = np.zeros((X.width, 1))
    W[columns] = fit.params["W"]
    return replace(fit, params={"W": W})


def _narrowed(objective: Structured) -> tuple[Structured, AnyInts | None]:
    """The same with the columns that have values: pairs of words that never met need no weight."""
    X = objective.X
    assert isinstance(X, Grouped)
    columns = X.touched()
    if isinstance(columns, slice) or len(columns) == X.shape[1]:
        return objective, None
    return replace(objective, X=X.narrow(columns)), columns


def _optimizer(learner: Linear) -> Solver:
    if not (isinstance(learner.optimizer, str) and learner.optimizer == "auto"):
        given: Solver = learner.optimizer
        return given
    return LBFGS() if learner.loss.smooth else Average(AdaGrad(batch=BATCH))
