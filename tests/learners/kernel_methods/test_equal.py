"""Kernel learners against scikit-learn's, and against their own linear forms."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as covariances
from sklearn.kernel_ridge import KernelRidge as TheirRidge
from sklearn.svm import SVC

from linnaeus import MatrixClassifier
from linnaeus.arrays import Dense
from linnaeus.learners.kernel_methods import (
    AveragedKernelPerceptron,
    GaussianProcess,
    KernelPerceptron,
    KernelRidge,
    KernelSVM,
)
from linnaeus.optimizers.shuffle import shuffled
from linnaeus.similarities import RBF, LinearKernel, Polynomial
from linnaeus.types import Lesson

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])


def problem(k: int, n: int = 80, seed: int = 0):
    rng = np.random.default_rng(seed)
    X, T = rng.normal(size=(n, 3)), rng.normal(size=(30, 3))
    y = np.minimum((X**2).sum(axis=1) * k / 6, k - 1).astype(int)
    return X, y, T, rng.uniform(0.5, 2.0, n)


def lesson(X, y, k=None, weights=None, seed=0):
    return Lesson(
        Dense(X), y, np.ones(len(X)) if weights is None else weights, int(y.max()) + 1 if k is None else k, seed
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_have_the_decision_function_of_svc(weighted):
    X, y, T, weights = problem(2)
    given = weights if weighted else None
    ours = MatrixClassifier(learner=KernelSVM(kernel=RBF(0.5), strength=0.25, tol=1e-9)).fit(X, y, sample_weight=given)
    theirs = SVC(gamma=0.5, C=4.0, tol=1e-9).fit(X, y, sample_weight=given)
    assert np.allclose(ours.decision_function(T), theirs.decision_function(T), rtol=1e-6, atol=1e-9)
    assert len(ours.model_.rows) == len(theirs.support_)


def test_more_classes_are_each_against_the_rest():
    X, y, T, _ = problem(3)
    ours = MatrixClassifier(learner=KernelSVM(kernel=Polynomial(3), strength=2.0, tol=1e-9)).fit(X, y)
    for c in range(3):
        theirs = SVC(kernel="poly", degree=3, gamma=1.0, coef0=1.0, C=0.5, tol=1e-9).fit(X, y == c)
        assert np.allclose(ours.decision_function(T)[:, c], theirs.decision_function(T), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_is_scikit_learns_on_centered_targets(weighted):
    X, _, T, weights = problem(2)
    Y = np.random.default_rng(1).normal(size=(len(X), 2)) + 5
    given = weights if weighted else np.ones(len(X))
    ours = KernelRidge(kernel=RBF(0.5), strength=0.3).learn(lesson(X, Y, 2, given))
    mean = np.average(Y, axis=0, weights=given)
    theirs = TheirRidge(alpha=0.3, kernel="rbf", gamma=0.5).fit(X, Y - mean, sample_weight=given)
    assert np.allclose(ours.scores(Dense(T)), theirs.predict(T) + mean, rtol=1e-6)


def test_ridge_of_classes_is_least_squares_on_signs():
    X, y, T, _ = problem(3)
    ours = MatrixClassifier(learner=KernelRidge(kernel="linear", strength=0.5)).fit(X, y).decision_function(T)
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    W = np.linalg.solve(X.T @ X + 0.5 * np.eye(3), X.T @ (Y - Y.mean(axis=0)))
    assert np.allclose(ours, T @ W + Y.mean(axis=0), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_the_process_has_the_probabilities_of_scikit_learn(k):
    X, y, T, _ = problem(k)
    ours = MatrixClassifier(learner=GaussianProcess(kernel=RBF(0.5), strength=0.25)).fit(X, y)
    theirs = GaussianProcessClassifier(covariances.ConstantKernel(4.0) * covariances.RBF(1.0), optimizer=None).fit(X, y)
    assert np.allclose(ours.predict_proba(T), theirs.predict_proba(T), rtol=1e-6)
    assert (ours.predict(T) == theirs.predict(T)).all()


def test_the_mode_of_the_process_solves_kernel_logistic_regression():
    """Duals y - sigmoid(f) with f = K (y - sigmoid(f)): no slope of the log loss with strength / 2 |f|^2 is left."""
    X, y, _, _ = problem(2)
    model = GaussianProcess(kernel=RBF(0.5), strength=0.1).learn(lesson(X, y))
    f = RBF(0.5).matrix(Dense(X), Dense(X)) @ model.duals[:, 0] / 0.1
    assert np.allclose(model.duals[:, 0], y - 1 / (1 + np.exp(-f)), atol=1e-4)


@pytest.mark.parametrize("k", [2, 3])
def test_with_the_linear_kernel_it_is_the_perceptron(k):
    X, y, T, weights = problem(k)
    model = KernelPerceptron(kernel="linear", epochs=3).learn(lesson(X, y, weights=weights, seed=7))
    W, total, steps = np.zeros((3, k)), np.zeros((3, k)), 0
    for epoch in range(3):
        for i in shuffled(len(X), 7, epoch):
            s = X[i] @ W
            rival = max((c for c in range(k) if c != y[i]), key=lambda c: s[c])
            if s[y[i]] <= s[rival]:
                W[:, y[i]] += weights[i] * X[i]
                W[:, rival] -= weights[i] * X[i]
            total, steps = total + W, steps + 1
    assert np.allclose(model.scores(Dense(T)), T @ W)
    assert np.allclose(model.linear()[0], W)
    averaged = AveragedKernelPerceptron(kernel="linear", epochs=3).learn(lesson(X, y, weights=weights, seed=7))
    assert np.allclose(averaged.linear()[0], total / steps)


@pytest.mark.parametrize(
    "learner",
    [KernelPerceptron(kernel="linear"), KernelRidge(kernel="linear"), KernelSVM(kernel=Polynomial(1, 2.0, 3.0))],
    ids=repr,
)
@pytest.mark.parametrize("k", [2, 3])
def test_a_linear_kernel_has_weights_that_score_alike(learner, k):
    X, y, T, _ = problem(k)
    model = learner.learn(lesson(X, y))
    W, b = model.linear()
    assert np.allclose(T @ W + b, model.scores(Dense(T)))


@pytest.mark.parametrize("kernel", [Polynomial(2), RBF(1.0)], ids=repr)
@pytest.mark.parametrize(
    "learner", [KernelPerceptron, AveragedKernelPerceptron, KernelRidge, KernelSVM, GaussianProcess]
)
def test_xor_is_solved_by_conjunctions_and_closeness(learner, kernel):
    X, y = XOR
    chosen = learner(kernel=kernel)
    chosen = chosen if chosen.strength is None else chosen.with_strength(0.05)
    assert MatrixClassifier(learner=chosen).fit(X, y).predict(X).tolist() == y.tolist()
    assert chosen.learn(lesson(X, y)).linear() is None


@pytest.mark.parametrize("learner", [KernelPerceptron, KernelRidge, KernelSVM])
def test_xor_is_not_solved_by_the_linear_kernel(learner):
    X, y = XOR
    assert MatrixClassifier(learner=learner(kernel=LinearKernel())).fit(X, y).score(X, y) < 1


def test_far_away_points_move_least_squares_and_not_the_largest_margin():
    """Worked example 17, with the linear kernel: correctly classified points far out pull the boundary of ridge."""
    x = np.array([-2.0, -1.5, -1.0, 1.0, 1.5, 2.0])
    far = np.concatenate([x, [60.0] * 3])
    zero = {}
    for learner in (KernelRidge(kernel="linear", strength=1e-6), KernelSVM(kernel="linear", strength=1e-3, tol=1e-9)):
        for points in (x, far):
            W, b = learner.learn(lesson(points[:, None], (points > 0).astype(int))).linear()
            zero[type(learner), len(points)] = -(b[1] - b[0]) / (W[0, 1] - W[0, 0])
    assert abs(zero[KernelSVM, 9] - zero[KernelSVM, 6]) < 1e-6
    assert zero[KernelRidge, 6] == pytest.approx(0, abs=1e-6)
    assert abs(zero[KernelRidge, 9]) > 1


def test_rows_without_weight_count_nothing():
    X, y, T, weights = problem(3)
    weights[::3] = 0
    kept = weights > 0
    for learner in (KernelPerceptron(), KernelRidge(), KernelSVM()):
        some = learner.learn(lesson(X[kept], y[kept], 3, weights[kept])).scores(Dense(T))
        assert np.array_equal(learner.learn(lesson(X, y, 3, weights)).scores(Dense(T)), some)


def test_a_row_scores_alike_in_any_company():
    X, y, T, _ = problem(3)
    for learner in (KernelPerceptron(), KernelRidge(), KernelSVM(), GaussianProcess()):
        model = learner.learn(lesson(X, y))
        whole = model.scores(Dense(T))
        assert np.array_equal(np.concatenate([model.scores(Dense(T[i : i + 1])) for i in range(len(T))]), whole)
