"""Scores and probabilities are those of scikit-learn, to 1e-6 of their size, in float64."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB

from linnaeus import MatrixClassifier
from linnaeus.learners.bayes import (
    Bernoulli,
    Complement,
    Gaussian,
    LinearDiscriminant,
    Multinomial,
    QuadraticDiscriminant,
)

PRIORS = (0.5, 0.2, 0.3)

COUNTING = [
    (Multinomial(), MultinomialNB()),
    (Multinomial(smoothing=0.01, priors=PRIORS), MultinomialNB(alpha=0.01, class_prior=PRIORS)),
    (Bernoulli(), BernoulliNB()),
    (Bernoulli(smoothing=0.3, threshold=1.5), BernoulliNB(alpha=0.3, binarize=1.5)),
    (Bernoulli(priors=PRIORS), BernoulliNB(class_prior=PRIORS)),
    (Complement(), ComplementNB()),
    (Complement(smoothing=0.1, length="l1"), ComplementNB(alpha=0.1, norm=True)),
]


def counts(n: int = 90, d: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    y = rng.choice(["ant", "bee", "cat"], n, p=[0.6, 0.3, 0.1])
    rates = {name: rng.gamma(0.5, 1.0, d) for name in ("ant", "bee", "cat")}
    return np.array([rng.poisson(rates[name]) for name in y], np.float64), y, rng.uniform(0.1, 3.0, n)


def numbers(n: int = 120, d: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    y = rng.choice([3, 7, 9], n)
    mixes = {name: rng.normal(size=(d, d)) for name in (3, 7, 9)}
    X = np.array([rng.normal(size=d) @ mixes[name] + name for name in y]) * np.logspace(-1, 1, d) + 20
    return X, y, rng.uniform(0.1, 3.0, n)


def agree(ours: MatrixClassifier, theirs: object, X: object) -> None:
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6, atol=1e-300)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("learner", "theirs"), COUNTING, ids=lambda item: repr(item))
def test_counting(learner, theirs, form, weighted):
    X, y, weights = counts()
    given = weights if weighted else None
    ours = MatrixClassifier(learner=learner).fit(form(X), y, given)
    theirs.fit(form(X), y, given)
    np.testing.assert_allclose(ours.decision_function(form(X)), theirs.predict_joint_log_proba(form(X)), rtol=1e-6)
    agree(ours, theirs, form(X))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("settings", [{}, {"smoothing": 0.01}, {"priors": PRIORS}])
def test_gaussian(settings, form, weighted):
    X, y, weights = counts()  # zeros, and columns that are constant in a class
    given = weights if weighted else None
    theirs = GaussianNB(var_smoothing=settings.get("smoothing", 1e-9), priors=settings.get("priors"))
    theirs.fit(X, y, given)
    ours = MatrixClassifier(learner=Gaussian(**settings)).fit(form(X), y, given)
    np.testing.assert_allclose(ours.decision_function(form(X)), theirs.predict_joint_log_proba(X), rtol=1e-6)


def test_gaussian_where_means_are_far_from_zero():
    X, y, weights = numbers()
    X += 1e5
    theirs, ours = GaussianNB().fit(X, y, weights), MatrixClassifier(learner=Gaussian()).fit(X, y, weights)
    np.testing.assert_allclose(ours.decision_function(X), theirs.predict_joint_log_proba(X), rtol=1e-6)
    agree(ours, theirs, X)


@pytest.mark.skipif(version("scikit-learn") < "1.9", reason="divided by n - k before")
def test_linear_discriminants_are_those_of_the_default():
    X, y, _ = numbers()
    X = np.hstack([X, np.full((len(X), 1), 3.0), X[:, :1]])  # a constant column, and one that is there twice
    theirs, ours = LinearDiscriminantAnalysis().fit(X, y), MatrixClassifier(learner="linear_discriminant").fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6)
    agree(ours, theirs, X)


@pytest.mark.parametrize("priors", [None, PRIORS])
@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0, "auto"])
def test_linear_discriminants_with_shrinkage(shrinkage, solver, priors):
    X, y, _ = numbers()
    theirs = LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage, priors=priors).fit(X, y)
    ours = MatrixClassifier(learner=LinearDiscriminant(shrinkage=shrinkage, priors=priors)).fit(sparse.csr_matrix(X), y)
    S, T = ours.decision_function(X), theirs.decision_function(X)
    # What all classes share says nothing; these solvers leave it in, the default and we do not.
    np.testing.assert_allclose(S - S[:, :1], T - T[:, :1], rtol=1e-6, atol=1e-6)
    agree(ours, theirs, X)


def test_linear_discriminants_of_two_classes():
    X, y, _ = numbers()
    X, y = X[y != 9], y[y != 9]
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X, y)
    ours = MatrixClassifier(learner=LinearDiscriminant(shrinkage="auto")).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6)


@pytest.mark.parametrize("priors", [None, PRIORS])
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, "auto"])
def test_quadratic_discriminants(shrinkage, priors):
    X, y, _ = numbers()
    theirs = QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=shrinkage, priors=priors).fit(X, y)
    ours = MatrixClassifier(learner=QuadraticDiscriminant(shrinkage=shrinkage, priors=priors)).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6)
    agree(ours, theirs, X)


def test_quadratic_discriminants_are_those_of_the_default():
    X, y, _ = numbers()
    theirs, ours = (
        QuadraticDiscriminantAnalysis().fit(X, y),
        MatrixClassifier(learner="quadratic_discriminant").fit(X, y),
    )
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6)


@pytest.mark.parametrize(
    "learner",
    [
        *(LinearDiscriminant(shrinkage=s) for s in (0.0, 0.2, "auto")),
        *(QuadraticDiscriminant(shrinkage=s) for s in (0.0, 0.2, "auto")),
    ],
    ids=repr,
)
def test_a_weight_of_three_is_three_rows(learner):
    X, y, _ = numbers(60, 3)
    times = np.random.default_rng(3).integers(1, 4, len(y))
    weighted = MatrixClassifier(learner=learner).fit(X, y, times.astype(float))
    repeated = MatrixClassifier(learner=learner).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6)
