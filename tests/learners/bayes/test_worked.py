"""Worked examples 1, 17 and 19 as far as they are about counting and Gaussians."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import LinearRegressor, MatrixClassifier, Recipe
from linnaeus.arrays.numerics import sigmoid
from linnaeus.features import Words
from linnaeus.learners.bayes import Frequencies, LinearDiscriminant

SYMBOLS = [("★ ⋄ ○", "-1"), ("★ ♡ △", "-1"), ("★ △ ♠", "+1"), ("⋄ △ ○", "+1")]


def test_1_shares_of_symbols():
    model = Recipe(features=Words(tokenizer="whitespace"), learner=Frequencies()).fit(SYMBOLS)
    names, classes = list(model.features.names()), model.classes.tolist()
    P = model.body.learner.shares(model.body.counts)
    minus = {name: P[names.index(name), classes.index("-1")] for name in names}
    assert minus == pytest.approx({"★": 2 / 3, "⋄": 1 / 2, "♡": 1.0, "△": 1 / 3, "○": 1 / 2, "♠": 0.0})
    assert P[names.index("★"), classes.index("+1")] == pytest.approx(1 / 3)


def test_1_answers_and_a_tie_that_can_be_seen():
    model = Recipe(features=Words(tokenizer="whitespace"), learner=Frequencies()).fit(SYMBOLS)
    texts = ["★ ⋄ ○", "★ ⋄ ♡", "★ △ ○", "○ △ ★"]
    X = model.features.rows(texts)
    products = np.exp(model.body.scores(X))
    at = {name: i for i, name in enumerate(model.classes.tolist())}
    assert products[0, at["-1"]] == pytest.approx(1 / 6)
    assert products[1, at["-1"]] == pytest.approx(1 / 3)
    assert products[1, at["+1"]] < 1e-20
    assert products[2] == pytest.approx([1 / 9, 1 / 9])
    S = model.body.scores(X)
    assert (S[2:, 0] == S[2:, 1]).all()
    assert model.scores(texts[2:]).tolist() == [[0.0], [0.0]]
    assert model.probabilities(texts[2:]).tolist() == [[0.5, 0.5]] * 2
    assert model.predict(texts).tolist() == ["-1", "-1", "+1", "+1"]  # of equals the first class


def test_1_a_symbol_that_was_never_seen_says_nothing():
    model = Recipe(features=Words(tokenizer="whitespace"), learner=Frequencies()).fit(SYMBOLS)
    assert model.scores(["★ ☂"]).tolist() == model.scores(["★"]).tolist()


def test_17_far_points_move_least_squares_and_gaussians_alike():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal([3.0, 1.0], size=(40, 2))])
    y = np.repeat([-1.0, 1.0], 40)
    far = np.vstack([X, rng.normal([30.0, -30.0], size=(20, 2))]), np.concatenate([y, np.ones(20)])
    turns = []
    for rows, truth in ((X, y), far):
        squares = LinearRegressor(loss="squared", regularizer="none", tol=1e-10).fit(rows, truth).coef_.ravel()
        W, _ = MatrixClassifier(learner=LinearDiscriminant()).fit(rows, truth).model_.linear()
        plane = W[:, 1] - W[:, 0]
        cosine = squares @ plane / np.linalg.norm(squares) / np.linalg.norm(plane)
        assert cosine == pytest.approx(1.0, abs=1e-6)  # one direction: Fisher's
        turns.append(plane / np.linalg.norm(plane))
    assert turns[0] @ turns[1] < 0.9


def test_19_two_gaussians_with_one_covariance_have_a_sigmoid_of_a_plane():
    C, means, priors = np.array([[2.0, 0.6], [0.6, 1.0]]), np.array([[0.0, 0.0], [1.0, -1.0]]), (0.3, 0.7)
    # Rows whose means and covariance are exactly these.
    root = np.linalg.cholesky(C) * np.sqrt(2)
    X = np.vstack([mean + sign * root[:, i] for mean in means for i in (0, 1) for sign in (-1, 1)])
    y = np.repeat([0, 1], 4)
    model = MatrixClassifier(learner=LinearDiscriminant(priors=priors)).fit(X, y)
    points = np.random.default_rng(1).normal(size=(50, 2))
    A = np.linalg.inv(C)
    w = A @ (means[1] - means[0])
    b = np.log(0.7 / 0.3) - 0.5 * (means[1] @ A @ means[1] - means[0] @ A @ means[0])
    np.testing.assert_allclose(model.predict_proba(points)[:, 1], sigmoid(points @ w + b), rtol=1e-9)
    density = [
        p * np.exp(-0.5 * np.einsum("ni,ij,nj->n", points - m, A, points - m))
        for p, m in zip(priors, means, strict=True)
    ]
    np.testing.assert_allclose(model.predict_proba(points)[:, 1], density[1] / sum(density), rtol=1e-9)
