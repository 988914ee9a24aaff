"""Features of arcs and their learner: kernels against twins, one number of threads against another, refusals."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import reference

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])
NONE, NO_WEIGHTS = np.zeros(0, np.int32), np.zeros(0)
ATOMS = np.array(
    [
        *([0, 0, 0, 0], [1, 1, -1, 1], [1, 1, 0, 0], [2, 0, 0, 0], [2, 1, 0, 0], [3, 0, 1, 1], [3, 1, 0, 1]),
        *([4, 0, 0, 0], [4, 1, 0, 0], [4, 2, 0, 1], [5, 2, 0, 0], [6, 0, 0, 1], [6, 0, -1, 1], [7, 0, 0, 0]),
        *([7, 1, 2, 1], [8, 0, 0, 1], [8, 1, 0, 0], [9, 0, 0, 1], [9, 1, 0, 1]),
    ],
    np.int32,
)
LOSSES = {"perceptron": 0, "hinge": 1, "log": 2, "softmargin": 3}


def draw(sizes, seed=0, values=5, attributes=2):
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    codes = rng.integers(0, 2**63, values, np.uint64)
    return offsets, codes[rng.integers(0, values, (offsets[-1], attributes))]


def draw_trees(offsets, seed=0):
    """Heads of trees: each token hangs below one before it in a random order, the first below the root."""
    rng, heads = np.random.default_rng(seed), []
    for n in np.diff(offsets):
        order, own = rng.permutation(n), np.zeros(n, np.int32)
        for i in range(1, n):
            own[order[i]] = order[rng.integers(i)] + 1
        heads.append(own)
    return np.concatenate([NONE, *heads])


@given(st.lists(st.integers(0, 9), max_size=4), st.integers(4, 12), st.integers(0, 99))
def test_scores_and_columns_are_those_of_the_twin(sizes, bits, seed):
    coded = draw(sizes, seed)
    W = np.random.default_rng(seed).normal(size=1 << bits)
    for weights in (W, W.astype(np.float32)):
        wanted = reference.arc_scores(coded, ATOMS, weights, 1)
        for threads in (1, 2, 5):
            assert kernels.arc_scores(coded, ATOMS, weights, threads).tobytes() == wanted.tobytes()
    for heads in (NONE, draw_trees(coded[0], seed)):
        wanted = reference.arc_columns(coded, ATOMS, bits, heads, 1)
        for threads in (1, 3):
            found = kernels.arc_columns(coded, ATOMS, bits, heads, threads)
            assert [part.tolist() for part in found] == [part.tolist() for part in wanted]


def test_a_score_is_the_sum_of_the_weights_of_the_columns():
    coded, W = draw([7, 1, 12]), np.random.default_rng(1).normal(size=1 << 10)
    indptr, columns = kernels.arc_columns(coded, ATOMS, 10, NONE, 1)
    sums = [W[columns[a:b]].sum() for a, b in pairwise(indptr)]
    np.testing.assert_allclose(kernels.arc_scores(coded, ATOMS, W, 1), sums, atol=1e-12)


def test_long_sentences_and_many_threads_give_the_same_bits():
    coded = draw([200, 1, 0, 90, *[20] * 60], values=40)
    W = np.random.default_rng(1).normal(size=1 << 12).astype(np.float32)
    one = kernels.arc_scores(coded, ATOMS, W, 1)
    assert len(one) == sum(n * (n + 1) for n in np.diff(coded[0]))
    for threads in (2, 5):
        assert kernels.arc_scores(coded, ATOMS, W, threads).tobytes() == one.tobytes()
    rows = kernels.arc_columns(coded, ATOMS, 12, NONE, 1)
    assert all(np.array_equal(a, b) for a, b in zip(rows, kernels.arc_columns(coded, ATOMS, 12, NONE, 5), strict=True))


def learner_state(bits, adaptive, lazy, dtype):
    d = 1 << bits
    return np.zeros((3 + adaptive, d), dtype), np.zeros(d if lazy else 0), np.zeros(2)


def learn(side, state, loss, space=0, l2=0.0, eps=0.5, weights=NO_WEIGHTS, sizes=(5, 1, 0, 8)):
    coded = draw(sizes, 3)
    order = np.array([0, 3, 1, 2, 0, 3], np.int32), np.linspace(0.5, 0.1, 6)
    truth = draw_trees(coded[0], 4), weights
    return side.arc_learn((coded, ATOMS), truth, order, state, (space, LOSSES[loss]), (l2, 4.0, eps))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("eps", [0.0, 0.5])
@pytest.mark.parametrize("l2", [0.0, 0.3])
@pytest.mark.parametrize("space", [0, 1])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_learner_takes_the_steps_of_the_twin(loss, space, l2, eps, dtype):
    weights, found = np.array([1.0, 2.0, 1.0, 0.5]), []
    for side in (kernels, reference):
        state = learner_state(9, eps > 0, l2 > 0, dtype)
        outcome = learn(side, state, loss, space, l2, eps, weights)
        if l2:
            side.arc_settle(state, (l2, 4.0, eps))
        found.append((outcome, state))
    near = reference.TOLERANCES["arc_learn"]
    near = near.doubles if dtype == np.float64 else near.floats
    assert found[0][0][0] == pytest.approx(found[1][0][0], rel=near, abs=near)
    assert found[0][0][1] == found[1][0][1]
    for one, other in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_allclose(one, other, rtol=near, atol=near)
    assert np.any(found[0][1][0][0])
    assert not np.any(found[0][1][0][-1])  # the gradient is zero between steps


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_parts_that_come_again_between_are_counted_in_steps(loss):
    """A sentence of few words: what is met between head and dependent comes up to seven times and more."""
    coded = draw([24, 3], 3, values=3)
    truth, order = (draw_trees(coded[0], 4), NO_WEIGHTS), (np.array([0, 1, 0], np.int32), np.full(3, 0.5))
    found = []
    for side in (kernels, reference):
        state = learner_state(8, True, True, np.float64)
        side.arc_learn((coded, ATOMS), truth, order, state, (0, LOSSES[loss]), (0.2, 2.0, 0.5))
        found.append(state)
    near = reference.TOLERANCES["arc_learn"].doubles
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=near, atol=near)


@each_side
def test_it_refuses_what_does_not_fit(side):
    coded, W = draw([3, 2]), np.zeros(1 << 6, np.float32)
    codes = coded[1]
    for wrong in (np.array([0, 9]), np.array([0, 4, 3, 5]), np.array([1, 5]), np.zeros(0, np.int64)):
        with pytest.raises(ValueError, match="offsets"):
            side.arc_scores((wrong, codes), ATOMS, W, 1)
    for row in ([0, 3, 0, 0], [0, 0, 0, 2], [0, 0, 101, 0], [0, 2, 1, 0], [-1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 0, -1]):
        with pytest.raises(ValueError, match="atom"):
            side.arc_scores(coded, np.array([row], np.int32), W, 1)
    for width in (0, 8, 48):
        with pytest.raises(ValueError, match="power of two"):
            side.arc_scores(coded, ATOMS, np.zeros(width), 1)
    for heads in ([0, 1, 1, 0], [0, 1, 1, 0, 3], [0, 1, 1, 0, -1], [1, 0, 1, 0, 1]):
        with pytest.raises(ValueError, match="head"):
            side.arc_columns(coded, ATOMS, 6, np.array(heads, np.int32), 1)
    with pytest.raises(ValueError, match="power of two"):
        side.arc_columns(coded, ATOMS, 31, NONE, 1)


@each_side
def test_the_learner_refuses_what_does_not_fit(side):
    coded = draw([3, 2])
    heads, order = np.array([0, 1, 1, 2, 0], np.int32), (np.array([1], np.int32), np.ones(1))

    def attempt(
        match, heads=heads, weights=NO_WEIGHTS, order=order, state=None, asked=(0, 1), settings=(0.0, 2.0, 1.0)
    ):
        state = learner_state(6, True, False, np.float32) if state is None else state
        with pytest.raises(ValueError, match=match):
            side.arc_learn((coded, ATOMS), (heads, weights), order, state, asked, settings)

    attempt("head", heads=heads[:3])
    attempt("head", heads=np.array([0, 1, 9, 2, 0], np.int32))
    attempt("weight", weights=np.ones(3))
    attempt("order", order=(np.array([2], np.int32), np.ones(1)))
    attempt("order", order=(np.array([-1], np.int32), np.ones(1)))
    attempt("rate", order=(np.array([1], np.int32), np.ones(2)))
    attempt("loss", asked=(2, 1))
    attempt("loss", asked=(0, 4))
    attempt("layout", settings=(0.0, 2.0, 0.0))
    attempt("l2", settings=(-1.0, 2.0, 1.0))
    attempt("clock", settings=(1.0, 2.0, 1.0))
    attempt("power", state=(np.zeros((4, 48), np.float32), NO_WEIGHTS, np.zeros(2)))
    attempt("two numbers", state=(np.zeros((4, 64), np.float32), NO_WEIGHTS, np.zeros(3)))
