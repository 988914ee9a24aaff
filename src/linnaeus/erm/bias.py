"""The optimal bias for given weights, found by Newton's method.

With the optimal b, f(W) = min_b f(W, b) is as strongly convex as the penalty alone, so the gradient in W bounds the
distance to the optimum: f(W) - f* <= ||grad_W||^2 / (2 l2). The certificates of batch solvers use this bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.types import Polished

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective
    from linnaeus.types import Doubles, Params

ENTRIES = 1 << 26
"""Most scores held in memory; larger problems are not polished."""


def polish(objective: Objective, params: Params) -> Polished | None:
    """The objective at these weights and their optimal bias; None if Newton's method fails."""
    o = objective
    if not getattr(o.loss, "second", False) or o.X.shape[0] * o.width > ENTRIES:
        return None
    scores = [(rows, X, X.dot(params["W"])) for rows, X in o.chunks()]
    problem = _Bias(o, scores)
    b = problem.solve(params["b"].copy())
    value, D = problem.losses(b)
    g = sum((d.sum(axis=0) for d in D), np.zeros(len(b)))
    noise = sum(float(np.abs(d).sum()) for d in D)
    if not float(np.abs(g).sum()) <= 1e-8 * noise:
        return None
    grad, found = {"W": _pulled(scores, D), "b": g}, {"W": params["W"], "b": b}
    value += o.charge(found, grad)
    reach = 1.0 + max(float(np.abs(S + b).max(initial=0.0)) for _, _, S in scores)
    return Polished(found, value, grad, float(np.abs(g).sum()) * reach)


def _pulled(scores: list[tuple[slice, Any, Doubles]], D: list[Doubles]) -> Doubles:
    """The gradient in the weights, block by block."""
    G: Doubles = scores[0][1].tdot(D[0])
    for (_, X, _), d in zip(scores[1:], D[1:], strict=True):
        G += X.tdot(d)
    return G


class _Bias:
    """The sum of losses as a function of the bias alone; the scores without bias are precomputed."""

    def __init__(self, objective: Objective, scores: list[tuple[slice, Any, Doubles]]) -> None:
        self.o, self.scores = objective, scores

    def losses(self, b: Doubles) -> tuple[float, list[Doubles]]:
        """Their weighted sum, and its gradient in the scores, block by block."""
        total, blocks = 0.0, []
        for rows, _, S in self.scores:
            values, D = self.o.loss.value_and_grad(self.o.space, S + b, self.o.y[rows])
            total += float(values @ self.o.weights[rows])
            blocks.append(D * self.o.weights[rows][:, None])
        return total, blocks

    def slope(self, b: Doubles) -> tuple[float, Doubles, float]:
        """The sum, its gradient in b, and the sum of absolute terms of the gradient, for rounding errors."""
        total, blocks = self.losses(b)
        g = sum((d.sum(axis=0) for d in blocks), np.zeros(len(b)))
        return total, g, sum(float(np.abs(d).sum()) for d in blocks)

    def bends(self, b: Doubles) -> Callable[[Doubles], Doubles]:
        """The Hessian in b, as a function of a direction (w,)."""
        o = self.o
        parts = [
            (S, o.weights[rows][:, None], o.loss.curvature(o.space, S + b, o.y[rows])) for rows, _, S in self.scores
        ]

        def product(v: Doubles) -> Doubles:
            return sum(
                ((weights * bend(np.broadcast_to(v, S.shape))).sum(axis=0) for S, weights, bend in parts),
                np.zeros(len(v)),
            )

        return product

    def solve(self, b: Doubles) -> Doubles:
        """Newton steps with step halving, until the gradient is at rounding level."""
        value, g, noise = self.slope(b)
        for _ in range(30):
            if float(np.abs(g).sum()) <= 1e-15 * noise:
                break
            step = _conjugate(self.bends(b), -g, noise)
            for _ in range(30):
                there = self.slope(b + step)
                # If rounding hides the decrease of the value, the gradient still shows it.
                halved = float(np.abs(there[1]).sum()) <= 0.5 * float(np.abs(g).sum())
                if halved or there[0] <= value + 1e-4 * float(g @ step):
                    break
                step = step / 2
            if not float(np.abs(there[1]).sum()) < 0.9 * float(np.abs(g).sum()) and there[0] >= value:
                break
            b, (value, g, noise) = b + step, there
        return b


def _conjugate(product: Callable[[Doubles], Doubles], g: Doubles, noise: float) -> Doubles:
    """H^-1 g by conjugate gradients; scaled by H 1, which for independent columns is all of H."""
    scale = product(np.ones_like(g))
    scale = scale if (scale > 1e-9 * noise / len(g)).all() else np.ones_like(g)
    x, r = np.zeros_like(g), g.copy()
    z = r / scale
    p, rho = z.copy(), float(r @ z)
    begin = rho
    for _ in range(len(g) + 5):
        q = product(p)
        bend = float(p @ q)
        if bend <= 1e-14 * noise * float(p @ p) / len(g):  # flat: use a plain gradient step
            return x if x.any() else z / max(float(np.sqrt(z @ z)), 1e-300)
        x, r = x + rho / bend * p, r - rho / bend * q
        z = r / scale
        rho, before = float(r @ z), rho
        if rho <= 1e-24 * begin:
            break
        p = z + rho / before * p
    return x
