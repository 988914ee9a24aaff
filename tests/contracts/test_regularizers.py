"""Every regularizer: prox against brute force, flow against small steps, gradient against differences."""

import numpy as np
import pytest
from scipy.optimize import minimize

from linnaeus.regularizers import REGULARIZERS, ElasticNet, Group


def _pieces():
    for name, piece in REGULARIZERS.items():
        if name == "none":
            yield piece()
            continue
        for strength in (0.0, 0.3, 2.0):
            yield piece(strength)
    yield ElasticNet(1.0, mix=0.0)
    yield ElasticNet(1.0, mix=1.0)


PIECES = list(_pieces())


@pytest.fixture
def W():  # noqa: N802
    return np.random.default_rng(1).normal(size=(5, 3))


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_gradient_is_the_difference(piece, W):
    V = np.random.default_rng(2).normal(size=W.shape)
    numeric = (piece.value(W + 1e-6 * V) - piece.value(W - 1e-6 * V)) / 2e-6
    assert (piece.grad(W) * V).sum() == pytest.approx(numeric, abs=1e-6)


@pytest.mark.parametrize("piece", PIECES, ids=repr)
@pytest.mark.parametrize("step", [0.1, 1.0])
def test_prox_is_the_brute_force_minimum(piece, W, step):
    found = piece.prox(W, step)

    def cost(v):
        return 0.5 * np.sum((v.reshape(W.shape) - W) ** 2) + step * piece.value(v.reshape(W.shape))

    brute = minimize(cost, W.ravel(), method="Powell", options={"xtol": 1e-10, "ftol": 1e-14, "maxiter": 100_000})
    assert cost(found.ravel()) <= brute.fun + 1e-9
    rng = np.random.default_rng(3)
    for scale in (1e-3, 1e-1):  # no small move is better
        assert all(cost(found.ravel()) <= cost(found.ravel() + scale * rng.normal(size=W.size)) for _ in range(50))


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_flow_is_the_limit_of_small_steps(piece, W):
    small = W.copy()
    for _ in range(20_000):
        small = piece.prox(small, 0.7 / 20_000)
    np.testing.assert_allclose(piece.flow(W, 0.7), small, atol=2e-4)


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_flows_compose(piece, W):
    """A row that was left alone catches up in one go."""
    there = piece.flow(piece.flow(W, 0.3), 0.4)
    np.testing.assert_allclose(there, piece.flow(W, 0.7), atol=1e-12)
    np.testing.assert_array_equal(piece.flow(W, 0.0), W)


def test_flow_takes_a_time_for_each_weight_or_row(W):
    times = np.linspace(0, 1, W.size).reshape(W.shape)
    piece = ElasticNet(1.5, mix=0.4)
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            assert piece.flow(W, times)[i, j] == pytest.approx(piece.flow(W[i : i + 1, j], times[i, j])[0])
    rows = np.linspace(0, 1, len(W))[:, None]
    for i in range(len(W)):
        np.testing.assert_allclose(Group(0.8).flow(W, rows)[i], Group(0.8).flow(W[[i]], rows[i, 0])[0])


@pytest.mark.parametrize("piece", [p for p in PIECES if getattr(p, "l2", 0) or getattr(p, "l1", 0)], ids=repr)
def test_parts_add_up(piece, W):
    whole = piece.l2 / 2 * (W**2).sum() + piece.l1 * np.abs(W).sum()
    assert piece.value(W) == pytest.approx(whole)
