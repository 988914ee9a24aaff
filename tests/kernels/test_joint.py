"""Dual ascent for joint multiclass problems: the kernels against their twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import reference
from linnaeus.kernels.reference import joint as twins

NONE = np.zeros((0, 0))
PAIRS = [(kernels.crammer_epoch, twins.crammer_epoch), (kernels.softmax_epoch, twins.softmax_epoch)]
SUMS = [(kernels.crammer_sums, twins.crammer_sums), (kernels.softmax_sums, twins.softmax_sums)]


def make(n, k, seed, dtype=np.float64, scale=1.0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 6, n)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    indices = np.concatenate([np.sort(rng.permutation(7)[:size]) for size in sizes]).astype(np.int32)
    data = (scale * rng.normal(size=indptr[-1])).astype(dtype)
    labels = rng.integers(0, k, n).astype(np.int32)
    strengths = rng.choice([0.0, 0.3, 1.0, 7.0], n)
    P = np.eye(k)[labels]
    state = np.zeros((7, k)), np.zeros(k), P, np.zeros(n)
    costs = rng.random((k, k)) * 3
    np.fill_diagonal(costs, 0.0)
    return (indptr, indices, data), (labels, strengths), state, costs


def copied(state):
    return tuple(array.copy() for array in state)


@pytest.mark.parametrize(("kernel", "twin"), PAIRS)
@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 2, 3, 7, 8, 9, 16, 20, 24, 31, 32, 33]),
    st.sampled_from([0.0, 0.5]),
    st.booleans(),
    st.sampled_from([np.float32, np.float64]),
)
def test_the_kernel_does_what_its_twin_does(kernel, twin, seed, k, beta, costly, dtype):
    rows, truth, state, costs = make(15, k, seed, dtype)
    tol = reference.TOLERANCES[kernel.__name__].doubles
    costs = costs if costly else NONE
    other, order = copied(state), np.random.default_rng(seed).permutation(15).astype(np.int32)
    for _ in range(3):
        ours = kernel(rows, truth, state, costs, order, beta)
        theirs = twin(rows, truth, other, costs, order, beta)
        assert ours == pytest.approx(theirs, rel=tol, abs=1e-9)
    for mine, his in zip(state[:3], other[:3], strict=True):
        np.testing.assert_allclose(mine, his, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("kernel", "twin"), SUMS)
@pytest.mark.parametrize("k", [1, 3, 8, 20, 40])
def test_the_sums(kernel, twin, k):
    rows, truth, state, costs = make(600, k, k)
    tol = reference.TOLERANCES[kernel.__name__].doubles
    order = np.arange(600, dtype=np.int32)
    kernels.crammer_epoch(rows, truth, state, costs, order, 0.1)
    for table in (NONE, costs):
        found = [kernel(rows, truth, state, table, threads) for threads in (1, 2, 3, 8)]
        assert len({sums.tobytes() for sums in found}) == 1
        np.testing.assert_allclose(found[0], twin(rows, truth, state, table, 1), rtol=1e-10, atol=tol)


@pytest.mark.parametrize("k", [1, 3, 8, 20, 40])
def test_a_leap(k):
    rows, truth, state, costs = make(300, k, k)
    order = np.arange(300, dtype=np.int32)
    past = np.zeros_like(state[0]), state[2].copy()
    kernels.crammer_epoch(rows, truth, state, costs, order, 0.0)
    found = []
    for leap, threads in [(kernels.crammer_leap, t) for t in (1, 2, 3, 8)] + [(twins.crammer_leap, 1)]:
        mine, before = copied(state), copied(past)
        square = leap(rows, truth, mine, before, 0.8, threads)
        assert square == pytest.approx((state[0] ** 2).sum(), rel=1e-12)
        assert before[0].tobytes() == state[0].tobytes()
        assert before[1].tobytes() == state[2].tobytes()
        found.append(mine)
    assert len({mine[0].tobytes() + mine[2].tobytes() for mine in found[:4]}) == 1
    for ours, theirs in zip(found[0], found[4], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=reference.TOLERANCES["crammer_leap"].doubles, atol=1e-12)
    assert found[0][2].min() >= 0
    with pytest.raises(ValueError):
        kernels.crammer_leap(rows, truth, state, (past[0][:2].copy(), past[1]), 0.8, 1)
    with pytest.raises(ValueError):
        kernels.crammer_leap(rows, truth, state, past, -1.0, 1)


@pytest.mark.parametrize("kernel", [pair[0] for pair in PAIRS])
@pytest.mark.parametrize("scale", [1e-8, 1e-3, 30.0, 3e3])
def test_a_step_is_the_best_there_is(kernel, scale):
    """After a step the example has no gap left: it is at the optimum of its block, however long its row."""
    rows, truth, state, costs = make(40, 12, 3, scale=scale)
    every = np.arange(40, dtype=np.int32)
    for _ in range(3):
        kernel(rows, truth, state, costs, every, 0.0)
    for i in range(40):
        one = np.array([i], np.int32)
        kernel(rows, truth, state, costs, one, 0.0)
        after = kernel(rows, truth, state, costs, one, 0.0)
        assert abs(after) <= 1e-7 * max(1.0, scale**2)
    W, _, P, _ = state
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    X = np.zeros((40, 7))
    for i in range(40):
        at = slice(rows[0][i], rows[0][i + 1])
        np.add.at(X[i], rows[1][at], rows[2][at])
    labels, strengths = truth
    np.testing.assert_allclose(W, X.T @ (strengths[:, None] * (np.eye(12)[labels] - P)), atol=1e-9 * scale)


@pytest.mark.parametrize("kernel", [*PAIRS[0], *PAIRS[1]])
@pytest.mark.parametrize(
    "change",
    [
        {"indptr": np.array([0, 2, 9], np.int64)},
        {"indptr": np.array([0, 2, 1], np.int64)},
        {"indices": np.array([0, 9], np.int32)},
        {"indices": np.array([0, -1], np.int32)},
        {"labels": np.array([0, 3], np.int32)},
        {"labels": np.array([0, -1], np.int32)},
        {"labels": np.array([0], np.int32)},
        {"order": np.array([2], np.int32)},
        {"order": np.array([-1], np.int32)},
        {"costs": np.zeros((2, 3))},
        {"P": np.zeros((2, 2))},
        {"b": np.zeros(2)},
        {"gaps": np.zeros(1)},
        {"beta": -1.0},
    ],
)
def test_arrays_that_do_not_fit_are_refused(kernel, change):
    args = {
        "indptr": np.array([0, 2, 2], np.int64),
        "indices": np.array([0, 1], np.int32),
        "labels": np.array([0, 2], np.int32),
        "order": np.array([0, 1], np.int32),
        "costs": NONE,
        "P": np.eye(3)[[0, 2]],
        "b": np.zeros(3),
        "gaps": np.zeros(2),
        "beta": 0.0,
    } | change
    rows = args["indptr"], args["indices"], np.ones(2)
    state = np.zeros((2, 3)), args["b"], args["P"], args["gaps"]
    with pytest.raises(ValueError):
        kernel(rows, (args["labels"], np.ones(2)), state, args["costs"], args["order"], args["beta"])
