"""AdaBoost of stumps: coordinate descent on the exponential loss, and a linear model."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import MatrixClassifier, Recipe, threads
from linnaeus.arrays import CSR, Dense
from linnaeus.errors import LinnaeusError, ModelFileError
from linnaeus.features import Words
from linnaeus.learners.ensembles import AdaBoost, FittedAdaBoost
from linnaeus.learners.ensembles.adaboost import boost, presence
from linnaeus.losses import Exponential
from linnaeus.types import LabelSets, Lesson, State


def problem(seed=0, n=60, d=12, k=2):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.3).astype(np.float64)
    y = (X[:, :k].argmax(axis=1) if k > 2 else (X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(0, 0.5, n) > 0.5)).astype(int)
    return X, y


def stumps(X):
    """+1 and -1 for each feature, and the constant."""
    return np.column_stack([np.where(X > 0, 1.0, -1.0), np.ones(len(X))])


def by_hand(X, y, weights, rounds):
    """Every coordinate tried with its best step, found where the slope of the loss is zero; the best is taken."""
    from scipy.optimize import brentq

    H, a, loss = stumps(X), np.zeros(X.shape[1] + 1), Exponential()
    for _ in range(rounds):
        F = H @ a
        steps = [brentq(lambda t, h=h, F=F: (weights * y * h) @ loss.slope(y * (F + t * h)), -9, 9) for h in H.T]
        left = [weights @ loss.value(y * (F + t * h)) for t, h in zip(steps, H.T, strict=True)]
        best = int(np.argmin(left))
        a[best] += steps[best]
    return a


@pytest.mark.parametrize("seed", range(3))
def test_it_is_coordinate_descent_on_the_exponential_loss(seed):
    X, y = problem(seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2, len(y))
    ours = boost(presence(Dense(X)), (2.0 * y - 1)[:, None], weights, 8)[:, 0]
    assert np.allclose(ours, by_hand(X, 2 * y - 1, weights, 8), atol=1e-9)


def test_the_loss_of_the_training_falls_every_round():
    X, y = problem(1)
    signs, H = 2.0 * y - 1, stumps(X)
    losses = [len(y)]
    for rounds in range(1, 40):
        a = boost(presence(Dense(X)), signs[:, None], np.ones(len(y)), rounds)[:, 0]
        losses.append(Exponential().value(signs * (H @ a)).sum())
    assert (np.diff(losses) < 0).all()


def test_a_step_is_half_the_log_odds_of_being_right():
    X, signs = np.array([[1.0], [1.0], [1.0], [0.0]]), np.array([[1.0], [1.0], [-1.0], [-1.0]])
    a = boost(presence(Dense(X)), signs, np.ones(4), 1)
    assert np.allclose(a, [[0.5 * np.log(3)], [0]])  # wrong on one row of four


@pytest.mark.parametrize("k", [2, 3])
def test_on_zeros_and_ones_it_is_linear(k):
    X, y = problem(2, k=k)
    model = AdaBoost(rounds=15).learn(Lesson(Dense(X), y, np.ones(len(y)), k))
    W, b = model.linear()
    assert W.shape == (12, k)
    assert np.allclose(X @ W + b, model.scores(Dense(X)))
    F = stumps(X) @ model.steps.astype(np.float64)
    assert np.allclose(model.scores(Dense(X)), np.hstack([-F, F]) if k == 2 else 2 * F)
    P = model.chances(model.scores(Dense(X)))
    assert np.allclose(P.sum(axis=1), 1)
    if k == 2:
        assert np.allclose(P[:, 1], Exponential().chance(F[:, 0]))


def test_classes_are_each_told_from_the_rest():
    X, y = problem(3, k=4)
    model = AdaBoost(rounds=10).learn(Lesson(Dense(X), y, np.ones(len(y)), 4))
    for c in range(4):
        alone = boost(presence(Dense(X)), np.where(y == c, 1.0, -1.0)[:, None], np.ones(len(y)), 10)
        assert np.array_equal(model.steps[:, c], alone[:, 0].astype(np.float32))


def test_of_other_rows_only_presence_counts():
    X, y = problem(4)
    counts = X * np.random.default_rng(0).integers(2, 9, X.shape)
    model = AdaBoost(rounds=10).learn(Lesson(Dense(counts), y, np.ones(len(y)), 2))
    plain = AdaBoost(rounds=10).learn(Lesson(Dense(X), y, np.ones(len(y)), 2))
    assert model.linear() is None
    assert np.array_equal(model.scores(Dense(counts)), plain.scores(Dense(X)))
    assert np.array_equal(model.scores(Dense(-counts)), model.scores(Dense(0 * X)))  # below zero is not there


def test_label_sets_are_votes_of_their_own():
    X, _ = problem(5)
    given = [np.flatnonzero(row[:3]) for row in X]
    y = LabelSets(np.cumsum([0] + [len(row) for row in given]), np.concatenate(given).astype(np.int32))
    model = AdaBoost(rounds=10).learn(Lesson(Dense(X), y, np.ones(len(X)), 3))
    assert np.array_equal(model.scores(Dense(X)) > 0, X[:, :3] > 0)
    assert ((model.chances(model.scores(Dense(X))) > 0.5) == (X[:, :3] > 0)).all()


def test_a_perfect_stump_has_a_bounded_step_and_ends_it():
    X = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3)
    signs = np.array([1.0] * 3 + [-1.0] * 3)[:, None]
    for rounds in (1, 50):
        a = boost(presence(Dense(X)), signs, np.ones(6), rounds)
        assert np.allclose(a[:, 0], [0.5 * np.log(11), 0, 0])


def test_where_no_stump_helps_it_ends():
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    exclusive = np.array([[-1.0], [1.0], [1.0], [-1.0]])
    assert not boost(presence(Dense(corners)), exclusive, np.ones(4), 100).any()


def test_weights_count_as_rows():
    X, y = problem(6)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    signs = (2.0 * y - 1)[:, None]
    rows = np.repeat(np.arange(len(y)), times)
    several = boost(presence(Dense(X[rows])), signs[rows], np.ones(len(rows)), 10)
    assert np.allclose(boost(presence(Dense(X)), signs, times.astype(np.float64), 10), several)


def test_a_class_without_rows_never_wins():
    X, y = problem(7)
    model = AdaBoost(rounds=5).learn(Lesson(Dense(X), y, np.ones(len(y)), 3))
    assert (model.scores(Dense(X)).argmax(axis=1) < 2).all()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_any_number_of_threads_gives_the_same_bits(count):
    X, y = problem(8, n=3000, d=50, k=5)
    with threads(count):
        found = AdaBoost(rounds=20).learn(Lesson(Dense(X).to_csr(), y, np.ones(len(y)), 5)).steps.tobytes()
    assert found == AdaBoost(rounds=20).learn(Lesson(Dense(X), y, np.ones(len(y)), 5)).steps.tobytes()


def test_it_explains_itself_exactly():
    rows = [("good film", "pos"), ("bad film", "neg"), ("a good one", "pos"), ("a bad one", "neg")]
    model = Recipe(features=Words(values="binary"), learner=AdaBoost(rounds=5)).fit(rows)
    told = model.explain("so good")
    assert model.params["W"].dtype == np.float32
    assert "good" in str(told.to_json())
    assert np.allclose(model.scores(["so good"]), model.body.scores(model.features.rows(["so good"])) @ [[-1], [1]])


@pytest.mark.parametrize("rounds", [0, -1, 2.5, "many", True])
def test_rounds_that_are_no_count_are_refused(rounds):
    with pytest.raises(LinnaeusError, match="rounds"):
        AdaBoost(rounds=rounds)


@pytest.mark.parametrize(
    ("manifest", "tensors"),
    [
        ({"answers": "numbers"}, {}),
        ({"plain": 1}, {}),
        ({}, {"steps": None}),
        ({}, {"steps": np.zeros(3, np.float32)}),
        ({}, {"steps": np.zeros((0, 1), np.float32)}),
        ({}, {"steps": np.zeros((3, 1))}),
        ({}, {"steps": np.full((3, 1), np.nan, np.float32)}),
    ],
)
def test_a_hostile_state_is_refused(manifest, tensors):
    X, y = problem()
    state = AdaBoost(rounds=3).learn(Lesson(Dense(X), y, np.ones(len(y)), 2)).state()
    with pytest.raises(ModelFileError, match="damaged"):
        FittedAdaBoost.from_state(State({**state.manifest, **manifest}, {**state.tensors, **tensors}))


def test_on_matrices():
    X, y = problem(9)
    model = MatrixClassifier(learner="adaboost").fit(X, y)
    assert model.score(X, y) > 0.8
    assert np.allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))


def test_presence_leaves_out_what_is_not_above_zero():
    rows = CSR(np.array([0, 3, 4]), np.array([0, 1, 2, 1], np.int32), np.array([1.0, 0.0, 2.0, -3.0]), 3)
    found = presence(rows)
    assert found.indptr.tolist() == [0, 2, 2]
    assert found.indices.tolist() == [0, 2]
