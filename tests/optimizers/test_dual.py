"""Dual ascent: its optimum against other solvers, its certificate, and its promises about bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.sparse import csr_matrix

from linnaeus import LinearClassifier, LinearSVM, kernels
from linnaeus.arrays import CSR, Dense
from linnaeus.erm.objective import Objective
from linnaeus.erm.train import Stop, Watch, train, walk
from linnaeus.errors import UsageError
from linnaeus.losses import LOSSES as LOSSES_OF_THE_HOUSE
from linnaeus.optimizers import LBFGS, DualAscent
from linnaeus.optimizers.dual import Binaries, Settings, solve_binaries
from linnaeus.outputs import OUTPUTS
from linnaeus.regularizers import L1, L2
from linnaeus.types import LabelSets, Start

LOSSES = {
    "hinge": lambda m: np.maximum(0, 1 - m),
    "squared_hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    "logistic": lambda m: np.logaddexp(0, -m),
}
SLOPES = {
    "hinge": lambda m: -(m <= 1.0),
    "squared_hinge": lambda m: -2 * np.maximum(0, 1 - m),
    "logistic": lambda m: -np.exp(-np.logaddexp(0, m)),
}
BIASES = ["free", "regularized", "none"]


def data(seed=0, n=60, d=8, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    X[3] = 0
    X[5] = X[4]
    X[7] = X[6] * 1.01
    y = np.where(X @ rng.normal(size=d) + noise * rng.normal(size=n) > 0.8, 1.0, -1.0)
    return X, y


def pose(X, y, costs, dtype=np.float64):
    """One problem, or one for each column of y."""
    X, Y = csr_matrix(X), np.reshape(y, (len(y), -1))
    k = Y.shape[1]
    return Binaries(
        X=CSR(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(dtype), X.shape[1]),
        costs=np.broadcast_to(np.asarray(costs, np.float64), len(Y)).copy(),
        count=k,
        sides=lambda which: [(np.flatnonzero(Y[:, j] > 0), np.flatnonzero(Y[:, j] < 0)) for j in which],
    )


def value(loss, bias, X, y, costs, w, b):
    penalty = 0.5 * w @ w + (0.5 * b * b if bias == "regularized" else 0.0)
    return penalty + costs @ LOSSES[loss](y * (X @ w + b))


def best_smooth(loss, bias, X, y, costs):
    """The optimum by L-BFGS-B on the primal."""

    def fun(v):
        w, b = v[:-1], v[-1] * (bias != "none")
        slope = costs * SLOPES[loss](y * (X @ w + b)) * y
        grad_b = (slope.sum() + (b if bias == "regularized" else 0.0)) * (bias != "none")
        return value(loss, bias, X, y, costs, w, b), np.append(w + X.T @ slope, grad_b)

    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000}
    return minimize(fun, np.zeros(X.shape[1] + 1), jac=True, method="L-BFGS-B", options=options).fun


def best_hinge(bias, X, y, costs):
    """The optimum of the hinge by a quadratic program in (w, b, slack)."""
    n, d = X.shape
    free = float(bias != "none")

    def fun(v):
        w, b, slack = v[:d], v[d], v[d + 1 :]
        charged = b * b if bias == "regularized" else 0.0
        grad = np.concatenate([w, [b if bias == "regularized" else 0.0], costs])
        return 0.5 * (w @ w + charged) + costs @ slack, grad

    A = np.hstack([y[:, None] * X, free * y[:, None], np.eye(n)])
    bounds = [(None, None)] * (d + 1) + [(0, None)] * n
    start = np.concatenate([np.zeros(d + 1), np.ones(n)])
    rule = {"type": "ineq", "fun": lambda v: A @ v - 1, "jac": lambda _: A}
    options = {"ftol": 1e-14, "maxiter": 1000}
    return minimize(fun, start, jac=True, method="SLSQP", bounds=bounds, constraints=rule, options=options).fun


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_it_finds_the_optimum_of_other_solvers(loss, C, bias):
    X, y = data(n=30, d=5)
    costs = C * np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], len(y))
    W, b = solve_binaries(pose(X, y, costs), Settings(loss, bias, 1e-9, 5000))
    found = value(loss, bias, X, y, costs, W[:, 0], b[0])
    wanted = best_hinge(bias, X, y, costs) if loss == "hinge" else best_smooth(loss, bias, X, y, costs)
    assert found == pytest.approx(wanted, rel=1e-6)
    if bias == "none":
        assert b[0] == 0.0


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_certificate_is_a_bound(loss, bias):
    X, y = data(2)
    costs = np.full(len(y), 3.0)
    told = []
    W, b = solve_binaries(pose(X, y, costs), Settings(loss, bias, 1e-10, 3000), told.append)
    optimum = value(loss, bias, X, y, costs, W[:, 0], b[0])
    assert told[-1].fresh
    assert told[-1].primal[0] == pytest.approx(optimum, rel=1e-9)
    assert told[-1].primal[0] - told[-1].dual[0] <= 1e-10 * optimum
    for progress in told:
        assert progress.dual[0] <= optimum * (1 + 1e-9)
        assert progress.primal[0] >= optimum * (1 - 1e-9)


@pytest.mark.parametrize("tol", [0.1, 1e-3])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_loose_tolerance_is_kept_too(loss, bias, tol):
    X, y = data(3)
    costs = np.ones(len(y))
    exact, b0 = solve_binaries(pose(X, y, costs), Settings(loss, bias, 1e-10, 3000))
    optimum = value(loss, bias, X, y, costs, exact[:, 0], b0[0])
    W, b = solve_binaries(pose(X, y, costs), Settings(loss, bias, tol))
    assert value(loss, bias, X, y, costs, W[:, 0], b[0]) <= optimum * (1 + 1.2 * tol)


def test_scikit_learn_agrees():
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    X, y = data(4)
    for loss, model in (
        ("squared_hinge", LinearSVC(C=0.7, tol=1e-10, max_iter=100_000, fit_intercept=False)),
        ("hinge", LinearSVC(C=0.7, loss="hinge", tol=1e-10, max_iter=100_000, intercept_scaling=1.0)),
        ("logistic", LogisticRegression(C=0.7, tol=1e-12, max_iter=10_000)),
    ):
        bias = {"squared_hinge": "none", "hinge": "regularized", "logistic": "free"}[loss]
        model.fit(X, y)
        W, b = solve_binaries(pose(X, y, np.full(len(y), 0.7)), Settings(loss, bias, 1e-12, 5000))
        np.testing.assert_allclose(W[:, 0], model.coef_[0], atol=1e-4)
        assert b[0] == pytest.approx(float(np.ravel(model.intercept_)[0]), abs=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_weight_is_a_repetition(loss):
    X, y = data(5)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted, b = solve_binaries(pose(X, y, times), Settings(loss, "free", 1e-11, 5000))
    repeated, c = solve_binaries(
        pose(np.repeat(X, times, axis=0), np.repeat(y, times), 1.0), Settings(loss, "free", 1e-11, 5000)
    )
    np.testing.assert_allclose(weighted, repeated, atol=1e-4)
    np.testing.assert_allclose(b, c, atol=1e-4)


def many(k=40, n=80):
    X, _ = data(7, n=n)
    rng = np.random.default_rng(0)
    Y = rng.choice([-1, 0, 1], (n, k), p=[0.6, 0.2, 0.2])
    Y[:, 5] = -1  # a label nobody has
    Y[:, 6] = 1  # one that all have
    Y[:, 7] = 0  # a problem without members
    return X, Y


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", LOSSES)
def test_many_problems_are_each_solved_as_if_alone(loss, bias):
    X, Y = many()
    W, b = solve_binaries(pose(X, Y, 1.0), Settings(loss, bias, 1e-8, 2000))
    for j in (0, 5, 6, 7, 33, 39):
        alone, a = solve_binaries(pose(X, Y[:, j], 1.0), Settings(loss, bias, 1e-8, 2000))
        np.testing.assert_allclose(W[:, j], alone[:, 0], atol=2e-3)
        asked = Y[:, j] != 0
        costs = np.ones(asked.sum())
        got = value(loss, bias, X[asked], Y[asked, j], costs, W[:, j], b[j])
        assert got == pytest.approx(value(loss, bias, X[asked], Y[asked, j], costs, alone[:, 0], a[0]), abs=1e-6)


@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_same_bits_for_any_number_of_threads(loss, bias):
    X, Y = many()
    found = []
    for threads in (1, 2, 3, 8):
        with kernels.threads(threads):
            W, b = solve_binaries(pose(X, Y, 1.0), Settings(loss, bias, 1e-5))
        found.append(W.tobytes() + b.tobytes())
    assert len(set(found)) == 1


class EndError(Exception):
    pass


@pytest.mark.parametrize("stop", [3, 17])
@pytest.mark.parametrize("loss", LOSSES)
def test_work_goes_on_from_a_saved_state_to_the_same_bits(loss, stop):
    X, Y = many()
    settings = Settings(loss, "free", 1e-6, 15)
    told = []
    W, b = solve_binaries(pose(X, Y, 1.0), settings, lambda progress: told.append(progress.state()))

    def end(progress):
        end.count += 1
        end.state = progress.state()
        if end.count == min(stop, len(told) - 1):
            raise EndError

    end.count = 0
    with pytest.raises(EndError):
        solve_binaries(pose(X, Y, 1.0), settings, end)
    V, c = solve_binaries(pose(X, Y, 1.0), settings, saved=end.state)
    assert V.tobytes() == W.tobytes()
    assert c.tobytes() == b.tobytes()


@pytest.mark.parametrize("loss", LOSSES)
def test_float32_data_are_used_as_they_are(loss):
    X, y = data(8)
    X = X.astype(np.float32)
    narrow = solve_binaries(pose(X, y, 1.0, np.float32), Settings(loss, "free", 1e-10, 3000))
    wide = solve_binaries(pose(X.astype(np.float64), y, 1.0), Settings(loss, "free", 1e-10, 3000))
    assert narrow[0].tobytes() == wide[0].tobytes()


@pytest.mark.parametrize("share", [0.02, 0.5])
@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_free_bias_converges_on_unequal_classes_and_at_extreme_costs(loss, C, share):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(200, 5)) + 3.0
    y = np.where(rng.random(200) < share, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    told = []
    solve_binaries(pose(X, y, C), Settings(loss, "free", 1e-4, 3000), told.append)
    assert told[-1].primal[0] - told[-1].dual[0] <= 1e-4 * told[-1].primal[0]


def test_linprog_agrees_where_weights_vanish():
    # With tiny costs the weights are nearly zero and the bias solves a linear program.
    X, y = data(10)
    C = 1e-9
    W, b = solve_binaries(pose(X, y, C), Settings("hinge", "free", 1e-7, 3000))
    A = -np.hstack([y[:, None], np.eye(len(y))])
    bounds = [(None, None)] + [(0, None)] * len(y)
    best = linprog(np.append(0, np.ones(len(y))), A, -np.ones(len(y)), bounds=bounds).fun
    assert LOSSES["hinge"](y * (X @ W[:, 0] + b[0])).sum() == pytest.approx(best, rel=1e-5)


class TestAsAnOptimizer:
    """DualAscent on objectives: it finds what L-BFGS finds, in every output space of binary problems."""

    @pytest.mark.parametrize("dense", [True, False])
    @pytest.mark.parametrize("bias", BIASES)
    @pytest.mark.parametrize("space", ["binary", "onevsrest", "onevsone", "multilabel"])
    @pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "log"])
    def test_it_agrees_with_lbfgs(self, loss, space, bias, dense):
        objective = pose_objective(loss, space, bias, dense)
        ours = train(objective, DualAscent(1e-9), Watch(Stop(epochs=2000, tol=1e-9)))
        theirs = train(objective, LBFGS(), Watch(Stop(epochs=2000, tol=None, gradient=1e-9)))
        value = objective.value(theirs.params)
        assert objective.value(ours.params) == pytest.approx(value, rel=1e-6)
        assert ours.trace.last.value == pytest.approx(value, rel=1e-6)
        assert ours.trace.last.gap <= 1e-8 * value
        assert ours.params["W"].shape == theirs.params["W"].shape
        assert set(ours.params) == set(theirs.params)

    def test_it_resumes_from_its_own_state(self):
        objective = pose_objective("logistic", "onevsrest", "free", False)
        steps = []
        DualAscent(1e-8).minimize(objective, Start(objective.initial()), lambda step: steps.append(step.state()))
        W = []
        for start in (Start(objective.initial()), Start(objective.initial(), epoch=2, state=steps[1])):
            seen = []
            DualAscent(1e-8).minimize(objective, start, lambda step, seen=seen: seen.append(step))
            W.append(seen[-1].params()["W"].tobytes())
            assert seen[-1].epoch == len(steps)
        assert W[0] == W[1]

    def test_what_does_not_fit_is_refused_in_a_sentence(self):
        for loss, space, penalty, word in (
            ("exponential", "binary", L2(), "dual step"),
            ("logistic", "multiclass", L2(), "Multiclass"),
            ("logistic", "binary", L2(0.0), "L2"),
            ("logistic", "binary", L1(), "L1"),
        ):
            objective = replace(pose_objective("logistic", space, "free", False), loss=LOSSES_OF_THE_HOUSE[loss]())
            assert word in DualAscent().refuse(replace(objective, regularizer=penalty))
        with pytest.raises(UsageError, match="tol"):
            DualAscent(-1.0)


def pose_objective(loss, space, bias, dense):
    X, _ = data(11, n=40, d=6)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2 if space == "binary" else 4, 40)
    if space == "multilabel":
        y = LabelSets(
            np.arange(0, 41) * 2, np.sort(np.stack([y, (y + 1) % 4], axis=1), axis=1).ravel().astype(np.int32)
        )
    rows = Dense(X) if dense else Dense(X).to_csr()
    weights = rng.choice([0.5, 1.0, 2.0], 40)
    k = 2 if space == "binary" else 4
    return Objective(rows, y, OUTPUTS[space](), LOSSES_OF_THE_HOUSE[loss](), L2(0.7), weights, k, bias)


@pytest.mark.parametrize("settings", [{"tol": 0.1}, {"tol": 1e-9, "epochs": 3}])
@pytest.mark.filterwarnings("ignore::linnaeus.learners.linear.NotConverged")
def test_the_value_told_is_that_of_the_model_returned(settings):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 20)), rng.integers(0, 8, 2000)
    model = LinearSVM(**settings).fit(X, y)
    signs = np.where(y[:, None] == model.classes_, 1.0, -1.0)
    losses = np.maximum(0.0, 1.0 - signs * model.decision_function(X))
    value = 0.5 * (model.coef_**2).sum() + losses.sum()
    assert model.trace_.last.value == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("regularizer", ["l2", "l1"])
def test_training_does_not_end_with_the_first_problems_of_many(loss, regularizer):
    """More classes than are solved side by side: a gap is known only when the last of them has been measured."""
    k, rng = 70, np.random.default_rng(0)
    y = np.arange(k).repeat(3)
    X = np.eye(k)[y] + rng.normal(size=(len(y), k)) / 50
    model = LinearClassifier(loss=loss, regularizer=regularizer, output="onevsrest", tol=1e-2, bias="none").fit(X, y)
    assert model.score(X, y) == 1.0
    assert (np.abs(model.coef_).sum(axis=1) > 0).all()


@pytest.mark.parametrize("warm", [4.0, 1.0])
@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_duals_of_a_stronger_regularizer_lead_to_the_same_optimum(loss, bias, warm):
    """A path begins each strength with the duals of the one before: same end."""
    rng = np.random.default_rng(1)
    X, y = Dense(rng.normal(size=(80, 6))), rng.integers(0, 3, 80)
    pose = lambda strength: Objective(  # noqa: E731
        X, y, OUTPUTS["onevsrest"](), LOSSES_OF_THE_HOUSE[loss](), L2(strength), np.ones(80), 3, bias
    )
    choose = lambda _: (DualAscent(1e-4), Stop(epochs=1000, tol=1e-4))  # noqa: E731
    *_, last = walk(pose, choose, [0.5 * warm, 0.5])
    (alone,) = walk(pose, choose, [0.5])
    assert last.reason == "converged"
    assert pose(0.5).value(last.params) == pytest.approx(pose(0.5).value(alone.params), rel=1e-4)
