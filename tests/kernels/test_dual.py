"""Dual coordinate ascent: the kernels against their twins, arrays that do not fit, threads."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels import ascents

from linnaeus import kernels
from linnaeus.kernels import reference

LOSSES = ["hinge", "squared_hinge", "logistic"]
CENTER, BETA, TOTAL = 0, 1, 2


def make(rng, n, d, p, dtype=np.float64):
    """Random problems with what can go wrong in rows: empty ones, twins, columns twice, no cost, no members."""
    sizes = rng.integers(0, 5, n)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = indptr, rng.integers(0, d, indptr[-1]).astype(np.int32), rng.normal(size=indptr[-1]).astype(dtype)
    costs = rng.choice([0.0, 0.3, 1.0, 7.0], n)
    members = [np.where(rng.random(n) < 0.5, np.arange(n), ~np.arange(n)) for _ in range(p)]
    members = [m[rng.random(n) < rng.choice([0.0, 0.6, 1.0])].astype(np.int32) for m in members]
    starts = np.cumsum([0] + [len(m) for m in members]).astype(np.int64)
    counts = np.stack([np.diff(starts), np.zeros(p, np.int64)], axis=1).reshape(-1)
    facts = np.zeros((p, 8))
    facts[:, 3], facts[:, 4] = -np.inf, np.inf
    facts[:, BETA] = rng.choice([0.0, 0.1, 1.0], p)
    order = np.concatenate([np.zeros(0, np.int32), *members])
    seeds = rng.integers(0, 1 << 60, p).astype(np.uint64)
    box = kernels.row_squares(rows, 1), costs, rng.choice([0.5, 1.0, 2.0], 2 * p)
    return rows, box, (np.zeros(p * n), np.zeros(p * d), order, starts, counts, facts.reshape(-1), seeds)


run = partial(ascents.run, "dual")


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(LOSSES), st.sampled_from([np.float32, np.float64]))
def test_the_kernels_do_what_their_twins_say(seed, loss, dtype):
    rng = np.random.default_rng(seed)
    problem = make(rng, int(rng.integers(1, 12)), int(rng.integers(1, 6)), int(rng.integers(0, 4)), dtype)
    ours, seen = run(kernels, loss, problem, 3, threads=2)
    theirs, wanted = run(reference, loss, problem, 3)
    tol = reference.TOLERANCES[f"dual_epoch_{loss}"].doubles
    for mine, other in zip((*ours[:2], *seen), (*theirs[:2], *wanted), strict=True):
        # A slope of exactly zero and one of 1e-16 set different bounds for shrinking: infinity or next to nothing.
        near = np.isfinite(mine) & np.isfinite(other)
        np.testing.assert_allclose(mine[near], other[near], rtol=tol, atol=tol)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_block_of_near_twins_is_solved_like_in_the_twin(loss):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 20))
    X[30:36] = X[:6] + 1e-3 * rng.normal(size=(6, 20))
    n, d = X.shape
    rows = np.arange(0, n * d + 1, d), np.tile(np.arange(d, dtype=np.int32), n), X.reshape(-1)
    order = np.where(rng.random(n) < 0.5, np.arange(n), ~np.arange(n)).astype(np.int32)
    facts = np.array([0, 0.1, 0, -np.inf, np.inf, 0, 0, 0])
    starts, counts, seeds = np.array([0, n]), np.array([n, 0]), np.array([5], np.uint64)
    state = np.zeros(n), np.zeros(d), order, starts, counts, facts, seeds
    problem = rows, (kernels.row_squares(rows, 1), np.full(n, 10.0), np.ones(2)), state
    ours, _ = run(kernels, loss, problem, 6)
    theirs, _ = run(reference, loss, problem, 6)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_bits_do_not_depend_on_the_threads(loss):
    problem = make(np.random.default_rng(0), 3000, 50, 7)
    assert ascents.same_for_any_threads("dual", loss, problem)


@pytest.mark.parametrize("module", [kernels, reference])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_weights_are_the_sum_of_the_rows_and_the_dual_never_falls(module, loss):
    rng = np.random.default_rng(1)
    rows, box, state = make(rng, 30, 8, 1)
    order = np.where(rng.random(30) < 0.5, np.arange(30), ~np.arange(30)).astype(np.int32)
    state = (*state[:2], order, np.array([0, 30]), np.array([30, 0]), state[5], state[6])
    state[5][BETA] = 0.0
    box = box[0], np.ones(30), np.ones(2)
    values = []
    for _ in range(6):
        getattr(module, f"dual_epoch_{loss}")(rows, box, state, 1)
        values.append(getattr(module, f"dual_gap_{loss}")(rows, box, state, 1))
    X = np.zeros((30, 8))
    np.add.at(X, (np.repeat(np.arange(30), np.diff(rows[0])), rows[1]), rows[2])
    order = state[2]
    signs = np.empty(30)
    signs[np.where(order < 0, ~order, order)] = np.where(order < 0, -1.0, 1.0)
    np.testing.assert_allclose(state[1], X.T @ (signs * state[0]), atol=1e-10)
    assert state[5][TOTAL] == pytest.approx(signs @ state[0])
    duals = [value[1] for value in values]
    assert all(b >= a - 1e-9 for a, b in itertools.pairwise(duals))
    assert all(primal >= max(duals) - 1e-9 for primal, _, _ in values)


@pytest.mark.parametrize("module", [kernels, reference])
@pytest.mark.parametrize("name", ["dual_epoch_hinge", "dual_gap_logistic"])
@pytest.mark.parametrize(
    ("where", "value", "sentence"),
    [
        (("rows", 0), np.array([0, 9, 2], np.int64), "offsets"),
        (("rows", 0), np.array([0, -1, 2], np.int64), "offsets"),
        (("rows", 1), np.array([0, 2], np.int32), "column"),
        (("rows", 1), np.array([0, -1], np.int32), "column"),
        (("box", 0), np.ones(3), "fit"),
        (("box", 1), np.ones(1), "fit"),
        (("box", 2), np.ones(1), "fit"),
        (("state", 0), np.ones(3), "fit"),
        (("state", 2), np.array([0], np.int32), "fit"),
        (("state", 2), np.array([0, 2], np.int32), "member"),
        (("state", 2), np.array([0, -4], np.int32), "member"),
        (("state", 3), np.array([0, 3]), "fit"),
        (("state", 3), np.array([-1, 2]), "fit"),
        (("state", 3), np.array([2, 0]), "members"),
        (("state", 4), np.array([3, 0]), "members"),
        (("state", 4), np.array([-1, 0]), "members"),
        (("state", 5), np.zeros(7), "fit"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(module, name, where, value, sentence):
    arrays = {
        "rows": [np.array([0, 1, 2]), np.array([0, 1], np.int32), np.ones(2)],
        "box": [np.ones(2), np.ones(2), np.ones(2)],
        "state": [
            *(np.zeros(2), np.zeros(2), np.array([0, -2], np.int32), np.array([0, 2]), np.array([2, 0])),
            *(np.array([0, 0, 0, -np.inf, np.inf, 0, 0, 0]), np.ones(1, np.uint64)),
        ],
    }
    arrays[where[0]][where[1]] = value
    with pytest.raises(ValueError, match=sentence):
        getattr(module, name)(*(tuple(arrays[part]) for part in ("rows", "box", "state")), 1)


def test_extreme_margins_of_the_logistic_loss():
    # Rows so long that probabilities leave the range of floats on both sides.
    rows = np.array([0, 1, 2, 3]), np.zeros(3, np.int32), np.array([1e4, -1e4, 1e-4])
    facts = np.array([0, 0, 0, -np.inf, np.inf, 0, 0, 0], np.float64)
    state = np.zeros(3), np.zeros(1), np.array([0, -2, -3], np.int32), np.array([0, 3]), np.array([3, 0]), facts
    state = (*state, np.ones(1, np.uint64))
    box = kernels.row_squares(rows, 1), np.full(3, 1e3), np.ones(2)
    for _ in range(30):
        kernels.dual_epoch_logistic(rows, box, state, 1)
    primal, dual, _ = kernels.dual_gap_logistic(rows, box, state, 1)
    assert np.isfinite(state[1]).all()
    assert primal - dual <= 1e-6 * primal
