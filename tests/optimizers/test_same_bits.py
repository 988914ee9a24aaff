"""The same bits for any number of threads."""

from __future__ import annotations

import hashlib

import pytest
from tests.optimizers.problems import problem

from linnaeus import threads
from linnaeus.erm import Stop, Watch, train
from linnaeus.optimizers import LBFGS, LSQR, ConjugateGradient, GradientDescent, Newton, NewtonCG, NormalEquations

SOLVERS = [GradientDescent(), LBFGS(), ConjugateGradient(), NewtonCG(), Newton(), NormalEquations(), LSQR()]
WIDE = {Newton: 400}
"""Columns for who factors a matrix of parameters by parameters; 1300 for the others."""
CASES = [(solver, shape) for solver in SOLVERS for shape in ((3000, 60), (300, WIDE.get(type(solver), 1300)))]


@pytest.mark.parametrize(("solver", "shape"), CASES, ids=[f"{type(s).__name__}-{d}" for s, (_, d) in CASES])
def test_threads_change_no_bit(solver, shape):
    objective = problem("squared", "multiclass", 0.1, shape=shape)
    hashes = set()
    for count in (1, 2, 3, 8):
        with threads(count):
            fit = train(objective, solver, Watch(Stop(tol=1e-9)))
        hashes.add(hashlib.sha256(fit.params["W"].tobytes() + fit.params["b"].tobytes()).hexdigest())
    assert len(hashes) == 1
