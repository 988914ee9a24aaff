"""Batch solvers on every smooth loss and output space, against optima found by other means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.linalg import lsqr
from tests.optimizers.problems import CELLS, optimum, problem

from linnaeus.arrays import CSR
from linnaeus.erm import Stop, Watch, train
from linnaeus.errors import UsageError
from linnaeus.losses import LOSSES
from linnaeus.optimizers import (
    LBFGS,
    LSQR,
    ConjugateGradient,
    GradientDescent,
    Newton,
    NewtonCG,
    NormalEquations,
)
from linnaeus.optimizers.requirements import is_convex, is_smooth
from linnaeus.outputs import OneVsRest
from linnaeus.regularizers import L1, L2, Group
from linnaeus.types import Start

GENERAL = [GradientDescent(), LBFGS(), ConjugateGradient(), NewtonCG(), Newton()]
LINEAR = [NormalEquations(), LSQR()]
TIGHT = Watch(Stop(tol=1e-8, gradient=1e-7, epochs=2000))


def name(piece):
    return type(piece).__name__


@pytest.mark.parametrize("strength", [1.0, 0.0])
@pytest.mark.parametrize(("loss", "output"), CELLS)
def test_every_solver_finds_the_optimum(loss, output, strength):
    objective = problem(loss, output, strength)
    best = optimum(objective)
    for solver in GENERAL + (LINEAR if loss == "squared" else []):
        fit = train(objective, solver, TIGHT)
        assert fit.trace.converged, (name(solver), fit.trace.reason)
        assert objective.value(fit.params) <= best * (1 + 1e-6), name(solver)
        assert fit.trace.last.value == pytest.approx(objective.value(fit.params), rel=1e-10)


@pytest.mark.parametrize("bias", ["regularized", "none"])
@pytest.mark.parametrize("strength", [0.3, 0.0])
@pytest.mark.parametrize(("loss", "output"), [("log", "multiclass"), ("squared", "onevsone"), ("squared", "real")])
def test_other_biases(loss, output, strength, bias):
    objective = problem(loss, output, strength, bias)
    best = optimum(objective)
    for solver in GENERAL + (LINEAR if loss == "squared" else []):
        fit = train(objective, solver, TIGHT)
        assert fit.trace.converged, (name(solver), fit.trace.reason)
        assert objective.value(fit.params) <= best * (1 + 1e-6), name(solver)


@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
@pytest.mark.parametrize("seed", range(6))
def test_the_gap_bounds_the_distance_from_the_optimum(seed, bias):
    rng = np.random.default_rng(seed)
    loss, output = CELLS[rng.integers(len(CELLS))]
    strength, scale = 10.0 ** rng.uniform(-3, 2), 10.0 ** rng.uniform(-1, 0.5)
    objective = problem(loss, output, strength, bias, seed, scale=scale)
    best = optimum(objective)
    for solver in GENERAL + (LINEAR if loss == "squared" else []):
        fit = train(objective, solver, Watch(Stop(tol=1e-10, epochs=500)))
        gaps = [record for record in fit.trace if record.gap is not None]
        assert gaps, name(solver)
        for record in gaps:
            assert record.value - best <= record.gap + 1e-14 * best, name(solver)


def test_without_a_strongly_convex_penalty_there_is_no_gap():
    for objective in (problem("log", "binary", 0.0), problem("probability", "binary", 1.0)):
        fit = train(objective, LBFGS(), Watch(Stop(epochs=5)))
        assert fit.trace.column("gap") == [None] * len(fit.trace)
        assert all(record.gradient is not None for record in fit.trace)


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
@pytest.mark.parametrize("output", ["real", "onevsone"])
@pytest.mark.parametrize("solver", LINEAR, ids=name)
def test_least_squares_of_least_norm(solver, output, bias, shape):
    """Without a penalty and with dependent features, from zero: the pseudo-inverse."""
    objective = problem("squared", output, 0.0, bias, shape=shape)
    X = objective.X.to_scipy().toarray()
    X[:, -1] = X[:, 0] + X[:, 1]
    dense = X if bias != "regularized" else np.hstack([X, np.ones((len(X), 1))])
    rows = CSR(
        np.arange(len(X) + 1, dtype=np.int64) * shape[1],
        np.tile(np.arange(shape[1], dtype=np.int32), len(X)),
        X.ravel().copy(),
        shape[1],
    )
    objective = replace(objective, X=rows)
    fit = train(objective, solver, Watch(Stop(gradient=1e-10, epochs=200)))
    seen = objective.space.residuals(np.zeros((len(X), objective.width)), objective.y)
    for c in range(objective.width):
        a = objective.weights * seen.stakes[:, c]
        A, t = dense, -seen.values[:, c]
        if bias == "free":
            A, t = A - a @ A / a.sum(), t - a @ t / a.sum()
        expected = np.linalg.pinv(np.sqrt(a)[:, None] * A, rcond=1e-9) @ (np.sqrt(a) * t)
        found = fit.params["W"][:, c] if bias != "regularized" else np.append(fit.params["W"][:, c], fit.params["b"][c])
        assert found == pytest.approx(expected, abs=1e-6 * max(1.0, np.abs(expected).max()))


def test_lsqr_walks_as_scipy_does():
    objective = problem("squared", "real", 2.0, "none", shape=(40, 25))
    objective = replace(objective, weights=np.ones(40))  # damping is the root of half the strength
    for count in (1, 3, 8):
        fit = train(objective, LSQR(), Watch(Stop(tol=None, gradient=None, epochs=count)))
        for c in range(2):
            there = lsqr(objective.X.to_scipy(), objective.y[:, c], damp=1.0, iter_lim=count, atol=0, btol=0)[0]
            assert fit.params["W"][:, c] == pytest.approx(there, rel=1e-8, abs=1e-10)


def test_several_targets_are_solved_at_once_as_one_by_one():
    objective, exact = problem("squared", "real", 0.5), Watch(Stop(tol=1e-14))
    for solver in LINEAR:
        both = train(objective, solver, exact).params
        for c in range(2):
            one = replace(objective, y=objective.y[:, [c]], k=1)
            alone = train(one, solver, exact).params
            assert both["W"][:, c] == pytest.approx(alone["W"][:, 0], rel=1e-6, abs=1e-9)
            assert both["b"][c] == pytest.approx(alone["b"][0], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("solver", GENERAL, ids=name)
def test_what_has_kinks_is_refused_with_a_way_out(solver):
    for loss, output, penalty, way in [
        ("hinge", "binary", L2(1.0), "dual or adagrad"),
        ("logistic", "multiclass", L2(1.0), "adagrad"),
        ("log", "multiclass", L1(1.0), "proximal or adagrad"),
        ("log", "multiclass", Group(1.0), "proximal or sgd"),
    ]:
        base = problem(loss, output)
        objective = replace(base, regularizer=penalty)
        with pytest.raises(UsageError, match=f"{name(solver)} needs a differentiable objective.*use .*{way}"):
            train(objective, solver)


def test_second_order_solvers_refuse_what_they_cannot_use():
    for solver in (NewtonCG(), Newton()):
        with pytest.raises(UsageError, match=r"needs second derivatives.*use lbfgs or adagrad"):
            train(problem("probability", "binary"), solver)
    with pytest.raises(UsageError, match=r"4,101 by 4,101 parameters, and 4,096 are the most; use "):
        train(problem("log", "binary", shape=(5, 4100)), Newton())


def test_linear_solvers_refuse_what_is_not_linear():
    for solver in LINEAR:
        with pytest.raises(UsageError, match="solves least squares, and does not support the Log loss"):
            train(problem("log", "binary"), solver)
        base = problem("squared", "binary")
        objective = replace(base, regularizer=L1(1.0))
        with pytest.raises(UsageError, match="takes the L2 penalty or none, not L1"):
            train(objective, solver)


@pytest.mark.parametrize("solver", GENERAL + LINEAR, ids=name)
def test_an_optimum_at_the_start_is_known_as_one(solver):
    """Targets of zero: the start is the optimum, and this is said."""
    base = problem("squared", "real")
    objective = replace(base, y=np.zeros((60, 2)))
    fit = train(objective, solver)
    assert fit.trace.converged
    assert not fit.params["W"].any()


@pytest.mark.parametrize("memory", [0, -1])
def test_memory_is_positive(memory):
    for piece in (LBFGS, GradientDescent):
        with pytest.raises(UsageError, match="memory must be at least 1"):
            piece(memory=memory)


def test_plain_descent_goes_down_at_every_step():
    fit = train(problem("log", "multiclass", 0.0), GradientDescent(memory=1), Watch(Stop(epochs=50, gradient=1e-9)))
    values = fit.trace.column("value")
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_smoothness_is_known_of_the_whole(loss):
    objective = problem(loss, "onevsrest")
    assert isinstance(objective.space, OneVsRest)
    assert is_smooth(objective) == LOSSES[loss].smooth
    assert is_convex(objective) == LOSSES[loss].convex


def test_start_from_given_parameters():
    objective = problem("log", "multiclass", 0.5)
    best = optimum(objective)
    done = train(objective, LBFGS(), TIGHT)
    for solver in GENERAL:
        again = train(objective, solver, TIGHT, Start(done.params))
        assert len(again.trace) <= 3, name(solver)
        assert again.trace.converged
        assert objective.value(again.params) <= best * (1 + 1e-8)
