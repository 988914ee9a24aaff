"""Kernels as features: random waves, and landmarks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem

from linnaeus import Recipe
from linnaeus.errors import DataError, InputTypeError, ModelFileError, UsageError
from linnaeus.features import Chars, Fourier, Letters, Nystrom, Shape, Words, restore
from linnaeus.learners.linear.learner import Linear
from linnaeus.similarities import RBF, LinearKernel, Polynomial, Subsequence
from linnaeus.types import State

TEXTS = [f"{a} {b}" for a in ("red", "green", "old", "young") for b in ("apple", "pear", "elm tree", "dog dog", "cat")]


def words() -> Words:
    return Words(values="tfidf", length="l2")


def test_products_of_waves_are_about_the_kernel():
    fitted, Z = Fourier(words(), width=20_000, gamma=0.5).fit_rows(TEXTS)
    X = fitted.features.rows(TEXTS)
    Z = Z.to_scipy().toarray()
    error = Z @ Z.T - RBF(0.5).matrix(X, X)
    assert np.abs(error).max() < 4 / np.sqrt(20_000)
    assert np.sqrt((error**2).mean()) < 1 / np.sqrt(20_000)


def test_waves_are_drawn_alike_for_few_and_for_many_columns():
    fitted = Fourier(words(), width=7, seed=3).fit(TEXTS)
    fresh = restore(fitted.state())
    few = fresh.rows(["dog"])
    assert "directions" not in vars(fresh)
    assert np.array_equal(few.data, fitted.rows([*TEXTS, "dog"]).data[-7:])
    assert "directions" in vars(fitted)


def test_directions_are_normal_numbers():
    D = Fourier(words(), width=2001, gamma=0.5).fit(TEXTS).directions
    assert abs(D.mean()) < 0.02
    assert abs(D.std() - 1) < 0.02
    assert np.abs(np.corrcoef(D)[np.triu_indices(len(D), 1)]).max() < 0.15
    other = Fourier(words(), width=2001, gamma=0.5, seed=1).fit(TEXTS).directions
    assert abs(np.corrcoef(D.reshape(-1), other.reshape(-1))[0, 1]) < 0.05


def test_landmarks_that_are_all_rows_give_the_kernel_itself():
    for kernel in (RBF(1.0), Polynomial(2), LinearKernel()):
        fitted, Z = Nystrom(words(), kernel, width=100).fit_rows(TEXTS)
        assert fitted.width == len(TEXTS)
        X, Z = fitted.features.rows(TEXTS), Z.to_scipy().toarray()
        assert np.allclose(Z @ Z.T, kernel.matrix(X, X), atol=2e-6)


def test_landmarks_are_those_of_scikit_learn_where_the_rows_are():
    fitted, Z = Nystrom(words(), RBF(0.5), width=8).fit_rows(TEXTS)
    X, L = (rows.to_scipy().toarray().astype(np.float64) for rows in (fitted.features.rows(TEXTS), fitted.landmarks))
    theirs = Nystroem(gamma=0.5, n_components=8, random_state=0).fit(L).transform(X)
    Z = Z.to_scipy().toarray()
    assert np.allclose(Z @ Z.T, theirs @ theirs.T, atol=1e-5)


def test_rows_that_are_alike_are_no_trouble():
    fitted, Z = Nystrom(words(), RBF(1.0), width=50).fit_rows(["red dog"] * 30 + ["cat"] * 5)
    Z = Z.to_scipy().toarray()
    assert np.allclose((Z @ Z.T)[0], [1.0] * 30 + [np.exp(-2)] * 5, atol=1e-5)
    assert np.isfinite(fitted.whitening).all()


def test_string_kernels_become_features():
    Z = Nystrom(Letters(), Subsequence(2, 0.5), width=30).fit_rows(TEXTS)[1].to_scipy().toarray()
    X = Letters().fit([]).rows(TEXTS)
    assert np.allclose(Z @ Z.T, Subsequence(2, 0.5).matrix(X, X), atol=1e-5)


@pytest.mark.parametrize("features", [Fourier(Shape(), width=300, gamma=20.0), Nystrom(Shape(), RBF(20.0))])
def test_a_linear_learner_solves_xor_on_them(features):
    """Capitals and digits: one without the other is yes."""
    rows = [("aa bb", "no"), ("AA bb", "yes"), ("aa 22", "yes"), ("AA 22", "no")] * 5
    assert Recipe(features=features, learner=Linear()).fit(rows).evaluate(rows, rounds=0).value("accuracy") == 1
    plain = Recipe(features=Shape(), learner=Linear()).fit(rows)
    assert plain.evaluate(rows, rounds=0).value("accuracy") < 1


@pytest.mark.parametrize(
    "features", [Fourier(words(), width=500), Nystrom(words(), RBF(0.5))], ids=["waves", "landmarks"]
)
def test_they_are_explained_word_by_word(features):
    rows = [(text, "animal" if text.split()[1] in ("dog", "cat") else "plant") for text in TEXTS]
    found = Recipe(features=features, learner=Linear()).fit(rows).explain("old cat")
    assert not found.exact
    assert max(found.reason("animal").parts(), key=lambda part: part.contribution).name == "cat"


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: Fourier("words"), InputTypeError, "takes an extractor"),
        (lambda: Fourier(Words(), width=0), UsageError, "at least 1"),
        (lambda: Fourier(Words(), seed=-1), UsageError, "at least 0"),
        (lambda: Fourier(Words(), gamma=0.0), UsageError, "above zero"),
        (lambda: Nystrom(Words(), "nothing"), UsageError, "no kernel 'nothing'"),
        (lambda: Nystrom(Words(), width=1.5), InputTypeError, "whole number"),
        (lambda: Nystrom(Shape()).fit([]), DataError, "there are none"),
        (lambda: Nystrom(words(), Polynomial(2, shift=-1.0)).fit(TEXTS), DataError, "not positive semidefinite"),
        (lambda: Fourier(Words(), width=10**8), UsageError, "at most 1,048,576"),
        (lambda: Fourier(Chars(1, 9), width=10**6).fit(TEXTS), DataError, "too much"),
    ],
)
def test_what_cannot_be_meant_is_said(make, error, sentence):
    with pytest.raises(error, match=sentence):
        make()


def changed(state: State, manifest=None, tensors=None) -> State:
    return State({**state.manifest, **(manifest or {})}, {**state.tensors, **(tensors or {})})


@pytest.mark.parametrize(
    "change",
    [
        {"manifest": {"width": 0}},
        {"manifest": {"width": 10**9}},
        {"manifest": {"gamma": float("nan")}},
        {"manifest": {"seed": -1}},
    ],
)
def test_damaged_waves_are_refused(change):
    with pytest.raises(ModelFileError):
        restore(changed(Fourier(words(), width=3).fit(TEXTS).state(), **change))


@pytest.mark.parametrize(
    "change",
    [
        {"manifest": {"landmarks.width": 3}},
        {"manifest": {"kernel": {"kind": "secret"}}},
        {"tensors": {"landmarks.offsets": np.array([0, 99], np.int64)}},
        {"tensors": {"landmarks.columns": np.array([10**6], np.int32)}},
        {"tensors": {"landmarks.values": np.full(3, np.nan, np.float32)}},
        {"tensors": {"whitening": np.eye(2)}},
        {"tensors": {"whitening": np.full((5, 5), np.inf)}},
    ],
)
def test_damaged_landmarks_are_refused(change):
    with pytest.raises(ModelFileError):
        restore(changed(Nystrom(words(), width=5).fit(TEXTS).state(), **change))
