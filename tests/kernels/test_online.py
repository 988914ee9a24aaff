"""Per-example learners: kernels against their twins, and both against what they are to mean."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.kernels import reference
from linnaeus.kernels.online import LOSSES, SPACES, Layout
from linnaeus.kernels.reference import online as twins

NONE = np.zeros(0)
N, D, RATE = 40, 9, 0.3
RULES = {
    "sgd": (1, (0.0, 0.0, 1.0)),
    "adagrad": (2, (0.0, 0.0, 1.0, 1e-8)),
    "ftrl": (3, (0.5, 1.0, 0.05, 0.1)),
}
PENALTIES = {"l2": (0.0, 0.7), "l1": (0.4, 0.0), "both": (0.2, 0.5)}


def problem(k, space="joint", seed=0, dtype=np.float64, zeros=0.0):
    """Rows with some explicit zeros, label lists, weights with a zero among them, an order with repetitions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.4)
    keep = (X != 0) | (rng.random((N, D)) < zeros)
    keep[3] = False
    rows = (
        np.concatenate([[0], np.cumsum(keep.sum(axis=1))]),
        np.nonzero(keep)[1].astype(np.int32),
        X[keep].astype(dtype),
    )
    if space == "joint":
        lists = rng.integers(0, k, (N, 1)).tolist()
    else:
        lists = [np.flatnonzero(rng.random(k) < 0.4).tolist() for _ in range(N)]
    offsets = np.cumsum([0] + [len(one) for one in lists]).astype(np.int64)
    labels = np.array([c for one in lists for c in one], np.int32)
    weights = rng.random(N) * 2
    weights[5] = 0
    order = rng.integers(0, N, 3 * N).astype(np.int32)
    return rows, (offsets, labels, weights), order


def fresh(layout, bias=True, seed=None):
    table, b = layout.zeros(D), layout.zeros(1)[0] if bias else np.zeros(0, layout.dtype)
    if seed is not None:
        rng = np.random.default_rng(seed)
        layout.part(table, 0)[:] = rng.normal(size=(D, layout.k)) * 0.1
        if bias:
            layout.part(b, 0)[:] = rng.normal(size=layout.k) * 0.1
    return table, b, np.zeros(3), layout.flags


def learn(module, rule, data, state, asked, setting):
    rows, truth, order = data
    rates = RATE / np.sqrt(1 + np.arange(len(order)))
    given = order if rule in ("ftrl", "aggressive") else (order, rates)
    return getattr(module, f"learn_{rule}")(rows, truth, given, state, asked, setting)


def both(rule, data, layout, asked, setting, bias=True):
    """The same run by kernel and twin: what was returned, and the states."""
    found = []
    for module in (kernels, twins):
        state = fresh(layout, bias, seed=None if rule == "ftrl" else 1)
        outcome = learn(module, rule, data, state, asked, setting)
        if layout.lazy:
            getattr(module, f"settle_{rule}")(state, setting)
        found.append((outcome, state))
    return found


def assert_alike(found, rule, dtype=np.float64):
    (ours, state), (theirs, wanted) = found
    known = reference.TOLERANCES[f"learn_{rule}"]
    tol = known.doubles if dtype == np.float64 else known.floats
    assert ours[1] == theirs[1]
    assert ours[0] == pytest.approx(theirs[0], rel=tol, abs=tol)
    for mine, other in zip(state[:3], wanted[:3], strict=True):
        np.testing.assert_allclose(mine, other, rtol=tol, atol=tol)


@pytest.mark.parametrize("k", [1, 2, 3, 9])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("rule", RULES)
def test_the_kernel_does_what_its_twin_does(rule, space, loss, k):
    if space == "joint" and k == 1:
        pytest.skip("a joint space has two classes or more")
    parts, setting = RULES[rule]
    data = problem(k, space, zeros=0.1)
    asked = (SPACES[space], LOSSES[loss], NONE)
    assert_alike(both(rule, data, Layout(k, parts), asked, setting), rule)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rule", RULES)
def test_narrow_values_and_narrow_states(rule, dtype):
    parts, setting = RULES[rule]
    data = problem(5, dtype=np.float32)
    asked = (SPACES["joint"], LOSSES["log"], NONE)
    found = both(rule, data, Layout(5, parts, dtype=dtype), asked, setting)
    assert_alike(found, rule, dtype)
    assert found[0][1][0].dtype == dtype


