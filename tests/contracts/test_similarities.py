"""Every similarity of the table: symmetric, positive semidefinite, the same for any cut, and back from a manifest."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.arrays import Dense
from linnaeus.errors import ModelFileError
from linnaeus.features import Letters, Words
from linnaeus.similarities import (
    RBF,
    SIMILARITIES,
    LinearKernel,
    Polynomial,
    Spectrum,
    Subsequence,
    describe,
    described,
    similarity,
)

TEXTS = [
    f"{a} {b} {c}" for a in ("a red", "one green") for b in ("apple", "pear", "elm") for c in ("tree", "falls", "")
]
TEXTS += ["", "a", "a red apple tree", "très rouge 🍎 pomme"] * 12
EXAMPLES = [
    LinearKernel(),
    Polynomial(1, 0.5, 2.0),
    Polynomial(3, 0.5, 1.0),
    RBF(0.7),
    Spectrum(2, 4),
    Spectrum(1, 1),
    Subsequence(3, 0.5),
    Subsequence(1, 1.0),
]


def rows(kernel):
    if isinstance(kernel, Spectrum | Subsequence):
        return Letters(30).fit([]).rows(TEXTS)
    return Words(values="tfidf", length="l2").fit(TEXTS).rows(TEXTS)


every = pytest.mark.parametrize("kernel", EXAMPLES, ids=repr)


def test_every_similarity_has_an_example():
    assert set(SIMILARITIES.values()) == {type(kernel) for kernel in EXAMPLES}
    assert all(isinstance(similarity(name), SIMILARITIES[name]) for name in SIMILARITIES)


@every
def test_it_is_symmetric_and_positive_semidefinite(kernel):
    X = rows(kernel)
    K = kernel.matrix(X, X)
    assert (K.shape, K.dtype) == ((len(TEXTS), len(TEXTS)), np.float64)
    assert np.allclose(K, K.T, rtol=1e-14, atol=1e-15)
    assert kernel.positive
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.abs(K).max()
    assert np.allclose(np.diagonal(K), kernel.diagonal(X), rtol=1e-12, atol=1e-15)


@every
def test_rows_are_compared_alike_in_any_company(kernel):
    X = rows(kernel)
    some, few = X.take(np.arange(3, 60)), X.take(np.arange(50, 53))
    whole = kernel.matrix(some, X)
    assert np.array_equal(kernel.matrix(few, X), kernel.matrix(X.take(np.arange(40, 60)), X)[10:13])
    assert np.allclose(whole, kernel.matrix(X, some).T, rtol=1e-13, atol=0)
    with kernels.threads(1):
        assert np.array_equal(whole, kernel.matrix(some, X))


@every
def test_dense_rows_give_the_same(kernel):
    X = rows(kernel)
    D = Dense(X.to_scipy().toarray())
    wanted = kernel.matrix(X.take(np.arange(9)), X)
    for left in (X.take(np.arange(9)), D.take(np.arange(9))):
        for right in (X, D):
            assert np.allclose(kernel.matrix(left, right), wanted, rtol=1e-12, atol=1e-15)


@every
def test_weights_are_those_of_the_sum(kernel):
    X = rows(kernel)
    duals = np.random.default_rng(0).normal(size=(len(TEXTS), 2))
    found = kernel.weights(X, duals)
    if found is not None:
        W, b = found
        assert np.allclose(X.dot(W) + b, kernel.matrix(X, X) @ duals)


@every
def test_no_rows_are_rows_too(kernel):
    X = rows(kernel)
    none = X.take(np.arange(0))
    assert kernel.matrix(none, X).shape == (0, len(TEXTS))
    assert kernel.matrix(X, none).shape == (len(TEXTS), 0)
    assert kernel.matrix(none, none).shape == (0, 0)


@every
def test_a_manifest_brings_it_back(kernel):
    assert described(describe(kernel)) == kernel


@pytest.mark.parametrize(
    "manifest", [None, {}, {"kind": "cosine"}, {"kind": "rbf", "gamma": -1}, {"kind": "rbf", "x": 1}]
)
def test_a_manifest_of_a_stranger_is_refused(manifest):
    with pytest.raises(ModelFileError, match="kernel"):
        described(manifest)
