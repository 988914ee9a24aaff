"""Small random problems for batch solvers, and their optima found by other means."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import random as random_sparse

from linnaeus.arrays import CSR
from linnaeus.erm import Objective
from linnaeus.losses import LOSSES
from linnaeus.outputs import OUTPUTS
from linnaeus.regularizers import L2, NoPenalty
from linnaeus.types import LabelSets

SMOOTH = ["log", "softmargin", "logistic", "squared_hinge", "exponential", "modified_huber", "squared", "huber"]
CELLS = [
    (loss, output)
    for loss in SMOOTH
    for output in OUTPUTS
    if (output != "real" or loss in ("squared", "huber"))
    and (output != "multiclass" or loss in ("log", "softmargin", "squared", "huber"))
]


def truth(output, n, rng):
    if output == "binary":
        return rng.integers(0, 2, n), 2
    if output == "real":
        return rng.normal(size=(n, 2)), 2
    if output == "multilabel":
        counts = rng.integers(0, 4, n)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        labels = [np.sort(rng.permutation(3)[:c]) for c in counts]
        return LabelSets(offsets, np.concatenate(labels).astype(np.int32)), 3
    return rng.integers(0, 3, n), 3


def problem(loss, output, strength=1.0, bias="free", seed=0, shape=(60, 7), scale=1.0):
    """Random sparse rows, truths that have nothing to do with them (so that nothing is separable), random weights."""
    rng = np.random.default_rng(seed)
    n, d = shape
    X = random_sparse(n, d, density=0.5, random_state=rng, format="csr", data_rvs=rng.standard_normal) * scale
    rows = CSR(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(np.float64), d)
    y, k = truth(output, n, rng)
    weights = rng.uniform(0.5, 2.0, n)
    penalty = L2(strength) if strength else NoPenalty()
    return Objective(rows, y, OUTPUTS[output](), LOSSES[loss](), penalty, weights, k, bias)


def optimum(objective):
    """The least value, by BFGS with dense updates and then a polish by L-BFGS, neither of which is ours."""
    start = objective.initial()
    names, shapes = list(start), [start[name].shape for name in start]
    ends = np.cumsum([0] + [start[name].size for name in names])

    def f(x):
        parts = {m: x[a:b].reshape(s) for m, s, a, b in zip(names, shapes, ends[:-1], ends[1:], strict=True)}
        value, grad = objective.value_and_grad(parts)
        return value, np.concatenate([grad[m].ravel() for m in names])

    x, values = np.zeros(ends[-1]), []
    for method in ("BFGS", "L-BFGS-B", "BFGS"):
        options = {"gtol": 1e-11, "maxiter": 5000} | ({"ftol": 0.0} if method == "L-BFGS-B" else {})
        found = minimize(f, x, jac=True, method=method, options=options)
        x = found.x
        values.append(float(found.fun))
    return min(values)
