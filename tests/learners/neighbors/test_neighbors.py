"""Neighbors vote: shares, ties, weights, label sets, numbers, and what is done with too few rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from linnaeus import MatrixClassifier
from linnaeus.arrays import Dense, as_rows
from linnaeus.errors import DataError, InputTypeError, ModelFileError, UsageError
from linnaeus.learners.neighbors import ByDistance, FittedNeighbors, Kernel, Neighbors, Plain
from linnaeus.types import LabelSets, Lesson, State

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]]


def lesson(X, y, weights=None, k=None):
    y = y if isinstance(y, LabelSets) else np.asarray(y)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, float)
    return Lesson(as_rows(X), y, weights, k or int(y.max()) + 1)


def test_6_one_neighbor_learns_xor():
    model = MatrixClassifier(learner=Neighbors(k=1, metric="euclidean")).fit(XOR, [0, 1, 1, 0])
    assert model.predict(XOR).tolist() == [0, 1, 1, 0]
    assert model.predict([[0.1, 0.9], [0.9, 0.8]]).tolist() == [1, 0]


def test_it_agrees_with_scikit_learn():
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(0)
    X, y, Q = rng.normal(size=(200, 4)), rng.integers(0, 3, 200), rng.normal(size=(50, 4))
    for votes, name in (("plain", "uniform"), ("distance", "distance")):
        ours = MatrixClassifier(learner=Neighbors(k=7, metric="euclidean", votes=votes)).fit(X, y)
        theirs = KNeighborsClassifier(7, weights=name).fit(X, y)
        assert np.allclose(ours.predict_proba(Q), theirs.predict_proba(Q), rtol=1e-9)


def test_of_equal_shares_the_lowest_class_wins_and_of_equally_near_rows_the_first():
    model = MatrixClassifier(learner=Neighbors(k=2, metric="euclidean")).fit([[0.0], [2.0], [2.0]], ["b", "a", "c"])
    assert model.predict([[1.0]]).tolist() == ["a"]


def test_more_neighbors_than_rows_means_all_rows():
    model = MatrixClassifier(learner=Neighbors(k=100)).fit(XOR, [0, 1, 1, 1])
    assert model.predict_proba([[1, 1]]).tolist() == [[0.25, 0.75]]


def test_a_row_without_length_has_the_first_rows_for_neighbors():
    fitted = Neighbors(k=2).learn(lesson([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0, 1, 1]))
    rows, scores = fitted.near(as_rows([[0.0, 0.0]]), 3)
    assert rows.tolist() == [[0, 1, 2]]
    assert scores.tolist() == [[0, 0, 0]]


def test_duplicates_only():
    fitted = Neighbors(k=3, votes="distance").learn(lesson([[1.0, 2.0]] * 6, [0, 1, 1, 1, 0, 0]))
    assert fitted.near(as_rows([[1.0, 2.0]]))[0].tolist() == [[0, 1, 2]]
    assert np.allclose(fitted.scores(as_rows([[1.0, 2.0]])), [[1 / 3, 2 / 3]])


def test_weights_are_votes_and_rows_of_weight_zero_have_none():
    data = lesson([[0.0], [0.1], [0.2]], [0, 1, 1], weights=[3, 1, 0])
    fitted = Neighbors(k=3, metric="euclidean").learn(data)
    assert fitted.scores(as_rows([[0.0]])).tolist() == [[0.75, 0.25]]
    with pytest.raises(DataError, match="All rows have weight zero"):
        Neighbors().learn(lesson([[0.0]], [0], weights=[0]))


def test_label_sets_and_numbers():
    sets = LabelSets(np.array([0, 1, 3, 4]), np.array([0, 0, 1, 1], np.int32))
    fitted = Neighbors(k=2, metric="euclidean").learn(lesson([[0.0], [1.0], [9.0]], sets, k=2))
    S = fitted.scores(as_rows([[0.2]]))
    assert S.tolist() == [[0.5, 0.0]]
    assert fitted.chances(S).tolist() == [[1.0, 0.5]]
    numbers = np.array([[1.0, 10.0], [3.0, 30.0], [100.0, 0.0]])
    fitted = Neighbors(k=2, metric="euclidean").learn(lesson([[0.0], [1.0], [9.0]], numbers, k=2))
    assert fitted.scores(as_rows([[0.2]])).tolist() == [[2.0, 20.0]]


def test_votes():
    near = np.array([[-1.0, -2.0, -4.0]])
    assert Plain().weigh(near, "euclidean").tolist() == [[1, 1, 1]]
    assert ByDistance().weigh(near, "euclidean").tolist() == [[1, 0.5, 0.25]]
    assert ByDistance().weigh(np.array([[1.0, 0.5]]), "cosine").tolist() == [[1, 0]]
    assert np.allclose(Kernel(width=2.0).weigh(near, "euclidean"), np.exp([[0, -3 / 8, -15 / 8]]))
    assert np.allclose(Kernel(width=0.5).weigh(np.array([[0.9, 0.4]]), "cosine"), [[1, np.exp(-1)]])
    assert np.isfinite(Kernel(width=1e-9).weigh(near, "euclidean")).all()


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "inner"])
def test_sparse_and_dense_rows_and_queries_agree(metric):
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    X, Q = (rng.integers(0, 3, (n, 6)).astype(float) for n in (40, 10))
    y = rng.integers(0, 3, 40)
    found = [
        Neighbors(k=4, metric=metric).learn(lesson(form(X), y)).near(as_rows(ask(Q)))
        for form in (np.asarray, csr_matrix)
        for ask in (np.asarray, csr_matrix)
    ]
    for rows, scores in found[1:]:
        assert np.array_equal(rows, found[0][0])
        assert np.array_equal(scores, found[0][1])


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"k": 0}, UsageError, "must be at least 1"),
        ({"k": 1.5}, InputTypeError, "whole number"),
        ({"metric": "manhattan"}, UsageError, "no metric"),
        ({"votes": "loud"}, UsageError, "no votes"),
        ({"search": "far"}, UsageError, "no search"),
        ({"votes": 3}, InputTypeError, "votes takes"),
        ({"metric": "inner", "votes": "distance"}, UsageError, "do not support the metric inner"),
    ],
)
def test_settings_that_cannot_be_meant(settings, error, sentence):
    with pytest.raises(error, match=sentence):
        Neighbors(**settings)


def test_near_refuses_no_rows():
    fitted = Neighbors().learn(lesson(XOR, [0, 1, 1, 0]))
    with pytest.raises(UsageError, match="must be at least 1"):
        fitted.near(as_rows(XOR), 0)
    assert fitted.near(as_rows(XOR), 9)[0].shape == (4, 4)


def test_it_pickles():
    fitted = Neighbors(k=2).learn(lesson(XOR, [0, 1, 1, 0]))
    before = fitted.scores(as_rows(XOR))
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).scores(as_rows(XOR)), before)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rows.columns", np.array([0, 9, 1, 0], np.int32)),
        ("rows.columns", np.array([0, -1, 1, 0], np.int32)),
        ("rows.offsets", np.array([0, 1, 9, 4], np.int64)),
        ("rows.offsets", np.array([0, 1, 4], np.int64)),
        ("rows.values", np.array([1, np.nan, 1, 1], np.float64)),
        ("rows.values", np.ones(2)),
        ("truth", np.array([0, 1, 7], np.int32)),
        ("truth", np.array([0, 1], np.int32)),
        ("weights", np.array([1.0, -1.0, 1.0])),
    ],
)
def test_a_hostile_state_is_refused(name, value):
    from scipy.sparse import csr_matrix

    state = Neighbors(k=2).learn(lesson(csr_matrix(np.array([[1.0, 0], [0, 2], [3, 4]])), [0, 1, 1])).state()
    with pytest.raises(ModelFileError):
        FittedNeighbors.from_state(State(state.manifest, state.tensors | {name: value}))


@pytest.mark.parametrize(
    "change",
    [{"k": 0}, {"k": "5"}, {"votes": {"kind": "x"}}, {"votes": 4}, {"search": None}, {"rows.width": 7}, {"classes": 1}],
)
def test_a_hostile_manifest_is_refused(change):
    state = Neighbors(k=2).learn(lesson(Dense(np.eye(3)), [0, 1, 1])).state()
    with pytest.raises(ModelFileError):
        FittedNeighbors.from_state(State(state.manifest | change, state.tensors))
