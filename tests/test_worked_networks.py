"""The worked examples that concern networks, through the public API."""

import numpy as np
import pytest

import linnaeus
from linnaeus.learners.networks import by_hand
from linnaeus.losses import Log
from linnaeus.outputs import Multiclass

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR = np.array([0, 1, 1, 0])


@pytest.mark.parametrize("seed", range(5))
def test_6_a_hidden_layer_learns_exclusive_or(seed):
    start = by_hand.random_network(2, 3, 2, np.random.default_rng(seed))
    networks = by_hand.fit(start, CORNERS, XOR, rate=1.0, steps=300)
    assert by_hand.predict(networks[-1], CORNERS).tolist() == XOR.tolist()


def test_6_without_a_hidden_layer_neither_the_perceptron_nor_logistic_regression_learns_it():
    for model in (linnaeus.Perceptron(epochs=300), linnaeus.LogisticRegression()):
        assert model.fit(CORNERS, XOR).score(CORNERS, XOR) < 1


@pytest.mark.parametrize("seed", range(20))
def test_20_every_derivative_of_a_small_network_agrees_with_a_central_difference(seed):
    rng = np.random.default_rng(seed)
    network = by_hand.Network(rng.normal(size=(3, 2)), rng.normal(size=3), rng.normal(size=(2, 3)), rng.normal(size=2))
    x, y = rng.normal(size=(1, 2)), [seed % 2]
    run = by_hand.forward(network, x)
    exact, close = by_hand.backward(network, run, y), by_hand.differences(network, x, y)
    assert network.count == 17
    for name in ("W", "b", "V", "c"):
        np.testing.assert_allclose(getattr(exact.gradient, name), getattr(close, name), atol=1e-6, rtol=0)
    loss, slope = Log().value_and_grad(Multiclass(), run.S, np.array(y))
    assert by_hand.cross_entropy(run, y) == pytest.approx(loss[0])
    np.testing.assert_allclose(exact.S, slope, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_23_the_chain_rule_with_linear_hidden_units_and_a_squared_loss(seed):
    rng = np.random.default_rng(seed)
    x, u, w, t = rng.normal(size=2), rng.normal(size=2), rng.normal(size=2), rng.normal()

    def loss(u, w):
        return (u @ (w * x) - t) ** 2

    slope = 2 * (u @ (w * x) - t)
    exact = {"u": slope * w * x, "w": slope * u * x}
    for i, move in enumerate(1e-5 * np.eye(2)):
        du, dw = loss(u + move, w) - loss(u - move, w), loss(u, w + move) - loss(u, w - move)
        assert exact["u"][i] == pytest.approx(du / 2e-5, abs=1e-6)
        assert exact["w"][i] == pytest.approx(dw / 2e-5, abs=1e-6)
