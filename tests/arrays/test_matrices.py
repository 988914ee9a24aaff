"""Sparse and dense rows: products, slices, statistics, and the copy by columns."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus import kernels, threads
from linnaeus.arrays import CSR, Dense, Transposed, as_rows, transpose
from linnaeus.arrays.csr import hstack
from linnaeus.errors import UsageError

TYPES = [np.float32, np.float64]
each_type = pytest.mark.parametrize("dtype", TYPES)


def grid(n=40, d=11, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3)).astype(dtype)


def kinds(values):
    sparse = as_rows(sp.csr_array(values))
    return {"csr": sparse, "dense": Dense(values), "transposed": Transposed(sparse)}


@each_type
@pytest.mark.parametrize("k", [0, 1, 3, 20, 50])
def test_all_kinds_of_rows_give_the_same_bits(dtype, k):
    values, rng = grid(dtype=dtype), np.random.default_rng(k)
    W, D = rng.normal(size=(11, k)), rng.normal(size=(40, k))
    scores, slopes = ([call(X) for X in kinds(values).values()] for call in (lambda X: X.dot(W), lambda X: X.tdot(D)))
    assert len({out.tobytes() for out in scores}) == len({out.tobytes() for out in slopes}) == 1
    np.testing.assert_allclose(scores[0], values.astype(float) @ W, atol=1e-12)
    np.testing.assert_allclose(slopes[0], values.astype(float).T @ D, atol=1e-12)


@pytest.mark.parametrize("kind", ["csr", "dense", "transposed"])
def test_threads_change_no_bit(kind):
    values, rng = grid(3000, 200), np.random.default_rng(1)
    X, W, D = kinds(values)[kind], rng.normal(size=(200, 20)), rng.normal(size=(3000, 20))
    found = set()
    for count in (1, 2, 3, 8):
        with kernels.threads(count):
            found.add((X.dot(W).tobytes(), X.tdot(D).tobytes(), X.squares().tobytes()))
    assert len(found) == 1


@pytest.mark.parametrize("kind", ["csr", "dense", "transposed"])
def test_blocks_of_any_layout_and_type(kind):
    values, rng = grid(), np.random.default_rng(2)
    X, W = kinds(values)[kind], rng.integers(-9, 9, (11, 6))
    wanted = values @ W
    for block in (W, W.astype(np.float32), np.asfortranarray(W), W.astype(np.int8), W.astype(float)[::1], W > 100):
        found = X.dot(block)
        assert found.dtype == np.float64
        assert found.flags.c_contiguous
        np.testing.assert_allclose(found, wanted if block.dtype != bool else 0 * wanted, atol=1e-12)
    np.testing.assert_allclose(X.dot(W[:, ::2]), wanted[:, ::2], atol=1e-12)
    np.testing.assert_allclose(X.dot(W[:, 0]), wanted[:, 0], atol=1e-12)
    assert X.dot(W[:, 0]).shape == (40,)
    assert X.tdot(np.ones(40)).shape == (11,)


@pytest.mark.parametrize("kind", ["csr", "dense", "transposed"])
def test_blocks_that_do_not_fit_are_refused(kind):
    X = kinds(grid())[kind]
    for call, block in ((X.dot, (40, 2)), (X.dot, (40,)), (X.tdot, (11, 2)), (X.dot, (11, 2, 2)), (X.dot, ())):
        with pytest.raises(UsageError, match="has the shape"):
            call(np.ones(block))


@pytest.mark.parametrize("kind", ["csr", "dense", "transposed"])
def test_rows_taken_and_sliced(kind):
    values = grid()
    X, eye = kinds(values)[kind], np.eye(11)
    rows = np.array([7, 0, 7, 39])
    assert np.array_equal(X.take(rows).dot(eye), values[rows])
    for start, stop in ((0, 40), (5, 9), (5, 5), (38, 99), (9, 5), (40, 40)):
        assert np.array_equal(X.rows_slice(start, stop).dot(eye), values[start:stop])
        D = np.ones((len(values[start:stop]), 2))
        np.testing.assert_allclose(X.rows_slice(start, stop).tdot(D), values[start:stop].T @ D, atol=1e-12)
    np.testing.assert_allclose(X.squares(), (values**2).sum(axis=1), atol=1e-12)


def test_slices_share_the_values():
    X = as_rows(sp.csr_array(grid()))
    part = X.rows_slice(3, 9)
    assert np.shares_memory(part.data, X.data)
    assert np.shares_memory(part.indices, X.indices)
    assert part.nnz == len(part.data) == X.indptr[9] - X.indptr[3]
    assert np.shares_memory(Dense(grid()).rows_slice(1, 3).values, grid()) is False


@each_type
def test_dense_rows_become_sparse_ones(dtype):
    values = grid(dtype=dtype)
    X = Dense(values).to_csr()
    assert X.data.dtype == dtype
    assert X.shape == (40, 11)
    assert np.array_equal(X.to_scipy().toarray(), values)
    assert np.array_equal(X.counts(), (values != 0).sum(axis=0))
    assert np.array_equal(Dense(values).counts(), X.counts())
    assert Dense(np.zeros((0, 3))).to_csr().shape == (0, 3)


@each_type
def test_the_transposed_matrix(dtype):
    values = grid(dtype=dtype)
    X = as_rows(sp.csr_array(values))
    assert np.array_equal(transpose(X).to_scipy().toarray(), values.T)
    assert np.array_equal(transpose(transpose(X)).to_scipy().toarray(), values)
    assert transpose(X).data.dtype == dtype


def test_many_columns_go_by_columns():
    rng = np.random.default_rng(0)
    for n, d, k in [(5, 60, 9), (60, 3000, 30), (2000, 2500, 1100)]:  # small, in pieces, too many scores for pieces
        X = Transposed(as_rows(sp.random(n, d, density=0.2 if n < 100 else 0.001, random_state=rng, format="csr")))
        W, bits = rng.normal(size=(d, k)), set()
        for count in (1, 2, 3):
            with threads(count):
                bits.add(X.dot(W).tobytes())
        assert len(bits) == 1
        np.testing.assert_allclose(X.dot(W), X.X.dot(W), atol=1e-10)


def test_matrices_copy_and_pickle():
    for X in kinds(grid()).values():
        for twin in (copy.deepcopy(X), pickle.loads(pickle.dumps(X))):
            assert np.array_equal(twin.dot(np.eye(11)), X.dot(np.eye(11)))


def test_blocks_side_by_side_keep_the_wider_type():
    left, right = as_rows(sp.csr_array(grid(dtype=np.float32))), as_rows(sp.csr_array(grid(seed=1)))
    assert hstack([left, right]).data.dtype == np.float64
    assert hstack([left, left]).data.dtype == np.float32
    assert isinstance(left, CSR)
