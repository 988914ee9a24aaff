"""From the scores of the best labels of rows to chances, by a curve that is learned on held-out rows."""

from __future__ import annotations

import numpy as np

from linnaeus.types import Array, Doubles, Floats, Longs

LOWEST = -1e4
"""The score of a label that the search has not come to."""


def evidence(scores: Floats) -> tuple[Doubles, Doubles]:
    """The score of each of a row's best labels, and the logarithm of the sum of e^s of the others."""
    S = np.maximum(scores.astype(np.float64), LOWEST)
    E = np.exp(S)
    with np.errstate(divide="ignore"):
        rest = np.log(np.maximum(E.sum(axis=1, keepdims=True) - E, 1e-12))
    return S, rest


def curved(parts: tuple[Doubles, Doubles], curve: tuple[float, float, float]) -> Doubles:
    """Chances by a curve."""
    S, rest = parts
    a, b, c = curve
    return 1.0 / (1.0 + np.exp(-np.clip(a * S + b * rest + c, -500, 500)))


def uncalibrated(scores: Floats) -> Doubles:
    """Shares of e^score among a row's best labels."""
    E = np.exp(np.maximum(scores.astype(np.float64), LOWEST))
    return E / np.maximum(E.sum(axis=1, keepdims=True), 1e-300)


ROUNDS = 50
RIDGE = 1e-3
SHORTEST = 2.0**-20
"""Steps that are shorter are not halved."""


def learn_curve(scores: Floats, right: Array, weights: Doubles) -> tuple[float, float, float]:
    """The curve under which `right`, whether each of the best labels of held-out rows is true, is most likely.

    Logistic regression by Newton's method, with a slight penalty; a step that leads too far is halved.
    """
    S, rest = evidence(scores)
    there = np.isfinite(scores)
    X = np.stack([S[there], rest[there], np.ones(int(there.sum()))], axis=1)
    y, w = right[there].astype(np.float64), np.repeat(weights[:, None], scores.shape[1], axis=1)[there]

    def cost(theta: Doubles) -> float:
        z = X @ theta
        return float(w @ (np.logaddexp(0, z) - y * z) + RIDGE / 2 * theta @ theta)

    theta = np.array([1.0, 0.0, 0.0])
    for _ in range(ROUNDS):
        p = 1.0 / (1.0 + np.exp(-np.clip(X @ theta, -500, 500)))
        slope = X.T @ (w * (p - y)) + RIDGE * theta
        bend = (X * (w * p * (1 - p))[:, None]).T @ X + RIDGE * np.eye(3)
        step, now = np.linalg.solve(bend, slope), cost(theta)
        while cost(theta - step) > now and np.abs(step).max() > SHORTEST:
            step = step / 2
        theta = theta - step
        if np.abs(step).max() < 1e-9:
            break
    a, b, c = theta.tolist()
    return a, b, c


def learn_threshold(chances: Doubles, right: Array, sizes: Longs) -> float:
    """The chance from which a label of a set is predicted: with it micro-F1 on held-out rows is best."""
    order = np.argsort(-chances.reshape(-1), kind="stable")
    hits = np.cumsum(right.reshape(-1)[order])
    scores = 2 * hits / (np.arange(1, len(order) + 1) + max(1, int(sizes.sum())))
    return float(chances.reshape(-1)[order][int(scores.argmax())])
