"""Teams of binary problems: the kernels against their twins, arrays that do not fit, threads."""

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

LOSSES = ["hinge", "squared_hinge"]
TYPES = [(np.float32, np.float32), (np.float32, np.float64), (np.float64, np.float64)]
CENTER, BETA, TOTAL, LOW, HIGH, FINISHED = 0, 1, 2, 3, 4, 7


def make(rng, n, d, shape, types=TYPES[2]):
    """Random problems with what can go wrong in rows: empty ones, columns twice, no cost; finished ones too."""
    teams, lanes = shape
    sizes = rng.integers(0, 9, n)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = indptr, rng.integers(0, d, indptr[-1]).astype(np.int32), rng.normal(size=indptr[-1]).astype(types[0])
    facts = np.zeros((teams, 8, lanes))
    facts[:, LOW], facts[:, HIGH] = -np.inf, np.inf
    facts[:, BETA] = rng.choice([0.0, 0.1, 1.0], (teams, lanes))
    facts[:, FINISHED] = rng.random((teams, lanes)) < 0.2
    box = kernels.row_squares(rows, 1), rng.choice([0.0, 0.3, 1.0, 7.0], n), rng.choice([0.5, 1, 2], (teams, 2, lanes))
    marks = rng.integers(0, 1 << lanes, (teams, n)).astype(np.uint16)
    order, active = np.tile(np.arange(n, dtype=np.int32), (teams, 1)), np.full(teams, n, np.int64)
    seeds = rng.integers(0, 1 << 60, teams).astype(np.uint64)
    alpha, weights = np.zeros((teams, n, lanes), types[1]), np.zeros((teams, d, lanes), types[1])
    return rows, box, (alpha, weights, marks, order, active, facts, seeds)


run = partial(ascents.run, "team")


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(LOSSES), st.sampled_from([4, 8, 16]), st.sampled_from(TYPES))
def test_the_kernels_do_what_their_twins_say(seed, loss, lanes, types):
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(0, 3)), lanes
    problem = make(rng, int(rng.integers(0, 14)), int(rng.integers(1, 6)), shape, types)
    ours, seen = run(kernels, loss, problem, 4, threads=2)
    theirs, wanted = run(reference, loss, problem, 4)
    known = reference.TOLERANCES[f"team_epoch_{loss}"]
    near = known.doubles if types[1] == np.float64 else known.floats
    for mine, other in zip((*ours[:2], *seen), (*theirs[:2], *wanted), strict=True):
        # A slope of exactly zero and one of 1e-16 set different bounds for shrinking: infinity or next to nothing.
        both = np.isfinite(mine) & np.isfinite(other)
        np.testing.assert_allclose(mine[both], other[both], rtol=near, atol=near)


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_bits_do_not_depend_on_the_threads(loss, types):
    problem = make(np.random.default_rng(0), 3000, 50, (5, 16), types)
    assert ascents.same_for_any_threads("team", loss, problem)


@pytest.mark.parametrize("module", [kernels, reference])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_weights_are_the_sum_of_the_rows_and_the_dual_never_falls(module, loss):
    rng = np.random.default_rng(1)
    rows, box, state = make(rng, 30, 8, (2, 4))
    facts = state[5]
    facts[:, BETA] = facts[:, FINISHED] = 0.0
    box = box[0], np.ones(30), np.ones((2, 2, 4))
    values = []
    for _ in range(6):
        getattr(module, f"team_epoch_{loss}")(rows, box, state, 1)
        values.append(getattr(module, f"team_gap_{loss}")(rows, box, state, 1).reshape(2, 3, 4))
    X = np.zeros((30, 8))
    np.add.at(X, (np.repeat(np.arange(30), np.diff(rows[0])), rows[1]), rows[2])
    signs = np.where((state[2][:, :, None] >> np.arange(4)) & 1, 1.0, -1.0)
    np.testing.assert_allclose(state[1], np.einsum("ij,til->tjl", X, signs * state[0]), atol=1e-10)
    np.testing.assert_allclose(facts[:, TOTAL], (signs * state[0]).sum(axis=1))
    duals = [value[:, 1] for value in values]
    assert all((b >= a - 1e-9).all() for a, b in itertools.pairwise(duals))
    assert all((value[:, 0] >= duals[-1] - 1e-9).all() for value in values)


