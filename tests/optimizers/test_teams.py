"""Problems solved side by side: their optimum against the solver of one by one, their certificate, their bits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from linnaeus import kernels
from linnaeus.arrays import CSR, Dense
from linnaeus.erm.objective import Objective
from linnaeus.erm.train import Stop, Watch, train, walk
from linnaeus.losses import LOSSES as LOSSES_OF_THE_HOUSE
from linnaeus.optimizers import DualAscent
from linnaeus.optimizers.dual import Binaries, Settings, solve_binaries, solve_teams
from linnaeus.optimizers.dual.grouped import Shape
from linnaeus.outputs import OUTPUTS
from linnaeus.regularizers import L2
from linnaeus.types import Start, Warm

LOSSES = {"hinge": lambda m: np.maximum(0, 1 - m), "squared_hinge": lambda m: np.maximum(0, 1 - m) ** 2}
TOL = {"hinge": 1e-4, "squared_hinge": 1e-8}
BIASES = ["free", "regularized", "none"]


def data(k, seed=0, n=80, d=9, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)).astype(dtype)
    X[3] = 0
    X[5] = X[4]
    y = np.argmax(X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k)), axis=1)
    return X, np.where(y[:, None] == np.arange(k), 1.0, -1.0)


def pose(X, Y, costs=1.0):
    X = csr_matrix(X)
    return Binaries(
        X=CSR(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, X.shape[1]),
        costs=np.broadcast_to(np.asarray(costs, np.float64), len(Y)).copy(),
        count=Y.shape[1],
        sides=lambda which: [(np.flatnonzero(Y[:, j] > 0), np.flatnonzero(Y[:, j] < 0)) for j in which],
    )


def values(loss, bias, X, Y, C, W, b):
    charged = 0.5 * b * b if bias == "regularized" else 0.0
    return 0.5 * (W * W).sum(axis=0) + charged + (C * LOSSES[loss](Y * (X @ W + b))).sum(axis=0)


@pytest.mark.parametrize("k", [3, 5, 11, 37])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_is_that_of_one_by_one(loss, bias, k):
    X, Y = data(k)
    costs = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], len(Y))
    problems = pose(X, Y, costs)
    C = costs[:, None]
    told = []
    tol = TOL[loss]
    W, b = solve_teams(problems, Settings(loss, bias, tol, 3000), told.append)
    V, c = solve_binaries(problems, Settings(loss, bias, tol, 3000))
    ours, theirs = values(loss, bias, X, Y, C, W, b), values(loss, bias, X, Y, C, V, c)
    assert (ours <= theirs * (1 + 3 * tol)).all()
    assert (ours - told[-1].dual <= 1.01 * tol * ours).all()
    assert (told[-1].dual <= theirs).all()
    if loss == "squared_hinge":
        np.testing.assert_allclose(W, V, atol=1e-2)
    if bias == "none":
        assert not b.any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_certificate_is_a_bound_also_with_short_weights(loss, bias, dtype):
    X, Y = data(6, 2, dtype=dtype)
    best, c = solve_binaries(pose(X.astype(np.float64), Y, 0.2), Settings(loss, bias, 1e-9, 5000))
    optimum, tol = values(loss, bias, X, Y, 0.2, best, c), max(TOL[loss], 1e-4)
    told = []
    W, b = solve_teams(pose(X, Y, 0.2), Settings(loss, bias, tol, 1000), told.append)
    last = told[-1]
    found = values(loss, bias, X.astype(np.float64), Y, 0.2, W, b)
    assert last.fresh
    np.testing.assert_allclose(last.primal, found, rtol=1e-10)
    assert (last.dual <= optimum * (1 + 1e-9)).all()
    assert (last.primal - last.dual <= tol * last.primal).all()
    assert (found <= optimum * (1 + 1.01 * tol)).all()
    assert all((p.primal >= optimum * (1 - 1e-9)).all() for p in told if p.fresh)


def test_short_weights_only_where_they_are_exact_enough():
    X, Y = data(4, dtype=np.float32)

    def kind(X, tol):
        told = []
        solve_teams(pose(X, Y), Settings("squared_hinge", "free", tol, 2), told.append)
        return told[-1].state()["weights"].dtype

    assert kind(X, 1e-3) == np.float32
    assert kind(X, 1e-7) == kind(X.astype(np.float64), 1e-3) == np.float64


def test_what_is_not_for_teams_is_left_to_others():
    X, Y = data(3)
    tried = Settings("squared_hinge", "free", 1e-3)
    missing = Y.copy()
    missing[0, 1] = 0
    assert solve_teams(pose(X, Y[:, :2]), tried) is None
    assert solve_teams(pose(X, missing), tried) is None
    assert solve_teams(pose(X, Y), Settings("logistic", "free", 1e-3)) is None
    told = []
    solve_binaries(pose(X, Y), tried, told.append)
    assert solve_teams(pose(X, Y), tried, saved=told[0].state()) is None


@pytest.mark.parametrize("loss", LOSSES)
def test_classes_without_rows_and_rows_without_cost(loss):
    X, Y = data(5)
    Y[:, 2] = -1.0
    Y[:, 4] = 1.0
    W, b = solve_teams(pose(X, Y), Settings(loss, "free", TOL[loss]))
    assert not W[:, [2, 4]].any()
    assert b[2] == -1.0
    assert b[4] == 1.0
    W, b = solve_teams(pose(X, Y, 0.0), Settings(loss, "free", TOL[loss]))
    assert not W.any()
    assert solve_teams(pose(X[:0], Y[:0]), Settings(loss, "none", TOL[loss]))[0].shape == (9, 5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_same_bits_for_any_threads_and_after_a_rest(loss, dtype, monkeypatch):
    X, Y = data(37, n=300, dtype=dtype)
    settings = Settings(loss, "free", max(TOL[loss], 1e-4), 400)
    told = []
    W, b = solve_teams(pose(X, Y), settings, lambda progress: told.append(progress.state()))
    for threads in (2, 3, 8):
        monkeypatch.setattr(kernels, "thread_count", lambda threads=threads: threads)
        V, c = solve_teams(pose(X, Y), settings)
        assert V.tobytes() == W.tobytes()
        assert c.tobytes() == b.tobytes()
    assert "rest.alpha" in told[-1]
    assert "rest.alpha" not in told[0]
    for state in (told[0], told[len(told) // 2], told[-2]):
        V, c = solve_teams(pose(X, Y), settings, saved=state)
        assert V.tobytes() == W.tobytes()
        assert c.tobytes() == b.tobytes()


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_path_ends_at_the_optimum(loss, bias):
    X, Y = data(20, 3, n=400, d=30)
    y = np.argmax(Y, axis=1)

    def objective(strength):
        losses = LOSSES_OF_THE_HOUSE[loss]()
        return Objective(Dense(X), y, OUTPUTS["onevsrest"](), losses, L2(strength), np.ones(len(y)), 20, bias)

    legs = list(walk(objective, lambda _: (DualAscent(TOL[loss]), Stop(epochs=3000)), [80.0, 40.0, 20.0]))
    start = Start(objective(20.0).initial(), epochs=3000)
    cold = train(objective(20.0), DualAscent(TOL[loss]), Watch(Stop(epochs=3000)), start)
    warm, alone = (objective(20.0).value(params) for params in (legs[-1].params, cold.params))
    assert warm == pytest.approx(alone, rel=1e-4)


def test_problems_are_dealt_out_by_their_number_alone():
    for count in (3, 4, 5, 8, 9, 16, 17, 20, 77, 200):
        shape = Shape.of(count)
        assert [j for t in range(shape.teams) for j in shape.team(t)] == list(range(count))
        assert shape.each <= shape.lanes
        numbers = np.arange(count, dtype=np.float64)
        assert shape.collect(shape.deal(numbers, -1.0)).tolist() == numbers.tolist()


def test_the_next_leg_begins_with_what_the_last_problems_came_to():
    X, Y = data(12, n=200)
    told = []
    settings = Settings("squared_hinge", "free", 1e-7, 1000)
    W, _ = solve_teams(pose(X, Y), settings, told.append)
    state = told[-1].state()
    assert any(name.startswith("rest.") for name in state)
    again = []
    V, _ = solve_teams(pose(X, Y), settings, again.append, warm=Warm(state, 1.0))
    assert len(again) < len(told) / 2
    np.testing.assert_allclose(V, W, atol=1e-3)
