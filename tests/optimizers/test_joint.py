"""Joint multiclass problems by dual ascent: optima against independent solvers, certificates, the same bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from linnaeus import kernels
from linnaeus.arrays import CSR
from linnaeus.erm import Objective
from linnaeus.losses import LOSSES
from linnaeus.optimizers import LBFGS, DualAscent
from linnaeus.optimizers.dual.joint import CRAMMER, SOFTMAX, Climb, Joint, Plan, climb
from linnaeus.outputs import Multiclass
from linnaeus.regularizers import L1, L2
from linnaeus.types import Start

BIASES = ["none", "regularized", "free"]


def problem(bias, n=40, k=4, C=1.0, seed=0, costs=None, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n).astype(np.int32)
    X = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.6) + 0.7 * np.eye(k, 6)[y]
    X[3] = 0.0
    strengths = C * rng.choice([0.0, 0.5, 1.0, 2.0], n)
    sparse = csr_matrix(X.astype(dtype))
    rows = CSR(sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32), sparse.data, 6)
    return Joint(rows, y, strengths, k, costs, bias), X


def some_costs(k, seed=0):
    costs = np.random.default_rng(seed).random((k, k)) * 3
    np.fill_diagonal(costs, 0.0)
    return costs


def objective(family, joint, X, W, b):
    here = np.arange(joint.size)
    S = X @ W + b
    H = S + family.paid(joint)[joint.labels]
    upper = H.max(axis=1) if family is CRAMMER else np.log(np.exp(H - H.max()).sum(axis=1)) + H.max()
    value = joint.strengths @ (upper - S[here, joint.labels]) + 0.5 * (W**2).sum()
    return value + 0.5 * (b @ b if joint.bias == "regularized" else 0.0)


def softmax_optimum(joint, X):
    """By L-BFGS on the primal."""
    d, k = X.shape[1], joint.k
    here, weight = np.arange(joint.size), joint.strengths[:, None]

    def value_and_grad(v):
        W, b = v[: d * k].reshape(d, k), v[d * k :] * (joint.bias != "none")
        H = X @ W + b + SOFTMAX.paid(joint)[joint.labels]
        D = np.exp(H - H.max(axis=1, keepdims=True))
        D /= D.sum(axis=1, keepdims=True)
        D[here, joint.labels] -= 1.0
        grad_b = (weight * D).sum(axis=0) * (joint.bias != "none") + b * (joint.bias == "regularized")
        grad = np.concatenate([(W + X.T @ (weight * D)).ravel(), grad_b])
        return objective(SOFTMAX, joint, X, W, b), grad

    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 10000}
    return minimize(value_and_grad, np.zeros((d + 1) * k), jac=True, method="L-BFGS-B", options=options).fun


def crammer_optimum(joint, X):
    """By a general solver (SLSQP) on the quadratic program with slacks."""
    n, d, k = joint.size, X.shape[1], joint.k
    size = (d + 1) * k
    costs, here = CRAMMER.paid(joint)[joint.labels], np.arange(n)
    E = np.zeros((n, k, size + n))  # slack_i - (s_y + cost - s_yi) >= 0
    for c in range(k):
        E[:, c, c : d * k : k] -= X
        E[:, c, d * k + c] -= joint.bias != "none"
        E[here, c, size + here] = 1.0
    for i in range(n):
        E[i, :, joint.labels[i] : d * k : k] += X[i]
        E[i, :, d * k + joint.labels[i]] += joint.bias != "none"
    A = E.reshape(n * k, -1)
    ridge = np.concatenate([np.ones(d * k), np.full(k, float(joint.bias == "regularized")), np.zeros(n)])
    pull = np.concatenate([np.zeros(size), joint.strengths])
    found = minimize(
        lambda v: 0.5 * (ridge * v) @ v + pull @ v,
        np.concatenate([np.zeros(size), costs.max(axis=1)]),
        jac=lambda v: ridge * v + pull,
        constraints={"type": "ineq", "fun": lambda v: A @ v - costs.ravel(), "jac": lambda v: A},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.status in (0, 8)  # 8: as far as its line search can see
    W, b = found.x[: d * k].reshape(d, k), found.x[d * k : size]
    return objective(CRAMMER, joint, X, W, b)  # its own value may lie below the optimum, by slacks that are too small


OPTIMA = [(SOFTMAX, softmax_optimum, 40), (CRAMMER, crammer_optimum, 14)]


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize(("family", "optimum", "n"), OPTIMA)
@pytest.mark.parametrize("C", [0.003, 1.0, 30.0])
@pytest.mark.parametrize("costly", [False, True])
def test_the_optimum_is_that_of_another_solver_and_the_gap_a_bound(family, optimum, n, bias, C, costly):
    joint, X = problem(bias, n=n, k=3, C=C, costs=some_costs(3) if costly else None)
    least = optimum(joint, X)
    seen = []

    def tell(work):
        value = objective(family, joint, X, work.arrays["W"], work.arrays["b"])
        if work.fresh:
            seen.append(work.primal - work.dual)
            assert work.primal == pytest.approx(value, rel=1e-10)
            assert work.dual <= least * (1 + 1e-7) + 1e-10

    W, b = climb(family, joint, Plan(tol=1e-7, epochs=20_000), tell)
    assert seen[-1] <= 1e-6 * max(1.0, least)
    assert objective(family, joint, X, W, b) == pytest.approx(least, rel=2e-6)


@pytest.mark.parametrize("family", [SOFTMAX, CRAMMER])
@pytest.mark.parametrize("bias", BIASES)
def test_the_same_bits_for_any_number_of_threads_and_after_a_rest(family, bias):
    joint, _ = problem(bias, n=700, k=5, C=3.0)
    found = []
    for threads in (1, 2, 3, 8):
        with kernels.threads(threads):
            W, b = climb(family, joint, Plan(tol=1e-3, epochs=200))
        found.append(W.tobytes() + b.tobytes())
    assert len(set(found)) == 1
    half = Climb(family, joint, Plan(tol=1e-3, epochs=200))
    for _ in range(3):
        half.run()
    W, b = climb(family, joint, Plan(tol=1e-3, epochs=200), saved=half.arrays)
    assert W.tobytes() + b.tobytes() == found[0]


@pytest.mark.parametrize("family", [SOFTMAX, CRAMMER])
@pytest.mark.parametrize("bias", BIASES)
def test_a_weight_of_two_is_the_row_twice(family, bias):
    joint, X = problem(bias, C=0.5)
    twice = np.repeat(np.arange(joint.size), 2)
    sparse = csr_matrix(X[twice])
    rows = CSR(sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32), sparse.data, 6)
    double = Joint(rows, joint.labels[twice], joint.strengths[twice] / 2, joint.k, None, bias)
    W, b = climb(family, joint, Plan(tol=1e-10, epochs=1_000))
    V, c = climb(family, double, Plan(tol=1e-10, epochs=1_000))
    np.testing.assert_allclose(W, V, atol=2e-4)
    if bias == "regularized":
        np.testing.assert_allclose(b, c, atol=2e-4)


def test_single_precision_rows_give_the_same_model():
    joint, _ = problem("free")
    narrow, _ = problem("free", dtype=np.float32)
    W, b = climb(SOFTMAX, joint, Plan(tol=1e-10))
    V, c = climb(SOFTMAX, narrow, Plan(tol=1e-10))
    np.testing.assert_allclose(W, V, atol=1e-5)
    np.testing.assert_allclose(b - b.mean(), c - c.mean(), atol=1e-5)


def test_many_classes_and_two():
    for k in (2, 1000):
        joint, X = problem("free", n=60, k=k)
        work = Climb(SOFTMAX, joint, Plan(tol=1e-6, epochs=300))
        climb(SOFTMAX, joint, Plan(tol=1e-6, epochs=300))
        work.run()
        assert np.isfinite(objective(SOFTMAX, joint, X, work.arrays["W"], work.arrays["b"]))


def test_scikit_learn_agrees():
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    joint, X = problem("free", n=80, k=3)
    X, kept = X.copy(), joint.strengths > 0
    W, b = climb(SOFTMAX, joint, Plan(tol=1e-10))
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=5000)
    theirs.fit(X[kept], joint.labels[kept], sample_weight=joint.strengths[kept])
    np.testing.assert_allclose(W, theirs.coef_.T, atol=1e-4)
    np.testing.assert_allclose(b - b.mean(), theirs.intercept_ - theirs.intercept_.mean(), atol=1e-4)
    plain = Joint(joint.X, joint.labels, np.ones(80), 3, None, "none")
    W, _ = climb(CRAMMER, plain, Plan(tol=1e-9, epochs=2_000))
    svm = LinearSVC(multi_class="crammer_singer", fit_intercept=False, tol=1e-9, max_iter=100_000).fit(X, joint.labels)
    np.testing.assert_allclose(W, svm.coef_.T, atol=1e-3)


def pose(loss, bias, costs=None):
    joint, _ = problem(bias, n=50, k=3)
    space = Multiclass(None if costs is None else costs.T)
    X = replace(joint.X, data=joint.X.data.astype(np.float32))
    return Objective(X, joint.labels, space, LOSSES[loss](), L2(0.7), joint.strengths, 3, bias)


def run(objective, optimizer, start=None):
    steps = []
    optimizer.minimize(objective, start or Start(objective.initial(), epochs=5000), steps.append)
    return steps


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("costs", [None, some_costs(3)])
@pytest.mark.parametrize("loss", ["log", "softmargin"])
def test_as_an_optimizer_it_finds_what_lbfgs_finds(loss, bias, costs):
    objective = pose(loss, bias, costs)
    last = run(objective, DualAscent(1e-8))[-1]
    least = objective.value(run(objective, LBFGS())[-1].params())
    assert last.value == pytest.approx(objective.value(last.params()), rel=1e-10)
    assert last.value == pytest.approx(least, rel=1e-7)
    assert last.gap <= 1e-8 * last.value


@pytest.mark.parametrize("bias", BIASES)
def test_the_hinge_with_costs_as_an_objective(bias):
    objective = pose("hinge", bias, some_costs(3))
    last = run(objective, DualAscent(1e-6))[-1]
    assert last.value == pytest.approx(objective.value(last.params()), rel=1e-10)
    assert last.gap <= 1e-6 * last.value
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1e-2, 1.0):
        moved = {name: value + scale * rng.normal(size=value.shape) for name, value in last.params().items()}
        assert objective.value(moved) >= last.value - last.gap


def test_an_optimizer_resumes_to_the_same_bits():
    objective = pose("hinge", "free")
    states = []
    DualAscent(1e-6).minimize(objective, Start(objective.initial()), lambda step: states.append(step.state()))
    last = run(objective, DualAscent(1e-6))[-1]
    again = run(objective, DualAscent(1e-6), Start(objective.initial(), epoch=2, state=states[1], epochs=5000))[-1]
    assert again.epoch == last.epoch
    assert again.params()["W"].tobytes() == last.params()["W"].tobytes()


def test_what_does_not_fit_is_refused_in_a_sentence():

    objective = pose("log", "free")
    assert DualAscent().refuse(objective) is None
    assert "Logistic" in DualAscent().refuse(replace(objective, loss=LOSSES["logistic"]()))
    assert "L2" in DualAscent().refuse(replace(objective, regularizer=L1(1.0)))
    assert "L2" in DualAscent().refuse(replace(objective, regularizer=L2(0.0)))
    assert "x 99,999,999" in DualAscent().refuse(replace(objective, k=99_999_999))