@pytest.mark.parametrize("loss", LOSSES)
def test_finished_problems_stay_and_rows_that_were_left_out_come_back(loss):
    rng = np.random.default_rng(2)
    rows, box, state = make(rng, 200, 9, (1, 4))
    X = np.zeros((200, 9))
    np.add.at(X, (np.repeat(np.arange(200), np.diff(rows[0])), rows[1]), rows[2])
    state[2][0] = (X @ rng.normal(size=(9, 4)) > 0) @ (1 << np.arange(4))  # what can be learned leaves rows at rest
    box, state[5][:, FINISHED] = (box[0], np.ones(200), np.ones((1, 2, 4))), [0, 1, 0, 0]
    for _ in range(30):
        getattr(kernels, f"team_epoch_{loss}")(rows, box, state, 1)
    assert not state[0][:, :, 1].any()
    assert not state[1][:, :, 1].any()
    left_out = state[4][0] < 200
    state[5][:, CENTER, [0, 2, 3]] -= 100.0  # now every positive row below its bound has something to do
    getattr(kernels, f"team_gap_{loss}")(rows, box, state, 1)
    low = (state[2][0][:, None] >> np.arange(4)) & 1 & (state[0][0] < 0.9)
    assert left_out
    assert set(np.flatnonzero(low[:, [0, 2, 3]].any(axis=1))) <= set(state[3][0, : state[4][0]])
    assert (np.diff(state[3][0, : state[4][0]]) > 0).all()


@pytest.mark.parametrize("module", [kernels, reference])
@pytest.mark.parametrize("name", ["team_epoch_hinge", "team_gap_squared_hinge"])
@pytest.mark.parametrize(
    ("where", "value", "sentence"),
    [
        (("rows", 0), np.array([0, 9, 2], np.int64), "offsets"),
        (("rows", 0), np.array([0, -1, 2], np.int64), "offsets"),
        (("rows", 1), np.array([0, 2], np.int32), "column"),
        (("rows", 1), np.array([0, -1], np.int32), "column"),
        (("box", 0), np.ones(3), "fit"),
        (("box", 1), np.ones(1), "fit"),
        (("box", 2), np.ones((1, 2, 8)), "fit"),
        (("state", 0), np.zeros((1, 3, 4)), "fit"),
        (("state", 0), np.zeros((2, 2, 4)), "fit"),
        (("state", 0), np.zeros((1, 2, 5)), "fit"),
        (("state", 1), np.zeros((1, 2, 8)), "fit"),
        (("state", 2), np.zeros((1, 3), np.uint16), "fit"),
        (("state", 3), np.zeros((1, 1), np.int32), "fit"),
        (("state", 3), np.array([[0, 2]], np.int32), "row"),
        (("state", 3), np.array([[0, -1]], np.int32), "row"),
        (("state", 4), np.array([3]), "row"),
        (("state", 4), np.array([-1]), "row"),
        (("state", 4), np.array([1, 1]), "fit"),
        (("state", 5), np.zeros((1, 7, 4)), "fit"),
        (("state", 6), np.ones(2, np.uint64), "fit"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(module, name, where, value, sentence):
    arrays = {
        "rows": [np.array([0, 1, 2]), np.array([0, 1], np.int32), np.ones(2)],
        "box": [np.ones(2), np.ones(2), np.ones((1, 2, 4))],
        "state": [
            *(np.zeros((1, 2, 4)), np.zeros((1, 2, 4)), np.zeros((1, 2), np.uint16), np.array([[0, 1]], np.int32)),
            *(np.array([2]), np.zeros((1, 8, 4)), np.ones(1, np.uint64)),
        ],
    }
    arrays[where[0]][where[1]] = value
    with pytest.raises(ValueError, match=sentence):
        getattr(module, name)(*(tuple(arrays[part]) for part in ("rows", "box", "state")), 1)
