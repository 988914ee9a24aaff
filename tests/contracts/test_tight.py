"""Every solver that gives a gap ends with one as small as asked, also where the tolerance is tight and C is large."""

from __future__ import annotations

import numpy as np
import pytest
from tests.contracts.problems import problem

from linnaeus.erm import Objective, Stop, Watch, train
from linnaeus.losses import LOSSES
from linnaeus.optimizers import OPTIMIZERS
from linnaeus.regularizers import L2

SOLVERS = ("dual", "lbfgs", "newton", "newton_cg")
SPACES = {
    "hinge": ("binary", "multiclass"),
    "squared_hinge": ("binary", "onevsrest"),
    "logistic": ("binary", "onevsrest"),
    "log": ("binary", "multiclass"),
    "softmargin": ("multiclass",),
}
CELLS = [
    (loss, output, solver, strength, tol)
    for loss, outputs in SPACES.items()
    for output in outputs
    for solver in SOLVERS
    for strength, tol in ((1.0, 1e-10), (1e-3, 1e-9), (1e-6, 1e-8))
    if loss != "hinge" or strength == 1.0  # it has a kink: no other solver can go on where the dual is slow
]


@pytest.mark.parametrize(("loss", "output", "solver", "strength", "tol"), CELLS)
def test_the_gap_is_as_small_as_asked(loss, output, solver, strength, tol):
    X, y, space, k = problem(output)
    objective = Objective(X, y, space, LOSSES[loss](), L2(strength), np.ones(len(y)), k)
    optimizer = OPTIMIZERS[solver](tol=tol) if solver == "dual" else OPTIMIZERS[solver]()
    if optimizer.refuse(objective) is not None:
        return
    fit = train(objective, optimizer, Watch(Stop(epochs=3000, tol=tol)))
    last = fit.trace.last
    assert fit.trace.converged, (fit.trace.reason, last.value, last.gap)
    assert last.gap <= tol * last.value
