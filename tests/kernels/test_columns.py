"""Sparse matrices by columns: transposing, products and descent, the kernels against their twins and the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import reference

BOTH = [kernels, reference]
TYPES = [np.float32, np.float64]


def lay_out(dense, dtype=np.float64):
    """A dense matrix as the three arrays of its rows."""
    rows, columns = np.nonzero(dense)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(dense)))]).astype(np.int64)
    return offsets, columns.astype(np.int32), dense[rows, columns].astype(dtype)


def make(n, d, seed, share=0.3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * (rng.random((n, d)) < share)


sizes = st.tuples(st.integers(0, 30), st.integers(0, 12), st.integers(0, 99))


@given(sizes, st.sampled_from(TYPES), st.integers(1, 8))
def test_transposing_has_the_bits_of_its_twin_and_is_the_transposed_matrix(size, dtype, threads):
    n, d, seed = size
    dense = make(n, d, seed)
    ours = kernels.transpose(lay_out(dense, dtype), d, threads)
    theirs = reference.transpose(lay_out(dense, dtype), d, 1)
    wanted = lay_out(dense.T, dtype)
    for a, b, c in zip(ours, theirs, wanted, strict=True):
        assert a.dtype == b.dtype == c.dtype
        assert a.tobytes() == b.tobytes() == c.tobytes()


def test_transposing_rows_that_are_not_sorted_or_name_a_column_twice():
    rows = np.array([0, 3, 3, 4], np.int64), np.array([2, 0, 2, 1], np.int32), np.array([1, 2, 3, 4], np.float32)
    for module in BOTH:
        offsets, indices, values = module.transpose(rows, 3, 2)
        assert offsets.tolist() == [0, 1, 2, 4]
        assert indices.tolist() == [0, 2, 0, 0]
        assert values.tolist() == [2, 4, 1, 3]


@given(sizes, st.sampled_from(TYPES), st.integers(1, 8))
def test_products_are_those_of_the_twins_and_of_the_matrix(size, dtype, threads):
    n, d, seed = size
    dense = make(n, d, seed).astype(dtype)
    columns = kernels.transpose(lay_out(dense, dtype), d, 1)
    vector = np.random.default_rng(seed).standard_normal(n)
    picked = np.arange(0, d, 2, dtype=np.int32)
    times = np.random.default_rng(seed).standard_normal(len(picked))
    for module in BOTH:
        np.testing.assert_allclose(module.correlate(columns, vector, threads), dense.T @ vector, atol=1e-12)
        block = np.outer(vector, [1.0, -2.0]).ravel()
        both = module.correlate_block(columns, block, 2, threads).reshape(2, d)
        np.testing.assert_allclose(both, np.stack([dense.T @ vector, -2.0 * (dense.T @ vector)]), atol=1e-12)
        total = np.full(n, 7.0)
        module.combine(columns, picked, times, total)
        np.testing.assert_allclose(total, dense[:, picked].astype(float) @ times, atol=1e-12)
    ours, theirs = (module.correlate(columns, vector, threads) for module in BOTH)
    tol = reference.TOLERANCES["correlate"].doubles
    np.testing.assert_allclose(ours, theirs, rtol=tol, atol=tol)
    totals = [np.empty(n), np.empty(n)]
    for module, total in zip(BOTH, totals, strict=True):
        module.combine(columns, picked, times, total)
    assert totals[0].tobytes() == totals[1].tobytes()


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_products_have_the_same_bits_for_any_number_of_threads(threads):
    dense = make(60, 5000, 0)
    columns = kernels.transpose(lay_out(dense), 5000, threads)
    vector = np.random.default_rng(0).standard_normal(60)
    alone = kernels.correlate(columns, vector, 1)
    assert kernels.correlate(columns, vector, threads).tobytes() == alone.tobytes()
    block = np.random.default_rng(1).standard_normal((60, 7))
    together = kernels.correlate_block(columns, block.ravel(), 7, threads).reshape(7, -1)
    for j in range(7):
        one = kernels.correlate_block(columns, block[:, j].copy(), 1, 1)
        assert one.tobytes() == together[j].tobytes()


def quadratic(dense, model, start, v, b):
    """The objective `descend` brings down, without its penalty."""
    slope, curvature = model
    moved = dense @ (v - start) + b
    return slope @ moved + 0.5 * curvature @ moved**2


@given(sizes, st.sampled_from(TYPES), st.sampled_from([(0.3, 0.0), (0.1, 0.5), (0.0, 1.0)]), st.integers(0, 1))
def test_descent_goes_the_way_of_its_twin(size, dtype, penalty, bias):
    n, d, seed = size
    dense = make(n, d, seed).astype(dtype)
    columns = kernels.transpose(lay_out(dense, dtype), d, 1)
    rng = np.random.default_rng(seed)
    model = rng.standard_normal(n), rng.random(n)
    picked = np.arange(d, dtype=np.int32)[::-1].copy()
    start = rng.standard_normal(d)
    ends = []
    for module in BOTH:
        place = start.copy(), np.zeros(bias), np.empty(n)
        ends.append((*place, *module.descend(columns, picked, model, place, penalty, (4, 1e-3))))
    for a, b in zip(*ends, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-8, rtol=reference.TOLERANCES["descend"].doubles)
    weights, level, moved = ends[0][:3]
    wanted = dense[:, picked].astype(float) @ (weights - start) + level.sum()
    np.testing.assert_allclose(moved, wanted, atol=1e-8, rtol=1e-6)


@pytest.mark.parametrize("module", BOTH)
@pytest.mark.parametrize("bias", [0, 1])
@pytest.mark.parametrize("begin", [0.0, 3.0, -0.01])
def test_descent_ends_where_the_penalized_model_has_its_minimum(module, bias, begin):
    dense = make(40, 6, 3)
    columns = reference.transpose(lay_out(dense), 6, 1)
    rng = np.random.default_rng(1)
    model = rng.standard_normal(40), 0.1 + rng.random(40)
    l1, l2 = 1.0, 0.2
    weights, level, moved = np.full(6, begin), np.zeros(bias), np.empty(40)
    module.descend(columns, np.arange(6, dtype=np.int32), model, (weights, level, moved), (l1, l2), (500, 1e-12))
    slope = model[0] + model[1] * moved
    gradient = dense.T @ slope + l2 * weights
    assert begin == 3.0 or 0 < (weights == 0).sum() < 6
    assert np.abs(gradient[weights == 0]).max(initial=0.0) <= l1
    np.testing.assert_allclose(gradient[weights != 0], -l1 * np.sign(weights[weights != 0]), atol=1e-8)
    if bias:
        assert abs(slope.sum()) < 1e-8


@pytest.mark.parametrize("module", BOTH)
def test_a_constant_column_and_an_empty_one_do_no_harm(module):
    columns = reference.transpose(lay_out(np.array([[1.0, 0.0], [1.0, 0.0]])), 2, 1)
    place = np.zeros(2), np.zeros(1), np.empty(2)
    module.descend(columns, np.arange(2, dtype=np.int32), (np.ones(2), np.ones(2)), place, (0.1, 0.0), (10, 1e-3))
    assert place[0].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(place[1], -1.0)


@pytest.mark.parametrize("module", BOTH)
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"offsets": np.array([0, 9, 9], np.int64)}, "offsets"),
        ({"offsets": np.array([0, 2, 1], np.int64)}, "offsets"),
        ({"offsets": np.array([-1, 1, 2], np.int64)}, "offsets"),
        ({"indices": np.array([0, 5], np.int32)}, "an index"),
        ({"indices": np.array([0, -1], np.int32)}, "an index"),
        ({"picked": np.array([0, 2], np.int32)}, "picked"),
        ({"picked": np.array([-1, 0], np.int32)}, "picked"),
        ({"weights": np.zeros(3)}, "weight|number"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(module, change, sentence):
    given = {
        "offsets": np.array([0, 1, 2], np.int64),
        "indices": np.array([0, 1], np.int32),
        "picked": np.array([0, 1], np.int32),
        "weights": np.zeros(2),
    } | change
    columns = given["offsets"], given["indices"], np.ones(2)
    model, place = (np.ones(2), np.ones(2)), (given["weights"], np.zeros(1), np.zeros(2))
    with pytest.raises(ValueError, match=sentence):
        module.descend(columns, given["picked"], model, place, (1.0, 0.0), (1, 0.1))
    with pytest.raises(ValueError, match=sentence):
        module.combine(columns, given["picked"], given["weights"], np.zeros(2))
    if "offsets" in change or "indices" in change:
        with pytest.raises(ValueError, match=sentence):
            module.correlate(columns, np.zeros(2), 1)
        with pytest.raises(ValueError, match=sentence):
            module.correlate_block(columns, np.zeros(4), 2, 1)
        with pytest.raises(ValueError, match=sentence):
            module.transpose(columns, 2, 2)


@pytest.mark.parametrize("module", BOTH)
def test_sizes_of_the_model_must_agree(module):
    columns = np.array([0, 1], np.int64), np.array([0], np.int32), np.ones(1)
    picked = np.zeros(1, np.int32)
    for model, place in [
        ((np.ones(2), np.ones(1)), (np.zeros(1), np.zeros(1), np.zeros(2))),
        ((np.ones(2), np.ones(2)), (np.zeros(1), np.zeros(1), np.zeros(1))),
        ((np.ones(2), np.ones(2)), (np.zeros(1), np.zeros(2), np.zeros(2))),
    ]:
        with pytest.raises(ValueError, match="one value for each row"):
            module.descend(columns, picked, model, place, (1.0, 0.0), (1, 0.1))
    with pytest.raises(ValueError, match="negative"):
        module.transpose(columns, -1, 1)
    with pytest.raises(ValueError, match="m vectors"):
        module.correlate_block(columns, np.zeros(3), 2, 1)


@given(sizes, st.integers(1, 3), st.sampled_from(TYPES), st.integers(1, 8))
def test_gathered_rows_have_the_bits_of_the_twin_and_of_the_dense_matrices(size, count, dtype, threads):
    n, d, seed = size
    dense = [make(n, d + b, seed + b).astype(dtype) for b in range(count)]
    chosen = np.random.default_rng(seed).integers(0, n, 2 * n) if n else np.zeros(0, np.int64)
    widths = np.cumsum([0, *(block.shape[1] for block in dense)])
    shifts = widths[:-1].astype(np.int64)
    blocks = [lay_out(block, dtype) for block in dense]
    ours = kernels.gather_rows(blocks, chosen, shifts, threads)
    theirs = reference.gather_rows(blocks, chosen, shifts, 1)
    wanted = lay_out(np.hstack(dense)[chosen], dtype)
    for a, b, c in zip(ours, theirs, wanted, strict=True):
        assert a.dtype == b.dtype == c.dtype
        assert a.tobytes() == b.tobytes() == c.tobytes()


@pytest.mark.parametrize("module", BOTH)
@pytest.mark.parametrize(
    ("chosen", "shifts", "words"),
    [
        ([3], [0], "not there"),
        ([-1], [0], "not there"),
        ([0], [0, 1], "shift"),
        ([0], [-1], "range"),
        ([0], [2**31], "range"),
    ],
)
def test_rows_that_are_not_there_are_not_gathered(module, chosen, shifts, words):
    blocks = [lay_out(make(3, 2, 0))]
    with pytest.raises(ValueError, match=words):
        module.gather_rows(blocks, np.array(chosen, np.int64), np.array(shifts, np.int64), 2)
