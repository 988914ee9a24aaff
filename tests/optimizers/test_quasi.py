"""L-BFGS and its line search: what is said of steps, of memory, and of going on after a stop."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.optimizers.problems import optimum, problem

from linnaeus.erm import Objective, Stop, Watch, train
from linnaeus.optimizers import LBFGS, ConjugateGradient
from linnaeus.optimizers.certificate import norm
from linnaeus.optimizers.lbfgs import Pairs
from linnaeus.optimizers.line_search import DECREASE, Place, wolfe_search
from linnaeus.types import Start

CURVES = {
    "parabola": (lambda t: (t - 3.0) ** 2, lambda t: 2.0 * (t - 3.0)),
    "softplus": (lambda t: np.logaddexp(0, t - 5.0) - 0.4 * t, lambda t: 1 / (1 + np.exp(5.0 - t)) - 0.4),
    "quartic": (lambda t: (t - 1.0) ** 4, lambda t: 4.0 * (t - 1.0) ** 3),
    "wiggle": (lambda t: -t - 0.9 * math.sin(2 * t) + 0.02 * t * t, lambda t: -1 - 1.8 * math.cos(2 * t) + 0.04 * t),
    "wall": (lambda t: -t if t < 0.7 else math.inf, lambda t: -1.0 if t < 0.7 else math.nan),
}


@pytest.mark.parametrize("first", [1e-6, 0.1, 1.0, 50.0])
@pytest.mark.parametrize("name", [name for name in CURVES if name != "wall"])
def test_a_step_satisfies_wolfes_conditions(name, first):
    f, slope = CURVES[name]
    begin, seen = Place(0.0, f(0.0), slope(0.0)), []

    def probe(t):
        seen.append(t)
        return f(t), slope(t)

    t = wolfe_search(probe, begin, first)
    assert t == seen[-1]
    assert len(seen) < 12
    assert f(t) <= begin.value + DECREASE * t * begin.slope
    assert abs(slope(t)) <= 0.9 * abs(begin.slope)


def test_a_value_that_is_not_finite_is_too_high():
    f, slope = CURVES["wall"]
    t = wolfe_search(lambda t: (f(t), slope(t)), Place(0.0, 0.0, -1.0), 1.0)
    assert 0.0 < t < 0.7


def test_no_step_where_nothing_goes_down():
    assert wolfe_search(lambda t: (1.0 + t, 1.0), Place(0.0, 1.0, -1.0), 1.0) is None


def dense_inverse(pairs, n):
    """The inverse Hessian of BFGS, update by update, begun at the usual multiple of the identity."""
    s, y = [t * p for t, p in zip(pairs.steps, pairs.ahead, strict=True)], pairs.change
    H = np.eye(n) * (s[-1] @ y[-1]) / (y[-1] @ y[-1])
    for a, b in zip(s, y, strict=True):
        V = np.eye(n) - np.outer(b, a) / (a @ b)
        H = V.T @ H @ V + np.outer(a, a) / (a @ b)
    return H


@pytest.mark.parametrize("most", [1, 3, 10])
def test_the_direction_is_that_of_bfgs(most):
    rng = np.random.default_rng(most)
    A = rng.normal(size=(8, 8))
    A = A @ A.T + np.eye(8)
    pairs, g = Pairs(most), rng.normal(size=8)
    for _ in range(6):
        if len(pairs):
            wanted = -dense_inverse(pairs, 8) @ g
            p = pairs.direction(g)
            np.testing.assert_allclose(p, wanted, rtol=1e-8)
        else:
            p = pairs.direction(g)
            np.testing.assert_array_equal(p, -g)
        t = 0.3
        new = g + t * A @ p
        assert pairs.add(p, t, g, new) == pytest.approx(new @ new)
        g = new
        assert len(pairs) <= most


@pytest.mark.parametrize("shape", [(60, 7), (20, 90)])
@pytest.mark.parametrize("memory", [1, 3, 10])
@pytest.mark.parametrize("bias", ["free", "none"])
def test_it_goes_on_to_the_same_bits(memory, bias, shape):
    objective, solver, saved = problem("log", "multiclass", 0.01, bias, shape=shape), LBFGS(memory), {}

    def keep(record, step):
        arrays = {name: np.array(value) for name, value in step.state().items()}
        saved[step.epoch] = Start({name: p.copy() for name, p in step.params().items()}, step.epoch, arrays)

    whole = train(objective, solver, Watch(Stop(tol=1e-9), listeners=[keep]))
    assert len(whole.trace) > 6
    for epoch in (1, 4, len(whole.trace) - 1):
        rest = train(objective, solver, Watch(Stop(tol=1e-9)), saved[epoch])
        assert rest.trace.last.epoch == whole.trace.last.epoch
        for name, value in whole.params.items():
            assert value.tobytes() == rest.params[name].tobytes()


def test_it_takes_few_evaluations(monkeypatch):
    """A step of length one is mostly good: there is hardly more than one evaluation for each iteration."""
    count, evaluate = [0], Objective.value_and_grad

    def counted(self, params, out=None):
        count[0] += 1
        return evaluate(self, params, out)

    monkeypatch.setattr(Objective, "value_and_grad", counted)
    fit = train(problem("log", "multiclass", 0.1, "none", shape=(300, 40)), LBFGS(), Watch(Stop(tol=1e-8)))
    assert fit.trace.converged
    assert count[0] <= len(fit.trace) + 5


@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
@pytest.mark.parametrize(
    ("loss", "output"), [("log", "multiclass"), ("squared_hinge", "onevsrest"), ("squared", "real"), ("log", "binary")]
)
def test_fewer_rows_than_features(loss, output, bias):
    """The same optimum over the span of the rows as over the weights; from a start that is not zero it is not used."""
    objective = problem(loss, output, 0.2, bias, shape=(12, 50))
    best = optimum(objective)
    for solver in (LBFGS(), ConjugateGradient()):
        fit = train(objective, solver, Watch(Stop(tol=1e-9, epochs=1000)))
        assert fit.trace.converged
        assert objective.value(fit.params) <= best * (1 + 1e-8)
        assert fit.trace.last.value == pytest.approx(objective.value(fit.params), rel=1e-12)
        gradient = norm(objective.value_and_grad(fit.params)[1])
        assert fit.trace.last.gradient == pytest.approx(gradient, rel=1e-3, abs=1e-6)
        moved = {name: value + 0.1 for name, value in fit.params.items()}
        again = train(objective, solver, Watch(Stop(tol=1e-9, epochs=1000)), Start(moved))
        assert objective.value(again.params) <= best * (1 + 1e-8)


def test_the_span_of_the_rows_needs_less_memory_than_the_weights():
    objective, sizes = problem("log", "multiclass", 0.2, shape=(20, 5000)), []
    watch = Watch(Stop(epochs=5), listeners=[lambda _, step: sizes.append(sum(v.size for v in step.state().values()))])
    train(objective, LBFGS(), watch)
    assert max(sizes) < 5000


def test_rows_that_say_nothing_end_at_once():
    objective = problem("squared", "real", 1.0, "none", shape=(5, 40))
    objective = replace(objective, y=np.zeros((5, 2)))
    fit = train(objective, LBFGS())
    assert fit.trace.converged
    assert not fit.params["W"].any()
