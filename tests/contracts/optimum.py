"""The optimum of a small problem by an independent solver: a conic program, written from the formulas of the docs."""

from functools import cache

import cvxpy as cp
import numpy as np
from tests.contracts.problems import STRENGTH, problem

from linnaeus.outputs import Multiclass, Real

OF_MARGIN = {  # functions of minus the margin, v = -m: all convex and increasing in v
    "perceptron": cp.pos,
    "hinge": lambda v: cp.pos(1 + v),
    "log": cp.logistic,
    "logistic": cp.logistic,
    "softmargin": lambda v: cp.logistic(1 + v),
    "squared_hinge": lambda v: cp.square(cp.pos(1 + v)),
    "exponential": cp.exp,
    "modified_huber": lambda v: cp.huber(cp.pos(1 + v), 2),
}
OF_RESIDUAL = {"squared": cp.square, "absolute": cp.abs, "huber": lambda r: cp.huber(r, 1)}
PENALTIES = {
    "none": lambda W: 0,
    "l2": lambda W: STRENGTH / 2 * cp.sum_squares(W),
    "l1": lambda W: STRENGTH * cp.norm1(W),
    "elastic_net": lambda W: STRENGTH * (0.5 * cp.norm1(W) + 0.25 * cp.sum_squares(W)),
    "group": lambda W: STRENGTH * cp.sum(cp.norm(W, 2, axis=1)),
}


@cache
def optimum(loss: str, regularizer: str, output: str) -> float:
    """The least value of the objective, free bias."""
    X, y, space, k = problem(output)
    w = space.width(k)
    W, b = cp.Variable((X.shape[1], w)), cp.Variable((1, w))
    S = X.to_scipy().toarray() @ W + np.ones((X.shape[0], 1)) @ b
    goal = cp.Problem(cp.Minimize(_risk(loss, space, S, y) + PENALTIES[regularizer](W)))
    goal.solve(solver=cp.CLARABEL)
    assert goal.status == "optimal", goal.status
    return float(goal.value)


def _risk(loss, space, S, y):
    n, w = S.shape
    if isinstance(space, Real):
        return cp.sum(OF_RESIDUAL[loss](S - y))
    if isinstance(space, Multiclass):
        hot = np.eye(w)[y]
        if loss in OF_RESIDUAL:
            return cp.sum(OF_RESIDUAL[loss](S - (2 * hot - 1)))
        gold = cp.sum(cp.multiply(hot, S), axis=1)
        cost = {"hinge": 1 - hot, "softmargin": 1 - hot}.get(loss, np.zeros((n, w)))
        if loss in ("perceptron", "hinge"):
            return cp.sum(cp.max(S + cost, axis=1) - gold)
        if loss in ("log", "softmargin"):
            return cp.sum(cp.log_sum_exp(S + cost, axis=1) - gold)
        rival = cp.max(S - 1e3 * hot, axis=1)  # far below every score: the best of the others
        return cp.sum(OF_MARGIN[loss](rival - gold))
    signs = space.signs(y, w)
    asked = np.abs(signs)
    if loss in OF_RESIDUAL:
        return cp.sum(cp.multiply(asked, OF_RESIDUAL[loss](S - signs)))
    return cp.sum(cp.multiply(asked, OF_MARGIN[loss](cp.multiply(-signs, S))))
