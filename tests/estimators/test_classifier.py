"""LinearClassifier: pieces by name and as objects, labels of all forms, weights, costs, probabilities, ties."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import linnaeus
from linnaeus.estimators import FACES
from linnaeus.estimators.linear import LinearClassifier
from linnaeus.estimators.named import LogisticRegression
from linnaeus.estimators.regressor import LinearRegressor
from linnaeus.learners.linear.convergence import NotConverged
from linnaeus.losses import LOSSES, Hinge, Log
from linnaeus.optimizers import LBFGS, OPTIMIZERS, SGD, Average
from linnaeus.outputs import Multiclass, OneVsRest
from linnaeus.regularizers import L2, ElasticNet

RNG = np.random.default_rng(0)
Y = np.arange(90) % 3
X = 2.0 * np.eye(3, 6)[Y] + RNG.normal(size=(90, 6))
COSTS = [[0, 1, 1], [1, 0, 9], [1, 1, 0]]


def test_names_and_objects_mean_the_same() -> None:
    by_name = LinearClassifier(loss="log", regularizer="l2", optimizer="lbfgs", output="multiclass").fit(X, Y)
    by_object = LinearClassifier(loss=Log(), regularizer=L2(), optimizer=LBFGS(), output=Multiclass()).fit(X, Y)
    assert by_name.coef_.tobytes() == by_object.coef_.tobytes()


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("k", [2, 3])
def test_every_loss_learns_by_default(loss: str, k: int) -> None:
    some = k > Y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        model = LinearClassifier(loss=loss).fit(X[some], Y[some])
    assert model.score(X[some], Y[some]) > 0.7


def test_it_agrees_with_scikit_learn() -> None:
    ours = LogisticRegression(strength=0.5, tol=1e-10).fit(X, Y)
    theirs = TheirLogistic(C=2.0, tol=1e-10, max_iter=10_000).fit(X, Y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_parameters_of_pieces_are_nested() -> None:
    model = LinearClassifier(optimizer=Average(SGD(rate=0.5)))
    found = model.get_params()
    assert found["regularizer__strength"] == 1.0
    assert found["optimizer__inner__rate"] == 0.5
    model.set_params(regularizer__strength=3.0, optimizer__inner__rate=0.25, loss="hinge")
    assert model.regularizer == L2(3.0)
    assert model.optimizer == Average(SGD(rate=0.25))
    model.set_params(regularizer=ElasticNet(), regularizer__mix=0.25)
    assert model.regularizer == ElasticNet(mix=0.25)
    with pytest.raises(ValueError, match="has no parameter 'ratio'; take one of strength, mix"):
        model.set_params(regularizer__ratio=1.0)


@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
def test_faces_clone_and_pickle(face: type) -> None:
    model = clone(face()).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert all(value.dtype == np.float32 for value in again.params_.values())


def test_a_grid_over_a_pipeline_of_texts() -> None:
    texts = ["good fine film", "bad poor film", "fine good story", "poor bad story"] * 5
    labels = ["yes", "no"] * 10
    steps = make_pipeline(TfidfVectorizer(), LinearClassifier())
    grid = {"linearclassifier__regularizer__strength": [0.1, 10.0], "linearclassifier__loss": ["log", "squared_hinge"]}
    search = GridSearchCV(steps, grid, cv=2).fit(texts, labels)
    assert search.predict(["good story"]).tolist() == ["yes"]


def test_data_frames_keep_their_names() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = LinearClassifier().fit(frame, pd.Series(Y))
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.n_features_in_ == 6
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list("fedcba")])


def test_sparse_and_dense_rows_give_the_same_bits() -> None:
    holes = np.where(RNG.random(X.shape) < 0.5, X, 0.0)
    dense, thin = LinearClassifier().fit(holes, Y), LinearClassifier().fit(sparse.csr_matrix(holes), Y)
    assert dense.coef_.tobytes() == thin.coef_.tobytes()


@pytest.mark.parametrize("output", ["multiclass", "onevsrest", "onevsone"])
def test_shapes(output: str) -> None:
    model = LinearClassifier(output=output).fit(X, Y)
    assert model.coef_.shape == (3, 6)
    assert model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (90, 3)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert np.array_equal(np.argmax(model.predict_proba(X), axis=1), model.predict(X)) or output == "onevsone"


def test_two_classes_have_one_score() -> None:
    two = Y < 2
    for output in ("auto", "binary", "onevsrest", "onevsone"):
        model = LinearClassifier(output=output).fit(X[two], Y[two])
        assert model.coef_.shape == (1, 6)
        assert np.array_equal(model.decision_function(X) > 0, model.predict(X) == 1)


@pytest.mark.parametrize(
    ("loss", "output", "known"),
    [
        ("log", "auto", True),
        ("softmargin", "auto", True),
        ("probability", "auto", True),
        ("logistic", "auto", True),
        ("modified_huber", "auto", True),
        ("logistic", "multiclass", False),
        ("hinge", "auto", False),
        ("squared", "auto", False),
    ],
)
def test_probabilities_are_there_where_they_mean_something(loss: str, output: str, known: bool) -> None:
    model = LinearClassifier(loss=loss, output=output)
    assert hasattr(model, "predict_proba") is known
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        model.fit(X, Y)
    assert hasattr(model, "predict_log_proba") is known


@pytest.mark.parametrize("form", ["dense", "sparse", "lists"])
def test_label_sets(form: str) -> None:
    indicator = np.column_stack([Y == 0, Y >= 1, Y == 2]).astype(int)
    y = {
        "dense": indicator,
        "sparse": sparse.csr_array(indicator),
        "lists": [np.array(["p", "q", "r"])[row.astype(bool)].tolist() for row in indicator],
    }[form]
    model = LinearClassifier(loss="logistic").fit(X, y)
    found = model.predict(X)
    if form == "lists":
        assert model.classes_.tolist() == ["p", "q", "r"]
        assert set(found[1]) <= {"p", "q", "r"}
    else:
        assert found.shape == (90, 3)
    assert sparse.issparse(found) is (form == "sparse")
    assert model.score(X, y) > 0.7
    assert model.predict_proba(X).shape == (90, 3)


def test_costs_change_the_decision() -> None:
    """Predicting 1 where 2 is true costs nine times as much: fewer rows of class 2 are called 1."""
    plain = LogisticRegression().fit(X, Y)
    wary = LogisticRegression(costs=COSTS, decision="expected_cost").fit(X, Y)
    augmented = LinearClassifier(loss="hinge", costs=COSTS).fit(X, Y)

    def paid(model: LinearClassifier) -> float:
        return float(np.asarray(COSTS)[model.predict(X), Y].sum())

    assert paid(wary) < paid(plain)
    assert paid(augmented) < paid(LinearClassifier(loss="hinge").fit(X, Y))
    assert plain.coef_.tobytes() == wary.coef_.tobytes()


def test_class_weights() -> None:
    rare = np.r_[np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:5]]
    plain, even = (LinearClassifier(class_weight=c).fit(X[rare], Y[rare]) for c in (None, "balanced"))
    by_hand = LinearClassifier(class_weight={0: 35 / 60, 1: 35 / 10}).fit(X[rare], Y[rare])
    assert (even.predict(X[rare]) == 1).sum() >= (plain.predict(X[rare]) == 1).sum()
    assert np.allclose(even.coef_, by_hand.coef_, atol=1e-3)


def test_ties_are_shown_and_go_to_the_lowest_class() -> None:
    model = LinearClassifier(bias="none").fit(X, Y)
    rows = np.vstack([np.zeros(6), X[:2]])
    assert model.ties(rows).tolist() == [True, False, False]
    assert model.predict(rows)[0] == 0
    two = LinearClassifier(bias=False).fit(X[Y < 2], Y[Y < 2])
    assert two.ties(rows).tolist() == [True, False, False]
    assert two.predict(rows)[0] == 0


def test_a_fitted_model_holds_float32() -> None:
    model = LinearClassifier().fit(X, Y)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    assert np.allclose(model.decision_function(X), X @ model.coef_.T.astype(float) + model.intercept_)


def test_held_out_rows_stop_the_training() -> None:
    seen = []
    model = LinearClassifier(optimizer="sgd", held_out=0.3, patience=2, epochs=200, progress=seen.append).fit(X, Y)
    assert model.trace_.reason in ("no progress on held-out data", "epochs")
    assert all(record.held_out is not None for record in seen)
    assert model.n_iter_ == len(seen)


def test_what_has_not_converged_says_what_to_do() -> None:
    with pytest.warns(NotConverged, match=r"LBFGS stopped \(epochs\) after 1 iterations .* allow more epochs"):
        LinearClassifier(optimizer="lbfgs", epochs=1, tol=1e-12).fit(X, Y)


def test_repeating_is_weighting_to_the_last_bit() -> None:
    times = RNG.integers(0, 4, size=90)
    weighted = LinearClassifier().fit(X, Y, sample_weight=times)
    repeated = LinearClassifier().fit(np.repeat(X, times, axis=0), np.repeat(Y, times))
    assert weighted.coef_.tobytes() == repeated.coef_.tobytes()


@pytest.mark.parametrize("loss", ["log", "hinge", "squared_hinge", "squared", "perceptron"])
def test_threads_do_not_change_a_bit(loss: str) -> None:
    many = np.random.default_rng(1).normal(size=(3000, 40))
    y = np.argmax(many[:, :5], axis=1)
    hashes = set()
    for count in (1, 2, 3, 8):
        with linnaeus.threads(count), warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            hashes.add(LinearClassifier(loss=loss, epochs=3, bias=False).fit(many, y).coef_.tobytes())
    assert len(hashes) == 1


def test_regression_of_several_targets() -> None:
    T = X @ RNG.normal(size=(6, 2)) + [1.0, -1.0]
    model = LinearRegressor(regularizer="none").fit(X, T)
    assert np.allclose(model.predict(X), T, atol=1e-3)
    assert model.coef_.shape == (2, 6)
    one = LinearRegressor(regularizer="none").fit(X, T[:, 0])
    assert one.coef_.shape == (6,)
    assert one.intercept_ == pytest.approx(1.0, abs=1e-3)
    assert one.predict(X).shape == (90,)


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
def test_losses_of_numbers(loss: str) -> None:
    y = X[:, 0] - 2 * X[:, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        model = LinearRegressor(loss=loss).set_params(regularizer__strength=0.01).fit(X, y)
    assert model.score(X, y) > 0.9


def test_named_methods_are_what_they_say() -> None:
    for face in (f for name, f in FACES.items() if name not in ("linear-classifier", "linear-regressor")):
        model = face().fit(X, Y)
        composed = model.composed().fit(X, Y)
        assert model.coef_.tobytes() == composed.coef_.tobytes()


def test_every_optimizer_has_a_name() -> None:
    assert LinearClassifier(loss=Hinge(), output=OneVsRest(), optimizer="adagrad").fit(X, Y).score(X, Y) > 0.7
    assert set(OPTIMIZERS) >= {"sgd", "adagrad", "lbfgs"}
