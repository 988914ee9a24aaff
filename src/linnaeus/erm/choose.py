"""The default optimizer of an objective, and the alternatives that error messages name.

`PREFERENCE` lists solvers from the most specialized to the most general; the first that accepts the objective is used.
A new solver is one more row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.optimizers import OPTIMIZERS
from linnaeus.optimizers.requirements import ridge
from linnaeus.protocols import (
    AveragingSolver,
    OwnTolerance,
    PointForm,
    RatedSolver,
    ScalarForm,
    Solver,
    StepwiseSolver,
    capability,
    has,
)

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective


def choose_optimizer(objective: Objective, tol: float | None) -> Solver:
    """The preferred solver for this objective; a solver with its own tolerance gets `tol`."""
    if mistake_driven(objective.loss):
        return _step_by_step(rate=1.0)
    for name, suits in PREFERENCE:
        solver: Solver = OPTIMIZERS[name]()
        if suits(objective) and solver.refuse(objective) is None:
            own = capability(solver, OwnTolerance)
            return solver if own is None or tol is None else own.with_tol(tol)
    return _step_by_step()


def choose_stepwise(objective: Objective) -> Solver:
    """The preferred stochastic optimizer, for a stream of batches."""
    if mistake_driven(objective.loss):
        return _step_by_step(rate=1.0)
    adaptive: Solver = OPTIMIZERS["adagrad"]()
    return adaptive if adaptive.refuse(objective) is None else _step_by_step()


def willing(objective: Objective) -> list[str]:
    """Names of optimizers that accept this objective: the preferred one, and the preferred stochastic one."""
    found = (choose_optimizer(objective, None), choose_stepwise(objective))
    names = {piece: name for name, piece in OPTIMIZERS.items()}
    return list(dict.fromkeys(names[type(solver)] for solver in found))


def _step_by_step(**settings: float) -> Solver:
    return OPTIMIZERS["sgd"](**settings)


def stepwise(optimizer: object) -> bool:
    """Whether an optimizer is stochastic, so that it can continue with more examples."""
    return has(optimizer, StepwiseSolver)


def rated(optimizer: object) -> RatedSolver | None:
    """The optimizer, or the one whose iterates it averages, if it has a learning rate."""
    averaging = capability(optimizer, AveragingSolver)
    return capability(optimizer if averaging is None else averaging.inner, RatedSolver)


def mistake_driven(loss: object) -> bool:
    """Whether the loss is zero at zero weights, as for the perceptron, which learns from mistakes only.

    >>> from linnaeus.losses import Hinge, Perceptron
    >>> mistake_driven(Perceptron()), mistake_driven(Hinge())
    (True, False)
    """
    scalar = capability(loss, ScalarForm)
    if scalar is None or has(loss, PointForm):
        return False
    return float(scalar.value(np.zeros(1))[0]) == 0.0


def _always(_objective: Objective) -> bool:
    return True


def _few(objective: Objective) -> bool:
    """Whether there are few enough parameters for Newton's method; least squares has its own solvers."""
    n, d = objective.X.shape
    curved = not has(objective.loss, PointForm)
    return curved and d <= n and (d + 1) * objective.space.width(objective.k) <= FEW


def _kinked(objective: Objective) -> bool:
    """Whether the penalty has a kink at zero."""
    return ridge(objective) is None


def _narrow(objective: Objective) -> bool:
    """Whether a square matrix of the features, or of the examples, is small and quickly made."""
    X = objective.X
    n, d = X.shape
    if min(n, d) > NARROW:
        return False
    return d <= n or not isinstance(X, CSR) or _products(X) <= PASSES * X.nnz


def _products(X: CSR) -> int:
    """How many products the matrix of the examples sums: each feature has the square of the number of its rows."""
    return int((X.counts() ** 2).sum())


FEW = 100
"""Most parameters for which Newton's method is preferred; it handles badly scaled columns."""

NARROW = 2000
"""Most features or examples for which factoring a square matrix is faster than iterating over the rows."""

PASSES = 50
"""Passes over sparse rows that an iterative solver takes; a matrix of the examples may cost as much."""

PREFERENCE: tuple[tuple[str, Callable[[Objective], bool]], ...] = (
    ("newton", _few),
    ("dual", _always),
    ("coordinate", _kinked),
    ("proximal", _kinked),
    ("normal_equations", _narrow),
    ("lsqr", _always),
    ("lbfgs", _always),
    ("adagrad", _always),
)
"""Solvers, the most specialized first, and their conditions."""
