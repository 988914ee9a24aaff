"""Nearest centroid: the nearest mean wins, and the scores are linear."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import MatrixClassifier
from linnaeus.arrays import as_rows
from linnaeus.errors import ModelFileError, UsageError
from linnaeus.learners.neighbors import Centroid, FittedCentroid
from linnaeus.types import LabelSets, Lesson, State


def blobs():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    return rng.normal(size=(90, 4)) + 2 * np.eye(3, 4)[y], y, rng.normal(size=(40, 4))


def test_it_agrees_with_scikit_learn():
    from sklearn.neighbors import NearestCentroid

    X, y, Q = blobs()
    ours = MatrixClassifier(learner=Centroid(metric="euclidean")).fit(X, y)
    assert ours.predict(Q).tolist() == NearestCentroid().fit(X, y).predict(Q).tolist()


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "inner"])
def test_scores_order_classes_as_the_metric_does(metric):
    X, y, Q = blobs()
    C = np.array([X[y == c].mean(axis=0) for c in range(3)])
    wanted = {
        "euclidean": -((Q[:, None] - C) ** 2).sum(axis=2),
        "cosine": Q @ C.T / np.linalg.norm(C, axis=1) / np.linalg.norm(Q, axis=1)[:, None],
        "inner": Q @ C.T,
    }[metric]
    model = MatrixClassifier(learner=Centroid(metric=metric)).fit(X, y)
    S = model.decision_function(Q)
    assert np.array_equal(S.argsort(axis=1), wanted.argsort(axis=1))
    W, b = model.model_.linear()
    assert np.allclose(as_rows(Q).dot(W) + b, S)
    assert not hasattr(model, "predict_proba")


def test_labels_are_told_from_the_rows_without_them():
    sets = LabelSets(np.array([0, 1, 2, 2]), np.array([0, 1], np.int32))
    fitted = Centroid(metric="euclidean").learn(Lesson(as_rows([[0.0], [4.0], [8.0]]), sets, np.ones(3), 2))
    S = fitted.scores(as_rows([[0.0], [3.0], [5.0]]))
    assert ((S[:, 0] > 0) == [True, False, False]).all()


def test_a_class_without_rows_and_a_center_without_length_have_scores():
    fitted = Centroid().learn(Lesson(as_rows([[1.0], [-1.0], [2.0]]), np.array([0, 0, 2]), np.ones(3), 3))
    assert fitted.scores(as_rows([[1.0]])).tolist() == [[0, 0, 1]]


def test_bad_settings_and_states_are_refused():
    with pytest.raises(UsageError, match="no metric"):
        Centroid(metric="taxi")
    state = State({"kind": "centroid"}, {"W": np.zeros((2, 2), np.float32), "b": np.zeros(3)})
    with pytest.raises(ModelFileError):
        FittedCentroid.from_state(state)
