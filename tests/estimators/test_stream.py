"""partial_fit: streams of batches, models that go on, classes that appear later."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import linnaeus
from linnaeus.errors import DataError, LinnaeusError, UsageError
from linnaeus.estimators.linear import LinearClassifier
from linnaeus.estimators.regressor import LinearRegressor
from linnaeus.optimizers import SGD, AdaGrad, Average
from linnaeus.outputs import Multiclass, OneVsRest


def blobs(n: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return 4.0 * np.eye(k, 5)[y] + rng.normal(size=(n, 5)) * 0.5, y


def batches(X: np.ndarray, y: np.ndarray, size: int = 20) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(X), size)]


@pytest.mark.parametrize("optimizer", ["auto", SGD(), AdaGrad(), Average(SGD())])
def test_a_stream_is_learned(optimizer: object) -> None:
    X, y = blobs(200, 3)
    model = LinearClassifier(optimizer=optimizer)
    for part in batches(X, y):
        model.partial_fit(*part)
    assert model.score(X, y) > 0.95


def test_a_pickled_model_goes_on_to_the_same_bits() -> None:
    X, y = blobs(120, 3)
    one = LinearClassifier(optimizer=Average(AdaGrad()))
    for part in batches(X, y):
        one.partial_fit(*part)
    other = LinearClassifier(optimizer=Average(AdaGrad()))
    for part in batches(X, y):
        other = pickle.loads(pickle.dumps(other)).partial_fit(*part)
    assert one.coef_.tobytes() == other.coef_.tobytes()


def test_a_fitted_model_goes_on() -> None:
    X, y = blobs(60, 3)
    model = LinearClassifier().fit(X, y)
    before = model.coef_.copy()
    model.partial_fit(X[:5], y[:5])
    assert model.coef_.shape == before.shape
    assert not np.array_equal(model.coef_, before)


def test_announced_classes_have_columns_before_they_come() -> None:
    X, y = blobs(30, 3)
    model = LinearClassifier().partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.coef_.shape == (3, 5)


@pytest.mark.parametrize("output", [Multiclass(), OneVsRest(), "onevsone", "auto"])
def test_classes_that_appear_later_begin_at_zero(output: object) -> None:
    X, y = blobs(120, 4)
    names = np.array(["b", "d", "a", "c"])[y]  # sorted in between those that were there before
    model = LinearClassifier(output=output, loss="log").partial_fit(X[y < 2], names[y < 2])
    seen = model.decision_function(X[y < 2]).copy()
    model.partial_fit(X[y < 3], names[y < 3])
    model.partial_fit(X, names)
    for _ in range(5):
        model.partial_fit(X, names)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    assert len(seen)
    assert model.score(X, names) > 0.95


def test_a_new_class_leaves_old_decisions_alone() -> None:
    X, y = blobs(120, 3)
    model = LinearClassifier(optimizer=SGD(rate=1e-12)).fit(X[y < 2], np.array([0, 2])[y[y < 2]])
    before = model.decision_function(X)
    model.partial_fit(X[y == 2][:1], [1])
    after = model.decision_function(X)
    assert np.allclose(after[:, 2] - after[:, 0], before, atol=1e-5)


def test_label_lists_stream() -> None:
    X, y = blobs(60, 2)
    lists = [["x"] if label else ["y", "x"] for label in y]
    model = LinearClassifier()
    model.partial_fit(X, lists).partial_fit(X, [[*row, "z"] for row in lists])
    assert model.classes_.tolist() == ["x", "y", "z"]


def test_regression_streams() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = X @ [1.0, -2.0, 0.5]
    model = LinearRegressor(regularizer="none", optimizer=SGD(rate=0.05))
    for part in batches(X, y):
        model.partial_fit(*part)
    assert np.allclose(model.coef_, [1.0, -2.0, 0.5], atol=0.05)


def test_what_cannot_stream_says_so() -> None:
    X, y = blobs(30, 2)
    with pytest.raises(UsageError, match=r"LBFGS needs all rows at once; for partial_fit use"):
        LinearClassifier(optimizer="lbfgs").partial_fit(X, y)
    with pytest.raises(DataError, match="at least two classes"):
        LinearClassifier().partial_fit(X[:1], y[:1])
    with pytest.raises(UsageError, match="a different type"):
        LinearClassifier().partial_fit(X, y).partial_fit(X, ["a"] * len(X))
    with pytest.raises(DataError, match="a different form"):
        LinearClassifier().partial_fit(X, y).partial_fit(X, [["a", "b"]] * len(X))


SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "held_out": ({"held_out": 0.2}, "held_out=0.2 has no meaning for partial_fit"),
    "held_out of no kind": ({"held_out": "x"}, "held_out='x' has no meaning"),
    "patience": ({"patience": -3}, "patience=-3 has no meaning .* leave it at 5"),
    "seconds": ({"seconds": 3}, "seconds=3 has no meaning"),
    "checkpoint": ({"checkpoint": "file"}, "checkpoint='file' has no meaning"),
    "tol": ({"tol": "x"}, "tol takes a number"),
    "epochs": ({"epochs": -2}, "epochs must be at least 1"),
    "progress": ({"progress": "zz"}, "progress takes 'bar' or a function"),
    "seed": ({"seed": "x"}, "seed takes a whole number"),
    "a schedule that follows": ({"optimizer": SGD(schedule="held_out")}, "follows the score of held-out rows"),
}


@pytest.mark.parametrize("face", [LinearClassifier, LinearRegressor])
@pytest.mark.parametrize("case", SETTINGS)
def test_settings_without_a_meaning_are_refused(case: str, face: type) -> None:
    settings, sentence = SETTINGS[case]
    with pytest.raises(LinnaeusError, match=sentence):
        face(**settings).partial_fit(*blobs(30, 2))


def test_progress_hears_of_every_batch() -> None:
    seen: list[int] = []
    model = LinearClassifier(progress=lambda record: seen.append(record.epoch), seed=np.int64(3))
    for part in batches(*blobs(60, 3)):
        model.partial_fit(*part)
    assert seen == [1, 2, 3]


def test_a_schedule_that_is_at_its_end_says_so() -> None:
    X, y = blobs(60, 3)
    model = LinearClassifier(optimizer=SGD(schedule="linear"), epochs=2)
    before = model.partial_fit(X, y).partial_fit(X, y).coef_.copy()
    with pytest.raises(UsageError, match="is zero after 2 batches, because epochs=2"):
        model.partial_fit(X, y)
    assert np.array_equal(model.coef_, before)


def test_the_penalty_is_shared_by_the_batches() -> None:
    """A stream of many small batches is not regularized more than one of few large ones."""
    X, y = blobs(400, 2)
    norms = []
    for size in (10, 100):
        model = LinearClassifier(optimizer=SGD(rate=0.1))
        for part in batches(X, y, size):
            model.partial_fit(*part)
        norms.append(float(np.linalg.norm(model.coef_)))
    assert norms[0] == pytest.approx(norms[1], rel=0.5)


def test_the_faces_are_public() -> None:
    assert linnaeus.LinearClassifier is LinearClassifier
