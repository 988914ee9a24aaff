"""The small network: its gradient is that of central differences and of PyTorch, and bad input gets a sentence."""

import numpy as np
import pytest

from linnaeus.errors import UsageError
from linnaeus.learners.networks import by_hand

SIZES = [(2, 3, 2), (2, 1, 2), (5, 4, 3), (1, 2, 1)]
NAMES = ("W", "b", "V", "c")


def case(inputs, hidden, classes, n=6):
    rng = np.random.default_rng(inputs + hidden)
    network = by_hand.random_network(inputs, hidden, classes, rng)
    network = by_hand.Network(network.W, rng.normal(size=hidden), network.V, rng.normal(size=classes))
    return network, rng.normal(size=(n, inputs)), rng.integers(0, classes, n)


@pytest.mark.parametrize("sizes", SIZES)
def test_every_derivative_agrees_with_central_differences(sizes):
    network, X, y = case(*sizes)
    run = by_hand.forward(network, X)
    found = by_hand.backward(network, run, y)
    close = by_hand.differences(network, X, y)
    for name in NAMES:
        np.testing.assert_allclose(getattr(found.gradient, name), getattr(close, name), atol=1e-8)
    for at in np.ndindex(X.shape):
        moved = [by_hand.cross_entropy(by_hand.forward(network, X + sign * unit(X, at)), y) for sign in (1, -1)]
        assert found.X[at] == pytest.approx((moved[0] - moved[1]) / 2e-5, abs=1e-8)


def unit(X, at):
    E = np.zeros_like(X)
    E[at] = 1e-5
    return E


@pytest.mark.parametrize("sizes", SIZES)
def test_every_derivative_is_that_of_torch(sizes):
    torch = pytest.importorskip("torch")
    network, X, y = case(*sizes)
    t = {name: torch.tensor(getattr(network, name), requires_grad=True) for name in NAMES}
    inputs = torch.tensor(X, requires_grad=True)
    Z = torch.nn.functional.linear(inputs, t["W"], t["b"])
    H = torch.tanh(Z)
    S = torch.nn.functional.linear(H, t["V"], t["c"])
    for middle in (Z, H, S):
        middle.retain_grad()
    loss = torch.nn.functional.cross_entropy(S, torch.tensor(y))
    loss.backward()
    run = by_hand.forward(network, X)
    found = by_hand.backward(network, run, y)
    assert by_hand.cross_entropy(run, y) == pytest.approx(loss.item(), abs=1e-12)
    for name, value in {"Z": Z, "H": H, "S": S, "X": inputs, **t}.items():
        np.testing.assert_allclose(getattr(found, name), value.grad.numpy(), atol=1e-10, rtol=0, err_msg=name)
    for name, value in {"Z": Z, "H": H, "S": S, "P": S.softmax(dim=1)}.items():
        np.testing.assert_allclose(getattr(run, name), value.detach().numpy(), atol=1e-10, rtol=0, err_msg=name)


def test_the_gradient_is_the_mean_over_the_rows():
    network, X, y = case(2, 3, 2)
    every = by_hand.backward(network, by_hand.forward(network, X), y).gradient
    single = [by_hand.backward(network, by_hand.forward(network, X[[i]]), y[[i]]).gradient.W for i in range(len(X))]
    np.testing.assert_allclose(every.W, np.mean(single, axis=0), atol=1e-15)


def test_a_small_step_lowers_the_loss_and_the_old_network_stays_as_it_is():
    network, X, y = case(2, 3, 2)
    before = network.W.copy()
    path = by_hand.fit(network, X, y, rate=0.01, steps=20)
    values = [by_hand.cross_entropy(by_hand.forward(one, X), y) for one in path]
    assert len(path) == 21
    assert (np.diff(values) < 0).all()
    np.testing.assert_array_equal(network.W, before)


def test_large_scores_do_not_overflow():
    network = by_hand.Network([[1.0]], [0.0], [[-1e4], [1e4]], [0.0, 0.0])
    run = by_hand.forward(network, [[5.0], [-5.0]])
    np.testing.assert_array_equal(run.P, [[0, 1], [1, 0]])
    assert by_hand.cross_entropy(run, [1, 0]) == 0
    assert by_hand.cross_entropy(run, [0, 1]) == pytest.approx(2e4 * np.tanh(5))


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (([[1.0, 2.0]], [0.0, 0.0], [[1.0]], [0.0]), "do not fit together"),
        (([1.0, 2.0], [0.0], [[1.0]], [0.0]), "do not fit together"),
        (([[1.0]], [0.0], [[1.0, 2.0]], [0.0]), "do not fit together"),
        (([[1.0]], [0.0], [[1.0]], [0.0, 1.0]), "do not fit together"),
    ],
)
def test_weights_that_do_not_fit_together(weights, said):
    with pytest.raises(UsageError, match=said):
        by_hand.Network(*weights)


@pytest.mark.parametrize("X", [[1.0, 2.0], [[1.0]], [[1.0, 2.0, 3.0]]])
def test_inputs_of_another_width(X):
    network, _, _ = case(2, 3, 2)
    with pytest.raises(UsageError, match="rows of 2 numbers"):
        by_hand.forward(network, X)


def test_no_rows_have_no_answers_and_no_loss():
    network, _, _ = case(2, 3, 2)
    assert by_hand.predict(network, np.zeros((0, 2))).tolist() == []
    with pytest.raises(UsageError, match="at least one row"):
        by_hand.cross_entropy(by_hand.forward(network, np.zeros((0, 2))), [])


@pytest.mark.parametrize("y", [[0], [0, 2], [0, -1], [0.0, 1.0], ["a", "b"], [[0, 1]]])
def test_classes_that_are_not_there(y):
    network, X, _ = case(2, 3, 2, n=2)
    with pytest.raises(UsageError, match="2 whole numbers from 0 to 1"):
        by_hand.cross_entropy(by_hand.forward(network, X), y)
