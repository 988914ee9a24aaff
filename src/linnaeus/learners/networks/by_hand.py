"""A network with one hidden layer, and its gradient by the chain rule: plain NumPy, one line for each symbol.

    Z = X W' + b      H = tanh(Z)      S = H V' + c      P = softmax(S)      loss = - mean log P[y]

Rows are examples: X (n, d), hidden units H (n, m), scores S (n, k). Each matrix of weights has a row for each unit that
it leads to: W (m, d) and V (k, m), as in most textbooks and in PyTorch. `dA` is the derivative of the loss with respect
to each number of A, and has the shape of A.

This is the definition that faster networks are compared with. Reference: Rumelhart, Hinton and Williams (1986).
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Doubles, Longs


@dataclass(frozen=True, eq=False)
class Network:
    """The weights of the network; a gradient has the same shape.

    >>> network = Network(W=[[1, 2], [0, 1], [3, 0]], b=[0, 0, 1], V=[[1, 0, 1], [0, 1, 0]], c=[0, 0])
    >>> network.W.shape, network.V.shape, network.count
    ((3, 2), (2, 3), 17)
    """

    W: Doubles
    b: Doubles
    V: Doubles
    c: Doubles

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, np.array(getattr(self, field.name), np.float64))
        shapes = [self.W.shape, self.b.shape, self.V.shape, self.c.shape]
        if list(map(len, shapes)) != [2, 1, 2, 1] or shapes[1:] != [(m := len(self.W),), (k := len(self.V), m), (k,)]:
            raise UsageError(
                "The weights of a network do not fit together: W is (hidden, inputs), b is (hidden,), V is (classes, "
                f"hidden) and c is (classes,), but the shapes are {', '.join(map(str, shapes))}."
            )

    @property
    def count(self) -> int:
        """How many weights there are."""
        return sum(getattr(self, field.name).size for field in fields(self))


@dataclass(frozen=True, eq=False)
class Forward:
    """What the forward pass computes, from the inputs to the probabilities.

    >>> forward(Network([[0.0]], [0.0], [[1.0], [1.0]], [0.0, 0.0]), [[5.0]]).P.tolist()
    [[0.5, 0.5]]
    """

    X: Doubles
    Z: Doubles
    H: Doubles
    S: Doubles
    P: Doubles


@dataclass(frozen=True, eq=False)
class Backward:
    """The derivative of the loss with respect to everything of this name, from the scores back to the inputs.

    >>> network = Network([[0.0]], [0.0], [[1.0], [1.0]], [0.0, 0.0])
    >>> backward(network, forward(network, [[5.0]]), [1]).S.tolist()
    [[0.5, -0.5]]
    """

    S: Doubles
    V: Doubles
    c: Doubles
    H: Doubles
    Z: Doubles
    W: Doubles
    b: Doubles
    X: Doubles

    @property
    def gradient(self) -> Network:
        """The part that belongs to the weights."""
        return Network(self.W, self.b, self.V, self.c)


def random_network(inputs: int, hidden: int, classes: int, rng: np.random.Generator) -> Network:
    """Small random weights, and biases of zero: with equal weights all hidden units would stay equal for ever.

    >>> random_network(2, 3, 2, np.random.default_rng(0)).count
    17
    """
    W = rng.normal(size=(hidden, inputs)) / np.sqrt(inputs)
    V = rng.normal(size=(classes, hidden)) / np.sqrt(hidden)
    return Network(W, np.zeros(hidden), V, np.zeros(classes))


def forward(network: Network, X: Array) -> Forward:
    """Compute the hidden units, the scores and the probabilities of rows.

    >>> network = Network([[1.0, 1.0]], [0.0], [[-1.0], [1.0]], [0.0, 0.0])
    >>> forward(network, [[0.0, 0.0], [1.0, 1.0]]).H.round(3).tolist()
    [[0.0], [0.964]]
    """
    X = np.asarray(X, np.float64)
    if X.ndim != 2 or X.shape[1] != network.W.shape[1]:
        raise UsageError(f"The inputs of this network are rows of {network.W.shape[1]} numbers, not {X.shape}.")
    Z = X @ network.W.T + network.b
    H = np.tanh(Z)
    S = H @ network.V.T + network.c
    E = np.exp(S - S.max(axis=1, keepdims=True))  # the largest score is 0, so that nothing overflows
    P = E / E.sum(axis=1, keepdims=True)
    return Forward(X, Z, H, S, P)


def cross_entropy(run: Forward, y: Array) -> float:
    """The mean of -log P[y], where y has the numbers of the true classes.

    >>> run = forward(Network([[0.0]], [0.0], [[1.0], [1.0]], [0.0, 0.0]), [[5.0]])
    >>> bool(np.isclose(cross_entropy(run, [1]), np.log(2)))
    True
    """
    top = run.S.max(axis=1, keepdims=True)
    log_P = run.S - top - np.log(np.exp(run.S - top).sum(axis=1, keepdims=True))
    return float(-log_P[np.arange(len(run.S)), _classes(run, y)].mean())


def backward(network: Network, run: Forward, y: Array) -> Backward:
    """Apply the chain rule, from the scores back to the inputs.

    >>> X, y, network = [[0.5, -2.0]], [1], random_network(2, 3, 2, np.random.default_rng(0))
    >>> exact = backward(network, forward(network, X), y).gradient
    >>> bool(np.allclose(exact.W, differences(network, X, y).W, atol=1e-6))
    True
    """
    n, k = run.S.shape
    truth = np.eye(k)[_classes(run, y)]
    dS = (run.P - truth) / n  # of the softmax and the logarithm together
    dV = dS.T @ run.H  # S = H V' + c
    dc = dS.sum(axis=0)
    dH = dS @ network.V
    dZ = dH * (1 - run.H**2)  # H = tanh(Z), and the derivative of tanh is 1 - tanh^2
    dW = dZ.T @ run.X  # Z = X W' + b
    db = dZ.sum(axis=0)
    dX = dZ @ network.W  # where inputs are word vectors, these learn too
    return Backward(dS, dV, dc, dH, dZ, dW, db, dX)


def step(network: Network, gradient: Network, rate: float) -> Network:
    """Go down the gradient: each weight changes by -rate times its derivative.

    >>> network = Network([[0.0]], [0.0], [[1.0], [1.0]], [0.0, 0.0])
    >>> slope = backward(network, forward(network, [[5.0]]), [1]).gradient
    >>> step(network, slope, rate=0.1).c.tolist()
    [-0.05, 0.05]
    """
    return Network(*(getattr(network, f.name) - rate * getattr(gradient, f.name) for f in fields(network)))


def fit(start: Network, X: Array, y: Array, rate: float, steps: int) -> list[Network]:
    """Gradient descent on all rows: the network before the first step, and after each step.

    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> networks = fit(random_network(2, 3, 2, np.random.default_rng(0)), X, y, rate=1.0, steps=300)
    >>> predict(networks[-1], X).tolist()
    [0, 1, 1, 0]
    """
    networks = [start]
    for _ in range(steps):
        slope = backward(networks[-1], forward(networks[-1], X), y).gradient
        networks.append(step(networks[-1], slope, rate))
    return networks


def predict(network: Network, X: Array) -> Longs:
    """The class with the largest score, for each row; of equal scores the first.

    >>> predict(Network([[1.0]], [0.0], [[-1.0], [1.0]], [0.0, 0.0]), [[-3.0], [2.0]]).tolist()
    [0, 1]
    """
    return forward(network, X).S.argmax(axis=1)


def differences(network: Network, X: Array, y: Array, move: float = 1e-5) -> Network:
    """The gradient without any chain rule: each weight is moved up and down, and the change of the loss is divided.

        (loss(w + move) - loss(w - move)) / (2 move)

    >>> network = Network([[0.0]], [0.0], [[1.0], [1.0]], [0.0, 0.0])
    >>> differences(network, [[5.0]], [1]).c.round(6).tolist()
    [0.5, -0.5]
    """

    def slope(name: str, at: tuple[int, ...]) -> float:
        moved = []
        for sign in (1, -1):
            values = getattr(network, name).copy()
            values[at] += sign * move
            moved.append(cross_entropy(forward(replace(network, **{name: values}), X), y))
        return (moved[0] - moved[1]) / (2 * move)

    found = {}
    for field in fields(network):
        shape = getattr(network, field.name).shape
        found[field.name] = np.reshape([slope(field.name, at) for at in np.ndindex(shape)], shape)
    return Network(**found)


def _classes(run: Forward, y: Array) -> Longs:
    n, k = run.S.shape
    y = np.asarray(y)
    if not n:
        raise UsageError("A loss needs at least one row; give the network some.")
    if y.shape != (n,) or y.dtype.kind not in "iu" or not 0 <= y.min() <= y.max() < k:
        raise UsageError(f"The true classes of {n} rows are {n} whole numbers from 0 to {k - 1}.")
    return y.astype(np.int64)
