"""Local minima and a saddle point: gradient descent on a loss that is not convex, and on one that is."""

from __future__ import annotations

from functools import cache

import numpy as np

from linnaeus.arrays import as_rows
from linnaeus.erm import Objective
from linnaeus.gallery.drawing import level_lines, pairs, picture
from linnaeus.losses import LOSSES
from linnaeus.outputs import Binary
from linnaeus.regularizers import L2, NoPenalty
from linnaeus.render.picture import Layer, Lines, Pair, Panel, Points
from linnaeus.types import Doubles

X = np.array([[0.0, -4.0], [3.0, -1.0], [3.0, -4.0], [4.0, 2.0], [0.0, -1.0]])
Y = np.array([0, 1, 0, 0, 1])
"""Five examples that two weights without a bias cannot all get right."""

STARTS = {"first start": (-0.5, 3.0), "second start": (3.0, 1.5), "third start": (0.6, -0.2)}
STEPS, RATES = 400, {"probability": 0.5, "logistic": 0.03}
REACH = (-4.0, 4.0)
LOSSES_SHOWN = {"probability": "probability loss: not convex", "logistic": "logistic loss with L2: convex"}


@cache
def objective(loss: str) -> Objective:
    """The sum of the losses over the five examples; the convex one has a penalty, so that its minimum is near."""
    penalty = NoPenalty() if loss == "probability" else L2(0.1)
    return Objective(as_rows(X), Y, Binary(), LOSSES[loss](), penalty, np.ones(len(Y)), 2, "none")


def walked(loss: str, start: tuple[float, float], steps: int = STEPS) -> Doubles:
    """The weights after each step of gradient descent (steps + 1, 2)."""
    seen = [np.array(start, np.float64)]
    for _ in range(steps):
        seen.append(seen[-1] - RATES[loss] * slope(loss, seen[-1]))
    return np.array(seen)


def slope(loss: str, w: Doubles) -> Doubles:
    """The gradient at w (2,)."""
    return np.asarray(objective(loss).value_and_grad({"W": w[:, None]})[1]["W"])[:, 0]


def height(loss: str, w: Doubles) -> float:
    """The objective at w (2,)."""
    return float(objective(loss).value_and_grad({"W": w[:, None]})[0])


def curvature(loss: str, w: Doubles) -> Doubles:
    """The Hessian (2, 2) by central differences of the gradient."""
    H = np.array([(slope(loss, w + e) - slope(loss, w - e)) / 2e-5 for e in 1e-5 * np.eye(2)])
    return (H + H.T) / 2


def saddle() -> Doubles:
    """The saddle point of the loss that is not convex: the gradient is zero, and the Hessian has both signs."""
    w = np.array(SADDLE_NEAR)
    for _ in range(30):
        w = w - np.linalg.solve(curvature("probability", w), slope("probability", w))
    return w


SADDLE_NEAR = (0.2, 0.6)


@picture()
def minima() -> list[Panel]:
    """Local minima and a saddle point.

    Gradient descent from three starts. The loss on the left has two valleys: where a path ends depends on where it
    begins, and near the saddle point between the valleys the ground is nearly flat, so that steps become small. The
    convex loss on the right has one minimum, and every start leads to it.
    """
    return [_map(loss, title) for loss, title in LOSSES_SHOWN.items()]


def _map(loss: str, title: str) -> Panel:
    layers: list[Layer] = [Lines(_rings(loss), 0, "equal loss", 0.5)]
    for kind, (name, start) in enumerate(STARTS.items()):
        way = walked(loss, start).tolist()
        layers += [Lines([way], 1 + kind, name, 2.2), Points([way[-1]], kind)]
    if loss == "probability":
        layers.append(Points([tuple(saddle().tolist())], 3, "saddle point"))
    return Panel(layers, title, REACH, REACH, "first weight", "second weight")


def _rings(loss: str) -> list[tuple[Pair, Pair]]:
    at = np.linspace(*REACH, 51)
    values = surface(loss, pairs(at))
    low, high = values.min(), np.quantile(values, 0.9)
    levels = low + (high - low) * np.linspace(0.02, 1.0, 14) ** (1 if loss == "probability" else 2)
    return [path for level in levels for path in level_lines(at, values, level)]


def surface(loss: str, w: Doubles) -> Doubles:
    """The objective at rows w (n, 2), in one go."""
    S = w @ X.T
    space, truth = Binary(), np.tile(Y, (len(w), 1)).ravel()
    values = LOSSES[loss]().value_and_grad(space, S.reshape(-1, 1), truth)[0].reshape(S.shape).sum(axis=1)
    penalty = 0.0 if loss == "probability" else 0.05 * (w**2).sum(axis=1)
    return np.asarray(values + penalty)
