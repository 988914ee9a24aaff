"""Coordinate descent with working sets: optima of other solvers, certified gaps, the same bits for any threads."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from linnaeus import kernels
from linnaeus.arrays.csr import CSR, transpose
from linnaeus.arrays.dense import Dense
from linnaeus.erm.objective import Objective
from linnaeus.losses import LOSSES, Exponential, Hinge, Huber, Log, Logistic, ModifiedHuber, Squared, SquaredHinge
from linnaeus.optimizers import CoordinateDescent, ProximalGradient
from linnaeus.optimizers.coordinate_descent import Problem, RowLoss
from linnaeus.outputs import Binary, Multiclass, MultiLabel, OneVsOne, OneVsRest, Real
from linnaeus.regularizers import L1, L2, ElasticNet, Group, NoPenalty
from linnaeus.types import LabelSets, Start

SMOOTH = [Logistic(), SquaredHinge(), Squared(), ModifiedHuber(), Huber(0.5), Exponential(), Log()]
PENALTIES = [L1(0.7), ElasticNet(1.0, mix=0.4), L2(0.5)]


def sparse(dense):
    """A dense matrix as CSR."""
    made = csr_matrix(dense)
    return CSR(made.indptr.astype(np.int64), made.indices.astype(np.int32), made.data, dense.shape[1])


class EnoughError(Exception):
    pass


def make(n=120, d=40, k=2, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    dense = np.abs(rng.standard_normal((n, d))) * (rng.random((n, d)) < 0.2)
    y = np.argmax(dense @ rng.standard_normal((d, k)) + rng.standard_normal((n, k)), axis=1)
    return sparse(dense.astype(dtype)), y


def objective(loss, penalty, space=None, **changes):
    X, y = make()
    made = Objective(X, y, space or Binary(), loss, penalty, np.ones(len(y)), 2)
    return replace(made, **changes)


def solve(problem, solver=None, tol=1e-9, epochs=500, start=None):
    steps = []

    def report(step):
        steps.append((step, step.params()))
        if step.epoch >= epochs or (step.gap is not None and step.gap <= tol * step.value):
            raise EnoughError

    with contextlib.suppress(EnoughError):
        (solver or CoordinateDescent()).minimize(problem, start or Start(problem.initial()), report)
    return steps


def conditions(problem, params):
    """The largest violation of the conditions of the optimum."""
    _, G = problem.smooth_and_grad(params)
    l1, l2 = problem.regularizer.l1, problem.regularizer.l2
    W, slopes = params["W"], G["W"] + l2 * params["W"]
    at_zero = np.maximum(np.abs(slopes) - l1, 0)
    worst = np.where(W == 0, at_zero, np.abs(slopes + l1 * np.sign(W))).max()
    return max(worst, np.abs(G["b"]).max()) if problem.bias == "free" else worst


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: type(penalty).__name__)
@pytest.mark.parametrize("bias", ["free", "none"])
def test_it_ends_where_the_conditions_of_the_optimum_hold(loss, penalty, bias):
    problem = objective(loss, penalty, bias=bias)
    steps = solve(problem)
    last, params = steps[-1]
    assert conditions(problem, params) < 2e-3
    np.testing.assert_allclose(last.value, problem.value(params), rtol=1e-12)
    assert last.gap is not None
    assert last.gap <= 1e-9 * last.value or len(steps) < 500


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: type(penalty).__name__)
def test_gaps_are_bounds(loss, penalty):
    problem = objective(loss, penalty)
    steps = solve(problem)
    best = steps[-1][0].value
    for step, _ in steps:
        assert step.value - best <= step.gap + 1e-9
    values = [step.value for step, _ in steps]
    assert all(b <= a + 1e-12 * a for a, b in itertools.pairwise(values))


@pytest.mark.parametrize("c", [0.1, 1.0, 3.0])
def test_logistic_l1_has_the_optimum_of_scikit_learn(c):
    from sklearn.linear_model import LogisticRegression

    problem = objective(Logistic(), L1(1 / c))
    params = solve(problem)[-1][1]
    peer = LogisticRegression(C=c, l1_ratio=1.0, solver="saga", tol=1e-9, max_iter=50000)
    peer.fit(problem.X.to_scipy(), problem.y)
    theirs = {"W": peer.coef_.T, "b": peer.intercept_}
    assert problem.value(params) <= problem.value(theirs) * (1 + 1e-8)
    np.testing.assert_allclose(params["W"][:, 0], peer.coef_[0], atol=1e-4)


@pytest.mark.parametrize("mix", [1.0, 0.3])
def test_lasso_and_elastic_net_have_the_optimum_of_scikit_learn(mix):
    from sklearn.linear_model import ElasticNet as Peer

    X, _ = make()
    y = X.to_scipy() @ np.linspace(-1, 1, 40) + 0.1 * np.random.default_rng(1).standard_normal(120)
    problem = Objective(X, y[:, None], Real(), Squared(), ElasticNet(2.4, mix=mix), np.ones(120), 1)
    params = solve(problem)[-1][1]
    # scikit-learn's objective is ours over 2 n; its alpha multiplies the same mixture.
    peer = Peer(alpha=2.4 / 240, l1_ratio=mix, tol=1e-12, max_iter=100_000).fit(X.to_scipy().toarray(), y)
    np.testing.assert_allclose(params["W"][:, 0], peer.coef_, atol=1e-5)
    np.testing.assert_allclose(params["b"], peer.intercept_, atol=1e-5)


def test_one_weight_against_a_search():
    X = sparse(np.array([[1.0], [2.0], [-1.0], [0.5]]))
    problem = Objective(X, np.array([1, 0, 0, 1]), Binary(), Logistic(), L1(0.2), np.ones(4), 2, "none")
    found = solve(problem)[-1][1]["W"][0, 0]
    grid = np.linspace(-2, 2, 4001)
    values = [problem.value({"W": np.array([[w]])}) for w in grid]
    assert abs(found - grid[int(np.argmin(values))]) < 1e-3


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()])
def test_above_the_largest_strength_all_weights_are_zero(loss):
    problem = objective(loss, L1(1.0))
    still = solve(objective(loss, L1(1e6)))[-1][1]
    largest = float(np.abs(problem.smooth_and_grad(still)[1]["W"]).max())
    assert not solve(objective(loss, L1(largest * 1.0001)))[-1][1]["W"].any()
    assert solve(objective(loss, L1(largest * 0.999)))[-1][1]["W"].any()


@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
@pytest.mark.parametrize("penalty", [L1(0.7), ElasticNet(1.0)])
def test_it_agrees_with_proximal_gradient(bias, penalty):
    problem = objective(Logistic(), penalty, bias=bias)
    ours = solve(problem)[-1][1]
    theirs = solve(problem, ProximalGradient(), epochs=300)[-1][1]
    np.testing.assert_allclose(problem.value(ours), problem.value(theirs), rtol=1e-7)
    assert set(ours) == set(theirs)


def many(space, y, k, threads=1, **changes):
    X, _ = make(n=150, d=60, seed=2)
    problem = Objective(X, y, space, Logistic(), L1(0.5), np.ones(150), k)
    with kernels.threads(threads):
        return problem, solve(replace(problem, **changes), tol=1e-7)


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("k", [2, 5])
def test_the_bits_do_not_depend_on_the_number_of_threads(threads, k):
    y = np.random.default_rng(0).integers(0, k, 150)
    space = Binary() if k == 2 else OneVsRest()
    alone, together = many(space, y, k)[1], many(space, y, k, threads)[1]
    assert len(alone) == len(together)
    for (a, p), (b, q) in zip(alone, together, strict=True):
        assert (a.value, a.gap) == (b.value, b.gap)
        assert p["W"].tobytes() == q["W"].tobytes()
        assert p["b"].tobytes() == q["b"].tobytes()


def test_one_vs_rest_is_as_many_binary_problems():
    y = np.random.default_rng(0).integers(0, 3, 150)
    problem, steps = many(OneVsRest(), y, 3)
    for j in range(3):
        binary = replace(problem, y=(y == j).astype(int), space=Binary(), k=2)
        alone = solve(binary, tol=1e-9)[-1][1]
        np.testing.assert_allclose(steps[-1][1]["W"][:, j], alone["W"][:, 0], atol=2e-3)


@pytest.mark.parametrize("space", [OneVsOne(), MultiLabel()])
def test_other_products_of_binaries(space):
    y = np.random.default_rng(0).integers(0, 3, 150)
    truth = y if isinstance(space, OneVsOne) else LabelSets(np.arange(151), y.astype(np.int32))
    problem, steps = many(space, truth, 3)
    assert conditions(problem, steps[-1][1]) < 2e-2
    assert steps[-1][0].gap <= 1e-7 * steps[-1][0].value


def test_weights_of_rows_are_repetitions_and_zero_is_absence():
    X, y = make()
    times = np.random.default_rng(3).integers(0, 3, len(y))
    weighted = objective(Logistic(), L1(0.5), weights=times.astype(float))
    rows = np.repeat(np.arange(len(y)), times)
    repeated = objective(Logistic(), L1(0.5), X=X.take(rows), y=y[rows], weights=np.ones(len(rows)))
    a, b = solve(weighted)[-1][1], solve(repeated)[-1][1]
    np.testing.assert_allclose(a["W"], b["W"], atol=1e-4)


def test_float32_and_dense_rows_find_the_same():
    X, _ = make(dtype=np.float32)
    single = solve(objective(Logistic(), L1(0.5), X=X))[-1][1]
    double = solve(objective(Logistic(), L1(0.5), X=replace(X, data=X.data.astype(np.float64))))[-1][1]
    assert single["W"].tobytes() == double["W"].tobytes()
    dense = Dense(X.to_scipy().toarray())
    for ours, theirs in zip(transpose(dense.to_csr()).arrays, transpose(X).arrays, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("solver", [CoordinateDescent(), ProximalGradient()])
def test_taken_up_again_it_goes_on_with_the_same_bits(solver):
    problem = objective(Logistic(), L1(0.05))
    whole = solve(problem, solver, tol=0.0, epochs=6)
    half = solve(problem, solver, tol=0.0, epochs=2)[-1]
    state = {name: value.copy() for name, value in half[0].state().items()}
    rest = solve(problem, solver, tol=0.0, epochs=6, start=Start(half[1], 2, state))
    assert [step.epoch for step, _ in rest] == [step.epoch for step, _ in whole[2:]]
    for (a, p), (b, q) in zip(whole[2:], rest, strict=True):
        assert (a.value, a.gap) == (b.value, b.gap)
        assert p["W"].tobytes() == q["W"].tobytes()


def test_a_narrow_working_set_finds_the_same(monkeypatch):
    from linnaeus.optimizers import coordinate_descent as room

    wide = solve(objective(Logistic(), L1(0.1)))[-1][0].value
    monkeypatch.setattr(room, "SMALLEST_SET", 2)
    narrow = solve(objective(Logistic(), L1(0.1)))
    assert len(narrow) > 3
    np.testing.assert_allclose(narrow[-1][0].value, wide, rtol=1e-8)


def test_a_loss_without_a_conjugate_has_no_gap_and_still_ends_at_the_optimum():
    class Own(Logistic):
        def conjugate(self, a):
            return None

    own = solve(objective(Own(), L1(0.5)), epochs=200)
    assert all(step.gap is None for step, _ in own)
    assert len(own) < 200
    np.testing.assert_allclose(own[-1][0].value, solve(objective(Logistic(), L1(0.5)))[-1][0].value, rtol=1e-8)


def test_the_curvature_of_the_model_bounds_the_logistic_loss_on_the_wrong_side():
    phi = RowLoss(Logistic(), np.ones(50), np.zeros(50), np.ones(50))
    z = np.linspace(-8, -0.1, 50)
    slope, curve = phi.model(z)
    for move in (-3.0, 0.5, 4.0, 9.0):
        promised = Logistic().value(z) + slope * move + 0.5 * curve * move**2
        assert (Logistic().value(z + move) <= promised + 1e-12).all()


def test_one_problem_by_hand():
    X, y = make()
    phi = RowLoss(Logistic(), 2.0 * y - 1.0, np.zeros(len(y)), np.ones(len(y)))
    problem = Problem(transpose(X), phi, 0.5, 0.0, np.zeros(40), np.zeros(1))
    problem.look()
    problem.judge(kernels.correlate(problem.columns.arrays, problem.alpha, 1))
    before = problem.value
    problem.advance()
    problem.look()
    problem.judge(kernels.correlate(problem.columns.arrays, problem.alpha, 1))
    assert problem.value < before
    assert problem.gap is not None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"regularizer": Group(1.0)}, "single weights"),
        ({"loss": Hinge()}, "second derivative"),
        ({"loss": LOSSES["probability"]()}, "second derivative"),
        ({"space": Multiclass()}, "needs independent scores"),
        ({"loss": Log(), "space": Binary(costs=((0.0, 2.0), (1.0, 0.0)))}, "without costs"),
    ],
)
def test_what_it_cannot_do_it_says(changes, sentence):
    problem = replace(objective(Logistic(), L1(1.0)), **changes)
    assert sentence in CoordinateDescent().refuse(problem)


@pytest.mark.parametrize("penalty", [L1(1.0), ElasticNet(), L2(), NoPenalty()])
def test_what_it_can_do_it_does_not_refuse(penalty):
    assert CoordinateDescent().refuse(objective(Logistic(), penalty)) is None
