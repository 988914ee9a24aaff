"""Worked examples about optima: priors as penalties, least squares by formula, Newton in one step, AdaGrad."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from linnaeus.arrays import CSR
from linnaeus.erm import Objective, Stop, Watch, train
from linnaeus.losses import LOSSES, Logistic, Squared
from linnaeus.optimizers import LBFGS, LSQR, AdaGrad, Newton, NormalEquations
from linnaeus.optimizers.newton import direction
from linnaeus.outputs import OUTPUTS, Binary, Real
from linnaeus.regularizers import L2, NoPenalty
from linnaeus.types import LabelSets, Start


def rows(X):
    n, d = X.shape
    columns = np.tile(np.arange(d, dtype=np.int32), n)
    return CSR(np.arange(n + 1, dtype=np.int64) * d, columns, np.ascontiguousarray(X, dtype=np.float64).ravel(), d)


def binary(X, y, loss, penalty, bias="free"):
    return Objective(rows(X), (np.asarray(y) > 0).astype(int), Binary(), loss, penalty, np.ones(len(X)), 2, bias)


def cloud(n=40, seed=1):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return rng.normal(size=(n, 2)) + 0.9 * y[:, None], y


# Example 16: a Gaussian prior of variance v on the weights is the L2 penalty of strength 1/v.


@pytest.mark.parametrize("variance", [0.1, 1.0, 7.0])
def test_the_most_probable_weights_under_a_gaussian_prior(variance):
    X, y = cloud()

    def minus_log_posterior(w):
        likelihood = np.logaddexp(0.0, -y * (X @ w)).sum()
        prior = (w @ w) / (2 * variance) + 0.5 * len(w) * np.log(2 * np.pi * variance)
        return likelihood + prior

    expected = minimize(minus_log_posterior, np.zeros(2), tol=1e-12).x
    objective = binary(X, y, Logistic(), L2(1.0 / variance), bias="none")
    fit = train(objective, LBFGS(), Watch(Stop(tol=1e-12)))
    assert fit.params["W"][:, 0] == pytest.approx(expected, abs=1e-5)


# Example 17: least squares on +1 and -1 is (X'X)^-1 X'Y; points far on the right side move its boundary.


@pytest.mark.parametrize("solver", [NormalEquations(), LSQR(), Newton()], ids=lambda s: type(s).__name__)
def test_least_squares_by_its_formula(solver):
    X, y = cloud()
    fit = train(binary(X, y, Squared(), NoPenalty(), bias="none"), solver, Watch(Stop(gradient=1e-12)))
    assert fit.params["W"][:, 0] == pytest.approx(np.linalg.solve(X.T @ X, X.T @ y), rel=1e-9)
    ones = np.hstack([X, np.ones((len(X), 1))])
    fit = train(binary(X, y, Squared(), NoPenalty()), solver, Watch(Stop(gradient=1e-12)))
    found = np.append(fit.params["W"][:, 0], fit.params["b"])
    assert found == pytest.approx(np.linalg.solve(ones.T @ ones, ones.T @ y), rel=1e-9)


def angle(loss, X, y):
    """Where the normal of the boundary points, in degrees."""
    fit = train(binary(X, y, loss, NoPenalty()), LBFGS(), Watch(Stop(epochs=1000)))
    assert fit.trace.converged
    return np.degrees(np.arctan2(*fit.params["W"][::-1, 0]))


def test_outliers_on_the_right_side_move_least_squares_and_hardly_logistic():
    X, y = cloud(200)
    far = np.array([[30.0, -4.0], [32.0, -5.0], [28.0, -3.0], [31.0, -6.0]])  # well inside the positive half-plane
    more, truth = np.vstack([X, far]), np.append(y, np.ones(len(far)))
    squared = abs(angle(Squared(), more, truth) - angle(Squared(), X, y))
    logistic = abs(angle(Logistic(), more, truth) - angle(Logistic(), X, y))
    assert squared > 15
    assert logistic < 2


# Example 21: Newton's method solves a quadratic in one step; AdaGrad divides by the root of the sum of squares.


@pytest.mark.parametrize("output", sorted(OUTPUTS))
@pytest.mark.parametrize("strength", [0.0, 2.0])
def test_newton_solves_a_quadratic_in_one_step(output, strength):
    rng = np.random.default_rng(3)
    X, k = rng.normal(size=(30, 4)), 2 if output in ("binary", "real") else 3
    y = rng.normal(size=(30, 2)) if output == "real" else rng.integers(0, k, 30)
    if output == "multilabel":
        y = labels(y)
    penalty = L2(strength) if strength else NoPenalty()
    objective = Objective(rows(X), y, OUTPUTS[output](), LOSSES["squared"](), penalty, np.ones(30), k)
    start = {name: rng.normal(size=value.shape) for name, value in objective.initial().items()}
    fit = train(objective, Newton(), Watch(Stop(epochs=1, tol=None, gradient=None)), Start(start))
    _, grad = objective.value_and_grad(fit.params)
    scale = objective.value_and_grad(start)[1]
    assert len(fit.trace) == 1
    assert np.abs(grad["W"]).max() <= 1e-12 * np.abs(scale["W"]).max()
    assert np.abs(grad["b"]).max() <= 1e-12 * np.abs(scale["W"]).max()


def labels(y):
    return LabelSets(np.arange(len(y) + 1, dtype=np.int64), y.astype(np.int32))


def test_newton_for_a_maximum_steps_by_minus_the_inverse_hessian_too():
    """Both signs turn: of -f the Hessian is -H and the gradient -g, so w - H^-1 g is the same step."""
    H, g = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, -1.0])
    assert direction(H, g) == pytest.approx(-np.linalg.solve(-H, -g))


def test_adagrad_by_hand():
    """One example, one weight at a time: w <- w - rate g / sqrt(eps + sum of g^2), each with its own sum."""
    x, y, rate, eps = np.array([2.0, 1.0]), 3.0, 0.5, 1e-8
    objective = Objective(rows(x[None, :]), np.array([[y]]), Real(), Squared(), NoPenalty(), np.ones(1), 1, "none")
    fit = train(objective, AdaGrad(rate=rate, eps=eps), Watch(Stop(epochs=3)))
    w, squares = np.zeros(2), np.zeros(2)
    for _ in range(3):
        g = 2.0 * (x @ w - y) * x
        squares += g**2
        w -= rate * g / np.sqrt(eps + squares)
    assert fit.params["W"][:, 0] == pytest.approx(w, rel=1e-6)
