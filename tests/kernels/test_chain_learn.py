"""The learner of chains: against its twin, against the learner of single classes, against hostile arrays."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.kernels import reference
from linnaeus.kernels.online import LOSSES, SPACES, Layout, one_each

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])
NONE = np.zeros(0)
D, K = 12, 4


def draw(sizes=(4, 0, 1, 6, 3), k=K, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    m = int(offsets[-1])
    indptr = np.arange(0, 3 * m + 1, 3)
    rows = indptr, rng.integers(0, D, 3 * m).astype(np.int32), rng.normal(size=3 * m).astype(dtype)
    return rows, (offsets, rng.integers(0, k, m).astype(np.int32), NONE)


def state_of(k=K, eps=0.0, averaged=False, lazy=False, dtype=np.float64, second=False):
    layout = Layout(k, 2 if eps else 1, averaged, lazy, dtype)
    links = Layout(k, layout.parts, averaged, False, dtype)
    return layout.zeros(D), links.zeros(1 + k + second * k * k), np.zeros(2), layout.flags


def learn(side, problem, state, loss="log", settings=(0.0, 1.0, 0.0), costs=NONE, passes=3, search=0):
    rows, truth = problem
    order = np.tile(np.arange(len(truth[0]) - 1, dtype=np.int32)[::-1], passes)
    rates = 0.5 / np.sqrt(1.0 + np.arange(len(order)))
    return side.chain_learn(rows, truth, (order, rates), state, (search, LOSSES[loss], costs), settings)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("eps", [0.0, 1e-3])
@pytest.mark.parametrize("l2", [0.0, 2.0])
@pytest.mark.parametrize("loss", ["perceptron", "hinge", "log", "softmargin"])
@pytest.mark.parametrize(("k", "search", "second"), [(1, 0, 0), (2, 0, 0), (4, 0, 1), (4, 1, 1), (9, 1, 0), (35, 0, 0)])
def test_the_kernel_is_its_twin(k, search, second, loss, l2, eps, dtype):
    problem, settings = draw(k=k, dtype=dtype), (l2, 5.0, eps)
    costs = np.abs(np.random.default_rng(2).normal(size=(k, k)))
    np.fill_diagonal(costs, 0.0)
    ours, theirs = (state_of(k, eps, True, l2 > 0, dtype, bool(second)) for _ in range(2))
    found = [
        learn(side, problem, state, loss, settings, costs.ravel(), search=search)
        for side, state in ((kernels, ours), (reference, theirs))
    ]
    if l2:
        kernels.chain_settle(ours, settings)
        reference.chain_settle(theirs, settings)
    known = reference.TOLERANCES["chain_learn"]
    tolerance = known.doubles if dtype is np.float64 else known.floats
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=tolerance)
    assert found[0][1] == found[1][1]
    layout = Layout(k, 2 if eps else 1, True, l2 > 0, dtype)
    for part in range(layout.parts + 1):
        for a, b in zip(ours[:2], theirs[:2], strict=True):
            np.testing.assert_allclose(layout.part(a, part), layout.part(b, part), rtol=tolerance, atol=tolerance)
    assert ours[2].tolist() == theirs[2].tolist()


@pytest.mark.parametrize("loss", ["perceptron", "hinge", "log", "softmargin"])
@pytest.mark.parametrize("eps", [0.0, 1e-3])
@pytest.mark.parametrize("search", [0, 1])
def test_a_chain_of_length_one_is_a_multiclass_learner(loss, eps, search):
    rows, truth = draw(sizes=[1] * 30)
    order, rates = np.arange(30, dtype=np.int32), np.full(30, 0.3)
    chain, plain = state_of(eps=eps), Layout(K, 2 if eps else 1)
    found = kernels.chain_learn(rows, truth, (order, rates), chain, (search, LOSSES[loss], NONE), (0.0, 1.0, eps))
    table, bias = plain.zeros(D), plain.zeros(1)[0]
    state, asked = (table, bias, np.zeros(3), plain.flags), (SPACES["joint"], LOSSES[loss], NONE)
    labels = (*one_each(truth[1]), NONE)
    rule = (0.0, 0.0, 1.0)
    if eps:
        wanted = kernels.learn_adagrad(rows, labels, (order, rates), state, asked, (*rule, eps))
    else:
        wanted = kernels.learn_sgd(rows, labels, (order, rates), state, asked, rule)
    np.testing.assert_allclose(plain.part(chain[0], 0), plain.part(table, 0), atol=1e-9)
    np.testing.assert_allclose(plain.part(chain[1][0], 0), plain.part(bias, 0), atol=1e-9)
    assert found[0] == pytest.approx(wanted[0])
    assert not chain[1][1:].any()


def test_a_mean_is_the_mean_of_the_iterates():
    rows, truth = draw()
    state, mean = state_of(averaged=True), Layout(K, 1, True)
    seen = []
    for i in (3, 0, 4, 2, 3):
        one = np.array([i], np.int32), np.array([0.5])
        kernels.chain_learn(rows, truth, one, state, (0, LOSSES["log"], NONE), (0.0, 1.0, 0.0))
        seen.append((mean.part(state[0], 0).copy(), mean.part(state[1], 0).copy()))
    for at, table in enumerate(state[:2]):
        np.testing.assert_allclose(mean.mean(table, state[2][1]), np.mean([pair[at] for pair in seen], axis=0))


def test_a_penalty_that_waits_is_the_penalty_that_does_not():
    rows, truth = draw()
    ours, eager, settings = state_of(lazy=True), state_of(lazy=True), (3.0, 5.0, 0.0)
    for i in (3, 0, 4, 2, 3):
        one = np.array([i], np.int32), np.array([0.5])
        kernels.chain_learn(rows, truth, one, ours, (0, LOSSES["log"], NONE), settings)
        kernels.chain_learn(rows, truth, one, eager, (0, LOSSES["log"], NONE), settings)
        kernels.chain_settle(eager, settings)
    kernels.chain_settle(ours, settings)
    np.testing.assert_allclose(ours[0], eager[0])


@each_side
def test_it_learns_what_can_be_learned(side):
    tags = np.array([0, 1, 2, 3] * 5, np.int32)
    rows = np.arange(21), tags.copy(), np.ones(20)
    problem = rows, (np.array([0, 8, 20]), tags, NONE)
    for loss in ("perceptron", "hinge", "log", "softmargin"):
        for search, second in ((0, False), (0, True), (1, False), (1, True)):
            state = state_of(second=second)
            learn(side, problem, state, loss, passes=20, search=search)
            assert learn(side, problem, state, loss, passes=1, search=search)[1] == 0


@each_side
def test_what_a_sequence_counts(side):
    rows, truth = draw(sizes=(3, 4))
    twice, weighted = state_of(), state_of()
    side.chain_learn(
        rows, truth, (np.array([0], np.int32), np.array([1.0])), twice, (0, LOSSES["log"], NONE), (0.0, 1.0, 0.0)
    )
    truth = (*truth[:2], np.array([2.0, 1.0]))
    side.chain_learn(
        rows, truth, (np.array([0], np.int32), np.array([0.5])), weighted, (0, LOSSES["log"], NONE), (0.0, 1.0, 0.0)
    )
    np.testing.assert_allclose(twice[0], weighted[0])


@each_side
def test_hostile_arrays_are_refused(side):
    (indptr, columns, values), (offsets, tags, _) = draw()
    order, good = (np.zeros(1, np.int32), np.ones(1)), ((indptr, columns, values), (offsets, tags, NONE))
    bad = [
        ((indptr[:-1], columns, values), good[1]),
        ((indptr + 1, columns, values), good[1]),
        ((indptr, columns + 100, values), good[1]),
        ((indptr, columns - 100, values), good[1]),
        (good[0], (offsets, tags + K, NONE)),
        (good[0], (offsets, tags - K, NONE)),
        (good[0], (offsets[:-1], tags, NONE)),
        (good[0], (offsets, tags, np.ones(2))),
    ]
    for rows, truth in bad:
        with pytest.raises(ValueError, match="chain_learn"):
            side.chain_learn(rows, truth, order, state_of(), (0, 2, NONE), (0.0, 1.0, 0.0))
    for changed, loss, settings, state in [
        ((np.array([9], np.int32), np.ones(1)), (0, 2, NONE), (0.0, 1.0, 0.0), state_of()),
        ((np.array([-1], np.int32), np.ones(1)), (0, 2, NONE), (0.0, 1.0, 0.0), state_of()),
        ((np.array([0], np.int32), np.ones(2)), (0, 2, NONE), (0.0, 1.0, 0.0), state_of()),
        (order, (0, 7, NONE), (0.0, 1.0, 0.0), state_of()),
        (order, (2, 2, NONE), (0.0, 1.0, 0.0), state_of()),
        (order, (0, 2, np.ones(3)), (0.0, 1.0, 0.0), state_of()),
        (order, (0, 2, NONE), (1.0, 1.0, 0.0), state_of()),
        (order, (0, 2, NONE), (0.0, 0.0, 0.0), state_of()),
        (order, (0, 2, NONE), (0.0, 1.0, np.nan), state_of()),
        (order, (0, 2, NONE), (0.0, 1.0, 1.0), state_of()),
        (order, (0, 2, NONE), (0.0, 1.0, 0.0), state_of(k=9)[:1] + state_of()[1:]),
    ]:
        with pytest.raises(ValueError, match="chain_learn"):
            side.chain_learn(*good, changed, state, loss, settings)
