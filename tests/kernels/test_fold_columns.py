"""Equal columns as one: the kernel against its twin, what is refused, and that the problem stays the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import LinearClassifier, kernels
from linnaeus.arrays import CSR, as_rows
from linnaeus.arrays.folded import Folded
from linnaeus.kernels import reference

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])


@st.composite
def matrices(draw):
    """Rows of few different values, so that many columns are equal; zeros may be stored, too."""
    n, d, seed = draw(st.integers(0, 8)), draw(st.integers(0, 9)), draw(st.integers(0, 1000))
    rng = np.random.default_rng(seed)
    there = rng.random((n, d)) < 0.6
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
    values = rng.choice(np.array([0.0, 1.0, -1.0], np.float32), int(there.sum()))
    return CSR(indptr, np.nonzero(there)[1].astype(np.int32), values, d)


@given(matrices(), st.sampled_from([1, 2, 3, 8]))
def test_kernel_and_twin_fold_alike(X, threads):
    ours, twin = kernels.fold_columns(X.arrays, X.width, threads), reference.fold_columns(X.arrays, X.width, 1)
    assert [part.dtype for part in ours] == [part.dtype for part in twin]
    assert [part.tolist() for part in ours] == [part.tolist() for part in twin]


@given(matrices())
def test_products_with_spread_weights_are_the_same(X):
    folded = Folded.of(X)
    W = np.random.default_rng(0).normal(size=(folded.rows.width, 3))
    wide = folded.unfolded(W)
    np.testing.assert_allclose(folded.rows.dot(W), X.dot(wide.astype(np.float64)), atol=1e-5)
    np.testing.assert_allclose((W**2).sum(axis=0), (wide.astype(np.float64) ** 2).sum(axis=0), rtol=1e-5)
    if len(W):
        np.testing.assert_allclose(folded.other(X).dot(W), X.dot(wide.astype(np.float64)), atol=1e-5)


def test_rows_with_several_equal_columns_become_shorter():
    X = as_rows(np.array([[2.0, 2.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0], [3.0, 3.0, 0.0, 0.0]], np.float32)).to_csr()
    folded = Folded.of(X)
    assert folded.rows.shape == (3, 2)
    assert folded.places.tolist() == [0, 0, 1, -1]
    np.testing.assert_allclose(folded.rows.to_scipy().toarray(), [[2 * 2**0.5, 1], [0, 1], [3 * 2**0.5, 0]], rtol=1e-6)


@each_side
@pytest.mark.parametrize(
    ("rows", "width"),
    [
        (([0, 1], [1], [1.0]), 1),
        (([0, 1], [-1], [1.0]), 1),
        (([0, 2], [0], [1.0]), 1),
        (([1, 0], [0], [1.0]), 1),
        (([0, 1], [0], [1.0]), -1),
        (([0, 1], [0], [1.0]), 1 << 31),
    ],
)
def test_what_does_not_fit_is_refused(side, rows, width):
    indptr, indices, data = rows
    arrays = np.array(indptr, np.int64), np.array(indices, np.int32), np.array(data, np.float32)
    with pytest.raises(ValueError, match="fold_columns"):
        side.fold_columns(arrays, width, 1)


@pytest.mark.parametrize("loss", ["squared_hinge", "log"])
@pytest.mark.parametrize("k", [2, 5])
def test_a_training_gives_equal_columns_their_weights(loss, k, monkeypatch):
    rng = np.random.default_rng(1)
    base = (rng.random((60, 12)) < 0.3) * rng.integers(1, 3, (60, 12))
    X = np.hstack([base, base[:, :6], base[:, :3], np.zeros((60, 1))]).astype(np.float32)
    rows, y = as_rows(X).to_csr().to_scipy(), rng.integers(k, size=60)
    plain = LinearClassifier(loss=loss, tol=1e-8).fit(rows, y)
    monkeypatch.setattr("linnaeus.learners.linear.solving.FOLDED", 0)
    folded = LinearClassifier(loss=loss, tol=1e-8).fit(rows, y)
    np.testing.assert_allclose(folded.coef_, plain.coef_, atol=1e-4)
    np.testing.assert_allclose(folded.intercept_, plain.intercept_, atol=1e-4)
