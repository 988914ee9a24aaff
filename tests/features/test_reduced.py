"""Reduced features: the leading directions of the rows, found the same way on every run."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.arrays import Dense
from linnaeus.errors import DataError, InputTypeError, ModelFileError, UsageError
from linnaeus.features import Reduced, Words
from linnaeus.features.projections import FittedReduced, directions
from linnaeus.types import State

TEXTS = ["red apple", "green apple pear", "red red rose", "iron and zinc", "zinc zinc lead", "lead and iron", ""]


def test_directions_are_singular_vectors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40)) * np.logspace(0, -2, 40)
    V = directions(Dense(X).to_csr(), 5, 0)
    _, sizes, T = np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(np.abs(np.sum(V * T[:5].T, axis=0)), 1, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(X @ V, axis=0), sizes[:5], rtol=1e-6)
    assert (V[np.abs(V).argmax(axis=0), np.arange(5)] > 0).all()


def test_rows_that_have_few_directions_keep_all_of_themselves():
    fitted, X = Reduced(Words(), width=100).fit_rows(TEXTS)
    counts = Words().fit_rows(TEXTS)[1].to_scipy().toarray()
    assert fitted.width == np.linalg.matrix_rank(counts)
    Z = X.to_scipy().toarray()
    np.testing.assert_allclose(Z @ Z.T, counts @ counts.T, atol=1e-5)
    assert (Z[-1] == 0).all()


def test_the_bits_do_not_depend_on_threads_and_follow_from_the_seed():
    found = []
    for threads in (1, 2, 5):
        with kernels.threads(threads):
            found.append(Reduced(Words(), width=3, seed=4).fit(TEXTS).projection.tobytes())
    assert len(set(found)) == 1


def test_places_share_out_the_values():
    fitted = Reduced(Words(values="tfidf", length="l2"), width=3).fit(TEXTS)
    text = "red, red apple and unknown"
    X, places = fitted.rows([text]), fitted.places([text])[0]
    sums = np.zeros(3)
    for place in places:
        sums[place.column] += place.amount
    np.testing.assert_allclose(sums, X.data, rtol=1e-5, atol=1e-7)
    assert {text[place.start : place.end] for place in places} == {"red", "apple", "and"}
    assert fitted.names() == ["direction 1", "direction 2", "direction 3"]


def test_bad_input():
    with pytest.raises(InputTypeError, match="extractor"):
        Reduced("words")
    with pytest.raises(UsageError, match="at least 1"):
        Reduced(Words(), width=0)
    with pytest.raises(DataError):
        Reduced(Words()).fit([])
    fitted = Reduced(Words(), width=2).fit(TEXTS)
    state = fitted.state()
    for wrong in (state.tensors["projection"][1:], np.full((fitted.features.width, 2), np.nan, np.float32)):
        with pytest.raises(ModelFileError):
            FittedReduced.from_state(State(state.manifest, {"projection": wrong}), fitted.features)