@pytest.mark.parametrize("k", [1, 2, 5, 20, 41, 70])
@pytest.mark.parametrize("rule", ["sgd", "adagrad", "aggressive"])
def test_narrow_means(rule, k):
    """Numbers of classes that take all the sizes of blocks, of float32 and of float64."""
    space = "product" if k == 1 else "joint"
    parts, setting = (1, (0.1, 0.0)) if rule == "aggressive" else RULES[rule]
    asked = SPACES[space] if rule == "aggressive" else (SPACES[space], LOSSES["hinge"], NONE)
    known = reference.TOLERANCES[f"learn_{rule}"]
    for dtype, tol in ((np.float32, known.floats), (np.float64, known.doubles)):
        layout = Layout(k, parts, True, dtype=dtype)
        found = both(rule, problem(k, space, dtype=np.float32), layout, asked, setting)
        ours, theirs = (layout.mean(state[0], state[2][1]) for _, state in found)
        assert ours.dtype == dtype
        np.testing.assert_allclose(ours, theirs, rtol=tol, atol=tol)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("limits", [(np.inf, 0.0), (0.1, 0.0), (np.inf, 5.0)])
@pytest.mark.parametrize(("space", "k"), [("product", 1), ("product", 4), ("joint", 2), ("joint", 5)])
def test_passive_aggressive(space, k, limits, bias):
    for averaged in (False, True):
        layout = Layout(k, 1, averaged)
        assert_alike(both("aggressive", problem(k, space), layout, SPACES[space], limits, bias), "aggressive")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("space", "k"), [("product", 1), ("product", 4), ("joint", 4)])
def test_stakes(space, k, loss):
    rng = np.random.default_rng(3)
    stakes = rng.random(2 if k == 1 else k * k) * 3
    if space == "joint":
        stakes.reshape(k, k)[np.diag_indices(k)] = 0
    rows, truth, order = problem(k, "joint" if k > 1 else "product")
    asked = (SPACES[space], LOSSES[loss], stakes)
    assert_alike(both("sgd", (rows, truth, order), Layout(k, 1), asked, RULES["sgd"][1]), "sgd")


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("rule", ["sgd", "adagrad"])
def test_penalties(rule, penalty, k):
    parts, setting = RULES[rule]
    setting = (*PENALTIES[penalty], 7.0, *setting[3:])
    data = problem(k, "product", zeros=0.1)
    asked = (SPACES["product"], LOSSES["log"], NONE)
    assert_alike(both(rule, data, Layout(k, parts, lazy=True), asked, setting), rule)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(("rule", "lazy"), [("sgd", False), ("adagrad", False), ("sgd", True)])
def test_means(rule, lazy, k):
    parts, setting = RULES[rule]
    setting = (0.0, 0.3 * lazy, 7.0, *setting[3:])
    layout = Layout(k, parts, True, lazy)
    asked = (SPACES["product"], LOSSES["hinge"], NONE)
    found = both(rule, problem(k, "product"), layout, asked, setting)
    ours, theirs = (layout.mean(state[0], state[2][1]) for _, state in found)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def slowly(module, rule, data, layout, asked, setting):
    """Step by step, all rows settled after each, and the mean of the iterates summed as it is defined."""
    rows, truth, order = data
    rates = RATE / np.sqrt(1 + np.arange(len(order)))
    state, total, bias = fresh(layout, seed=1), 0.0, 0.0
    for t in range(len(order)):
        module_step = getattr(module, f"learn_{rule}")
        module_step(rows, truth, (order[t : t + 1], rates[t : t + 1]), state, asked, setting)
        if layout.lazy:
            getattr(module, f"settle_{rule}")(state, setting)
        total = total + layout.part(state[0], 0)
        bias = bias + layout.part(state[1], 0)
    return layout.part(state[0], 0), total / len(order), bias / len(order)


