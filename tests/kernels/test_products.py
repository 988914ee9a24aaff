"""Sparse rows times blocks: the kernels against their twins and against NumPy, for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import reference

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])
each_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])
CLASSES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 24, 25, 31, 32, 33, 70]


def make(n, d, seed=0, dtype=np.float64, most=12):
    """Rows of 0 to `most` values, some of them empty."""
    rng = np.random.default_rng(seed)
    chosen = [np.sort(rng.choice(d, rng.integers(0, min(most, d) + 1), replace=False)) for _ in range(n)]
    indptr = np.cumsum([0] + [len(row) for row in chosen]).astype(np.int64)
    indices = np.concatenate([*chosen, np.zeros(0)]).astype(np.int32)
    return indptr, indices, rng.normal(size=len(indices)).astype(dtype)


def densify(rows, d):
    indptr, indices, data = rows
    X = np.zeros((len(indptr) - 1, d))
    X[np.repeat(np.arange(len(X)), np.diff(indptr)), indices] = data
    return X


def product(call, rows, block, size, threads=1):
    out = np.full((size, block.shape[1]), np.nan)
    call(rows, block, out, threads)
    return out


@st.composite
def problems(draw):
    n, d, k = draw(st.integers(0, 12)), draw(st.integers(1, 9)), draw(st.sampled_from([0, *CLASSES]))
    types = st.sampled_from([np.float32, np.float64])
    seed = draw(st.integers(0, 1000))
    rng = np.random.default_rng(seed)
    rows = make(n, d, seed, draw(types))
    return rows, rng.normal(size=(d, k)).astype(draw(types)), rng.normal(size=(n, k)).astype(draw(types))


@given(problems(), st.integers(1, 8))
def test_the_kernels_have_the_bits_of_their_twins(problem, threads):
    rows, W, D = problem
    n, d = len(D), len(W)
    ours = product(kernels.rows_dot, rows, W, n, threads), product(kernels.rows_tdot, rows, D, d, threads)
    theirs = product(reference.rows_dot, rows, W, n), product(reference.rows_tdot, rows, D, d)
    assert [out.tobytes() for out in ours] == [out.tobytes() for out in theirs]


@each_side
@each_type
@pytest.mark.parametrize("k", CLASSES)
def test_the_formula(side, dtype, k):
    rows, rng = make(30, 17, k, dtype), np.random.default_rng(k)
    X, W, D = densify(rows, 17), rng.normal(size=(17, k)).astype(dtype), rng.normal(size=(30, k)).astype(dtype)
    np.testing.assert_allclose(product(side.rows_dot, rows, W, 30), X @ W.astype(np.float64), atol=1e-12)
    np.testing.assert_allclose(product(side.rows_tdot, rows, D, 17), X.T @ D.astype(np.float64), atol=1e-12)


@each_type
@pytest.mark.parametrize("k", [1, 6, 20, 40])
def test_many_rows_have_the_same_bits_for_any_number_of_threads(dtype, k):
    rows, rng = make(4000, 700, 1, dtype, 60), np.random.default_rng(2)
    W, D = rng.normal(size=(700, k)), rng.normal(size=(4000, k))
    for call, block, size in ((kernels.rows_dot, W, 4000), (kernels.rows_tdot, D, 700)):
        bits = {product(call, rows, block, size, threads).tobytes() for threads in (1, 2, 3, 8)}
        assert bits == {product(getattr(reference, call.__name__), rows, block, size).tobytes()}


def test_a_class_has_the_same_bits_alone_and_among_others():
    rows, rng = make(50, 20), np.random.default_rng(3)
    for call, block, size in ((kernels.rows_dot, (20, 40), 50), (kernels.rows_tdot, (50, 40), 20)):
        full = rng.normal(size=block)
        together = product(call, rows, full, size)
        for k in (1, 2, 5, 20):
            assert np.array_equal(product(call, rows, np.ascontiguousarray(full[:, :k]), size), together[:, :k])


def test_the_transposed_matrix_gives_the_same_bits():
    rows, rng = make(60, 40, most=30), np.random.default_rng(4)
    order = np.argsort(rows[1], kind="stable")
    counts = np.bincount(rows[1], minlength=40)
    owner = np.repeat(np.arange(60, dtype=np.int32), np.diff(rows[0]))
    turned = np.cumsum([0, *counts]).astype(np.int64), owner[order], rows[2][order]
    W, D = rng.normal(size=(40, 20)), rng.normal(size=(60, 20))
    assert np.array_equal(product(kernels.rows_dot, rows, W, 60), product(kernels.rows_tdot, turned, W, 60))
    assert np.array_equal(product(kernels.rows_tdot, rows, D, 40), product(kernels.rows_dot, turned, D, 40))


@each_side
@pytest.mark.parametrize("threads", [1, 8])
def test_columns_in_any_order_are_summed_all_the_same(side, threads):
    rng = np.random.default_rng(5)
    indptr, indices = np.arange(0, 20_001, 10), rng.integers(0, 50, 20_000).astype(np.int32)
    rows, D = (indptr, indices, rng.normal(size=20_000)), rng.normal(size=(2000, 8))
    X = np.zeros((2000, 50))
    np.add.at(X, (np.repeat(np.arange(2000), 10), indices), rows[2])
    np.testing.assert_allclose(product(side.rows_tdot, rows, D, 50, threads), X.T @ D, atol=1e-11)


@each_side
def test_offsets_need_not_begin_at_zero(side):
    indptr, indices, data = make(40, 9)
    W, D = np.random.default_rng(0).normal(size=(9, 3)), np.random.default_rng(1).normal(size=(10, 3))
    part, X = (indptr[20:31], indices, data), densify((indptr, indices, data), 9)[20:30]
    np.testing.assert_allclose(product(side.rows_dot, part, W, 10), X @ W, atol=1e-12)
    np.testing.assert_allclose(product(side.rows_tdot, part, D, 9), X.T @ D, atol=1e-12)
    np.testing.assert_allclose(side.row_squares(part, 1), (X**2).sum(axis=1), atol=1e-12)


BAD = {
    "descending": ([0, 2, 1], [0, 1], "offsets"),
    "beyond the values": ([0, 2, 3], [0, 1], "offsets"),
    "far beyond": ([0, 1, 1 << 62], [0, 1], "offsets"),
    "before the values": ([-1, 1, 2], [0, 1], "offsets"),
    "a column too far": ([0, 1, 2], [0, 5], "column"),
    "a negative column": ([0, 1, 2], [0, -1], "column"),
    "the least column": ([0, 1, 2], [-(2**31), 2**31 - 1], "column"),
}


@each_side
@each_type
@pytest.mark.parametrize("k", [1, 4, 40])
@pytest.mark.parametrize(("indptr", "indices", "sentence"), BAD.values(), ids=BAD)
def test_arrays_that_do_not_fit_are_refused(side, dtype, k, indptr, indices, sentence):
    rows = np.array(indptr, np.int64), np.array(indices, np.int32), np.ones(2, dtype)
    for threads in (1, 8):
        with pytest.raises(ValueError, match=sentence):
            side.rows_dot(rows, np.ones((5, k)), np.ones((2, k)), threads)
        with pytest.raises(ValueError, match=sentence):
            side.rows_tdot(rows, np.ones((2, k)), np.ones((5, k)), threads)


@each_side
@pytest.mark.parametrize("threads", [1, 8])
def test_a_column_outside_is_found_among_many(side, threads):
    indptr, indices, data = make(3000, 100, most=90)
    indices[len(indices) // 2] = 100
    with pytest.raises(ValueError, match="column"):
        side.rows_tdot((indptr, indices, data), np.ones((3000, 5)), np.ones((100, 5)), threads)


@each_side
def test_results_of_another_shape_are_refused(side):
    rows = make(3, 4)
    for call, block, out in (
        (side.rows_dot, (4, 2), (2, 2)),
        (side.rows_dot, (4, 2), (3, 1)),
        (side.rows_tdot, (2, 2), (4, 2)),
        (side.rows_tdot, (3, 2), (4, 3)),
    ):
        with pytest.raises(ValueError, match="does not fit"):
            call(rows, np.ones(block), np.ones(out), 1)


@each_side
def test_nothing_at_all(side):
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0)
    assert product(side.rows_dot, nothing, np.ones((3, 2)), 0).shape == (0, 2)
    assert product(side.rows_tdot, nothing, np.ones((0, 2)), 3).tolist() == [[0, 0]] * 3
    assert product(side.rows_tdot, nothing, np.ones((0, 2)), 0).shape == (0, 2)
    assert side.row_squares(nothing, 1).tolist() == []


@pytest.mark.native
def test_the_kernels_write_into_no_copy():
    rows = make(3, 4)
    for out in (np.ones((3, 2), np.float32), np.ones((2, 3)).T, np.ones((3, 4))[:, ::2]):
        with pytest.raises(TypeError):
            kernels.rows_dot(rows, np.ones((4, 2)), out, 1)
    with pytest.raises(TypeError):
        kernels.rows_dot((rows[0].astype(np.int32), *rows[1:]), np.ones((4, 2)), np.ones((3, 2)), 1)


@given(problems(), st.integers(1, 8))
def test_dense_rows_have_the_bits_of_their_twins_and_of_sparse_rows(problem, threads):
    rows, W, D = problem
    X = densify(rows, len(W)).astype(rows[2].dtype)
    ours = product(kernels.dense_dot, X, W, len(D), threads), product(kernels.dense_tdot, X, D, len(W), threads)
    theirs = product(reference.dense_dot, X, W, len(D)), product(reference.dense_tdot, X, D, len(W))
    sparse = product(kernels.rows_dot, rows, W, len(D)), product(kernels.rows_tdot, rows, D, len(W))
    bits = [[out.tobytes() for out in outs] for outs in (ours, theirs, sparse)]
    assert bits[0] == bits[1] == bits[2]


@pytest.mark.parametrize("k", [0, *CLASSES])
@pytest.mark.parametrize("n", [0, 1, 3, 4, 70, 131])
def test_dense_rows_in_float32_have_the_bits_of_their_twin_alone_and_beside_others(n, k):
    rng = np.random.default_rng(n * 100 + k)
    X, W = rng.normal(size=(n, 37)).astype(np.float32), rng.normal(size=(37, k)).astype(np.float32)
    outs = [np.full((n, k), np.nan, np.float32) for _ in range(3)]
    kernels.dense_dot(X, W, outs[0], 1)
    kernels.dense_dot(X, W, outs[1], 3)
    reference.dense_dot(X, W, outs[2], 1)
    assert outs[0].tobytes() == outs[1].tobytes() == outs[2].tobytes()
    for row in range(0, n, 7):
        alone = np.full((1, k), np.nan, np.float32)
        kernels.dense_dot(X[row : row + 1], W, alone, 1)
        assert alone.tobytes() == outs[0][row].tobytes()


@each_side
def test_dense_rows_in_float32_that_do_not_fit_are_refused(side):
    for block, out in (((3, 2), (5, 2)), ((4, 2), (4, 2)), ((4, 2), (5, 3))):
        with pytest.raises(ValueError, match="does not fit"):
            side.dense_dot(np.ones((5, 4), np.float32), np.ones(block, np.float32), np.ones(out, np.float32), 1)


@pytest.mark.parametrize("k", [1, 20, 40])
def test_large_dense_rows_have_the_same_bits_for_any_number_of_threads(k):
    rng = np.random.default_rng(6)
    X, W, D = rng.normal(size=(301, 203)), rng.normal(size=(203, k)), rng.normal(size=(301, k))
    for call, block, size in ((kernels.dense_dot, W, 301), (kernels.dense_tdot, D, 203)):
        bits = {product(call, X, block, size, threads).tobytes() for threads in (1, 2, 3, 8)}
        assert bits == {product(getattr(reference, call.__name__), X, block, size).tobytes()}


@each_side
def test_dense_blocks_that_do_not_fit_are_refused(side):
    for call, block, out in (
        (side.dense_dot, (3, 2), (5, 2)),
        (side.dense_dot, (4, 2), (4, 2)),
        (side.dense_dot, (4, 2), (5, 3)),
        (side.dense_tdot, (4, 2), (4, 2)),
        (side.dense_tdot, (5, 2), (5, 2)),
        (side.dense_tdot, (5, 2), (4, 1)),
    ):
        with pytest.raises(ValueError, match="does not fit"):
            call(np.ones((5, 4)), np.ones(block), np.ones(out), 1)


@given(problems(), st.integers(1, 9), st.integers(1, 8))
def test_products_by_columns_have_the_bits_of_their_twin(problem, pieces, threads):
    rows, W, D = problem
    columns = kernels.transpose(rows, len(W), 1)
    ours, theirs = np.full((2, len(D), W.shape[1]), np.nan)
    kernels.columns_dot(columns, W, ours, pieces, threads)
    reference.columns_dot(columns, W, theirs, pieces, 1)
    assert ours.tobytes() == theirs.tobytes()
    np.testing.assert_allclose(ours, densify(rows, len(W)) @ W.astype(np.float64), atol=1e-10)


@pytest.mark.parametrize("k", [1, 6, 20, 40])
def test_one_piece_of_columns_has_the_bits_of_the_rows(k):
    rows, W = make(4000, 700, 1, np.float64, 60), np.random.default_rng(2).normal(size=(700, k))
    columns, bits = kernels.transpose(rows, 700, 2), set()
    for pieces in (1, 8):
        for threads in (1, 2, 3, 8):
            out = np.empty((4000, k))
            kernels.columns_dot(columns, W, out, pieces, threads)
            bits.add((pieces, out.tobytes()))
    assert len(bits) == 2
    assert (1, product(kernels.rows_dot, rows, W, 4000).tobytes()) in bits


@each_side
def test_products_by_columns_refuse_what_does_not_fit(side):
    columns = np.array([0, 1, 2]), np.array([0, 5], np.int32), np.ones(2)
    for W, out, pieces, said in [
        (np.ones((2, 4)), np.empty((5, 4)), 1, "outside the result"),
        (np.ones((2, 4)), np.empty((5, 4)), 2, "outside the result"),
        (np.ones((3, 4)), np.empty((6, 4)), 1, "does not fit"),
        (np.ones((2, 4)), np.empty((6, 3)), 1, "does not fit"),
        (np.ones((2, 4)), np.empty((6, 4)), 0, "pieces"),
        (np.ones((2, 4)), np.empty((6, 4)), 1025, "pieces"),
    ]:
        with pytest.raises(ValueError, match=said):
            side.columns_dot(columns, W, out, pieces, 2)
