"""Kernel = features: what each similarity computes without making features, made with them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from linnaeus.arrays import Dense, as_rows
from linnaeus.errors import DataError, InputTypeError, UsageError
from linnaeus.features import Chars, Letters, Words
from linnaeus.similarities import RBF, LinearKernel, Polynomial, Spectrum, Subsequence, similarity
from linnaeus.text import Normalize

TEXTS = ["the cat sat on the mat", "a cat and a dog", "dogs bark", "the mat", "x", ""]


def dense(n: int = 40, d: int = 7) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, d))


def test_scikit_learn_computes_the_same():
    A, B = dense(), dense(23)[:, ::-1].copy()
    a, b = as_rows(A), as_rows(B)
    assert np.allclose(LinearKernel().matrix(a, b), linear_kernel(A, B), rtol=1e-9)
    assert np.allclose(Polynomial(3, 0.5, 2.0).matrix(a, b), polynomial_kernel(A, B, 3, 0.5, 2.0), rtol=1e-9)
    assert np.allclose(RBF(0.3).matrix(a, b), rbf_kernel(A, B, 0.3), rtol=1e-9)


def test_the_polynomial_kernel_is_explicit_conjunctions():
    """(x . z + 1)^2 = the inner product of 1, sqrt 2 x_i, x_i^2 and sqrt 2 x_i x_j."""
    A = dense()
    i, j = np.triu_indices(A.shape[1], 1)
    ones = np.ones((len(A), 1))
    phi = np.hstack([ones, np.sqrt(2) * A, A**2, np.sqrt(2) * A[:, i] * A[:, j]])
    assert np.allclose(Polynomial(2).matrix(Dense(A), Dense(A)), phi @ phi.T, rtol=1e-9)


def test_the_polynomial_kernel_is_the_conjunction_of_blocks():
    """Without a shift, (x . z)^2 is the linear kernel of the products of every feature with every feature."""
    words = Words(values="binary")
    X, pairs = words.fit(TEXTS).rows(TEXTS), (words * words).fit(TEXTS).rows(TEXTS)
    assert np.allclose(Polynomial(2, shift=0.0).matrix(X, X), LinearKernel().matrix(pairs, pairs))


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 3), (1, 5)])
def test_the_spectrum_kernel_is_character_n_grams(low, high):
    X = Letters().fit([]).rows(TEXTS)
    grams = Chars(low, high, within="text", length="l2").fit(TEXTS).rows(TEXTS)
    assert np.allclose(Spectrum(low, high).matrix(X, X), LinearKernel().matrix(grams, grams), rtol=1e-6, atol=1e-7)


def test_a_small_decay_makes_subsequences_the_spectrum_of_runs():
    X = Letters().fit([]).rows(TEXTS)
    assert np.allclose(Subsequence(3, 1e-4).matrix(X, X), Spectrum(3, 3).matrix(X, X), atol=1e-3)


def test_single_letters_need_no_order():
    X = Letters().fit([]).rows(TEXTS)
    assert np.allclose(Subsequence(1, 0.3).matrix(X, X), Spectrum(1, 1).matrix(X, X), rtol=1e-12)


def test_the_example_of_lodhi():
    """K(car, cat) = decay^4, K(car, car) = K(cat, cat) = 2 decay^4 + decay^6: 1 / (2 + decay^2) normalized."""
    X = Letters().fit([]).rows(["car", "cat", "bat", "bar"])
    for decay in (0.2, 0.5, 0.9):
        K = Subsequence(2, decay).matrix(X, X)
        assert K[0, 1] == pytest.approx(1 / (2 + decay**2))
        assert K[1, 3] == 0  # cat and bar share only a
        assert K[0, 0] == 1


def test_a_string_that_is_too_short_is_like_nothing():
    X = Letters().fit([]).rows(["ab", "abc", ""])
    for kernel in (Spectrum(3, 4), Subsequence(3, 0.5)):
        assert kernel.matrix(X, X).tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_many_strings_are_compared_in_stretches(monkeypatch):
    X = Letters().fit([]).rows(TEXTS)
    whole = Subsequence(2, 0.5).matrix(X, X)
    monkeypatch.setattr("linnaeus.similarities.strings.CELLS", 100)
    assert np.array_equal(Subsequence(2, 0.5).matrix(X, X), whole)
    assert np.allclose(Subsequence(2, 0.5).matrix(X.take(np.arange(6)), X), whole, rtol=1e-14, atol=0)


def test_letters_are_code_points_in_order():
    fitted, X = Letters(4, Normalize(case=None)).fit_rows(["Añ🍎", "abcdef", ""])
    assert X.to_scipy().toarray().tolist() == [[66, 242, 0x1F34F, 0], [98, 99, 100, 101], [0, 0, 0, 0]]
    assert fitted.names() == ["letter 1", "letter 2", "letter 3", "letter 4"]
    assert [(p.start, p.end) for p in fitted.places(["Añ🍎"])[0]] == [(0, 1), (1, 2), (2, 3)]


def test_what_is_no_text_is_refused_by_string_kernels():
    X = Words(values="tfidf").fit(TEXTS).rows(TEXTS)
    for kernel in (Spectrum(), Subsequence()):
        for bad in (X, Dense(-np.ones((2, 2)))):
            with pytest.raises(DataError, match="use them with the features Letters"):
                kernel.matrix(bad, bad)


def test_rows_of_other_features_are_refused():
    with pytest.raises(DataError, match="3 features do not match rows of 2"):
        RBF().matrix(Dense(np.eye(3)), Dense(np.eye(2)))


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: RBF(0.0), UsageError, "above zero"),
        (lambda: RBF("wide"), InputTypeError, "takes a number"),
        (lambda: Polynomial(0), UsageError, "between 1 and 32"),
        (lambda: Polynomial(2.5), InputTypeError, "whole number"),
        (lambda: Polynomial(2, scale=-1.0), UsageError, "scale above zero"),
        (lambda: Spectrum(3, 2), UsageError, "needs 1 <= low <= high, not low=3 and high=2"),
        (lambda: Subsequence(12), UsageError, "between 1 and 9"),
        (lambda: Subsequence(3, 1.5), UsageError, "at most 1"),
        (lambda: Letters(0), UsageError, "between 1 and"),
        (lambda: Letters(normalize="nfc"), InputTypeError, "Normalize"),
        (lambda: similarity("cosine"), UsageError, "take one of linear, polynomial, rbf"),
        (lambda: similarity(3), InputTypeError, "a method matrix"),
        (lambda: similarity(RBF), InputTypeError, "a method matrix"),
    ],
)
def test_what_cannot_be_meant_is_said(make, error, sentence):
    with pytest.raises(error, match=sentence):
        make()