@pytest.mark.parametrize("module", [kernels, twins])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("rule", ["sgd", "adagrad"])
def test_lazy_is_eager(rule, penalty, module):
    parts, setting = RULES[rule]
    setting = (*PENALTIES[penalty], 3.0, *setting[3:])
    layout, data, asked = Layout(4, parts, lazy=True), problem(4), (SPACES["joint"], LOSSES["log"], NONE)
    state = fresh(layout, seed=1)
    learn(module, rule, data, state, asked, setting)
    getattr(module, f"settle_{rule}")(state, setting)
    wanted, _, _ = slowly(module, rule, data, layout, asked, setting)
    np.testing.assert_allclose(layout.part(state[0], 0), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("module", [kernels, twins])
@pytest.mark.parametrize(("rule", "l2"), [("sgd", 0.0), ("adagrad", 0.0), ("sgd", 0.3), ("sgd", 30.0)])
def test_the_mean_is_the_mean_of_all_iterates(rule, l2, module):
    """A strong penalty makes the sums start again many times, and the mean does not notice."""
    parts, setting = RULES[rule]
    setting = (0.0, l2, 3.0, *setting[3:])
    layout, plain = Layout(4, parts, True, l2 > 0), Layout(4, parts, lazy=l2 > 0)
    data, asked = problem(4), (SPACES["joint"], LOSSES["perceptron"], NONE)
    state = fresh(layout, seed=1)
    learn(module, rule, data, state, asked, setting)
    if l2:
        getattr(module, f"settle_{rule}")(state, setting)
    _, wanted, bias = slowly(module, rule, data, plain, asked, setting)
    steps = state[2][1]
    assert steps == len(data[2])
    np.testing.assert_allclose(layout.mean(state[0], steps), wanted, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(layout.mean(state[1], steps), bias, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("penalty", [None, *PENALTIES])
@pytest.mark.parametrize("rule", RULES)
def test_sparse_and_dense_rows_agree(rule, penalty):
    parts, setting = RULES[rule]
    if penalty and rule == "ftrl":
        pytest.skip("FTRL has its own penalty")
    if penalty:
        setting = (*PENALTIES[penalty], 7.0, *setting[3:])
    layout = Layout(5, parts, lazy=penalty is not None)
    asked = (SPACES["joint"], LOSSES["log"], NONE)
    found = []
    for zeros in (0.0, 2.0):
        data = problem(5, zeros=zeros)
        data[2][:] = problem(5)[2]
        state = fresh(layout)
        learn(kernels, rule, (data[0], problem(5)[1], data[2]), state, asked, setting)
        if penalty:
            getattr(kernels, f"settle_{rule}")(state, setting)
        found.append(layout.part(state[0], 0))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-12)


def test_an_epoch_in_slices_has_the_same_bits():
    rows, truth, order = problem(5)
    layout, asked, setting = Layout(5, 2, lazy=True), (SPACES["joint"], LOSSES["log"], NONE), (0.1, 0.2, 9.0, 1e-8)
    whole, parts = fresh(layout), fresh(layout)
    rates = np.full(len(order), RATE)
    kernels.learn_adagrad(rows, truth, (order, rates), whole, asked, setting)
    for cut in (slice(0, 7), slice(7, 7), slice(7, 50), slice(50, None)):
        kernels.learn_adagrad(rows, truth, (order[cut], rates[cut]), parts, asked, setting)
    assert whole[0].tobytes() == parts[0].tobytes()
    assert whole[1].tobytes() == parts[1].tobytes()


@pytest.mark.parametrize("module", [kernels, twins])
def test_a_perceptron_by_hand(module):
    """Ties are mistakes: the first step goes from class 1 to class 0, the second finds the truth ahead."""
    rows = np.array([0, 2, 3]), np.array([0, 1, 0], np.int32), np.array([1.0, 2.0, 3.0])
    truth = np.array([0, 1, 2]), np.array([0, 0], np.int32), NONE
    layout = Layout(3, 1)
    state = layout.zeros(2), np.zeros(0), np.zeros(3), layout.flags
    order = np.array([0, 1], np.int32), np.ones(2)
    found = module.learn_sgd(rows, truth, order, state, (SPACES["joint"], LOSSES["perceptron"], NONE), (0.0, 0.0, 1.0))
    assert found == (0.0, 1)
    assert layout.part(state[0], 0).tolist() == [[1.0, -1.0, 0.0], [2.0, -2.0, 0.0]]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("module", [kernels, twins])
def test_passive_aggressive_gives_the_margin_it_asks_for(module, space):
    rows, (offsets, labels, _), _ = problem(2)
    truth, layout, pa = (offsets, labels, NONE), Layout(2, 1), (np.inf, 0.0)
    state = layout.zeros(D), layout.zeros(1)[0], np.zeros(3), layout.flags
    for i in (0, 1, 2):
        order = np.array([i], np.int32)
        module.learn_aggressive(rows, truth, order, state, SPACES[space], pa)
        loss, _ = module.learn_aggressive(rows, truth, order, state, SPACES[space], pa)
        assert loss == pytest.approx(0.0, abs=1e-12)
