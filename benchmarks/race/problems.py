"""What the solvers race on: six objectives over two matrices at three C, and how far from the optimum an answer is.

    P(W) = R(W) + C sum_i loss_i(W),   R = 1/2 ||W||^2 or ||W||_1,   no intercept

Every entry minimizes this up to a factor. One-vs-rest is the sum of the objectives of all classes. With two classes
multinomial logistic and Crammer-Singer are the binary problem at 2 C, so they are run on many classes only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any
STRENGTHS = (0.1, 1.0, 10.0)
TARGETS = (1e-3, 1e-6)
MARGIN = ("l2-logistic", "l2-hinge", "l2-squared-hinge", "l1-logistic")
JOINT = ("multinomial", "crammer-singer")


@dataclass(frozen=True)
class Problem:
    """One objective on one matrix."""

    data: str
    family: str
    C: float

    @property
    def key(self) -> str:
        """How it is called in the cache of optima and in the table."""
        return f"{self.data} {self.family} C={self.C:g}"


PROBLEMS = tuple(
    Problem(data, family, C)
    for data, families in (("imdb", MARGIN), ("newsgroups20", (*MARGIN, *JOINT)))
    for family in families
    for C in STRENGTHS
)


def signs(y: Array, k: int) -> Array:
    """Truth as +1 and -1: (n, 1) for two classes, where class 1 is positive, else (n, k)."""
    return np.where(y == 1, 1.0, -1.0)[:, None] if k == 1 else np.where(y[:, None] == np.arange(k), 1.0, -1.0)


def _logistic(margins: Array) -> tuple[float, Array]:
    return float(np.logaddexp(0.0, -margins).sum()), -1.0 / (1.0 + np.exp(np.minimum(margins, 700.0)))


def _hinge(margins: Array) -> tuple[float, Array]:
    return float(np.maximum(1.0 - margins, 0.0).sum()), -(margins < 1.0).astype(float)


def _squared_hinge(margins: Array) -> tuple[float, Array]:
    slack = np.maximum(1.0 - margins, 0.0)
    return float((slack * slack).sum()), -2.0 * slack


def _multinomial(S: Array, y: Array) -> tuple[float, Array]:
    rows = np.arange(len(y))
    top = S.max(axis=1, keepdims=True)
    expd = np.exp(S - top)
    total = expd.sum(axis=1, keepdims=True)
    value = float((np.log(total) + top).sum() - S[rows, y].sum())
    slope = expd / total
    slope[rows, y] -= 1.0
    return value, slope


def _crammer_singer(S: Array, y: Array) -> tuple[float, Array]:
    rows = np.arange(len(y))
    raised = S + 1.0
    raised[rows, y] -= 1.0
    worst = raised.argmax(axis=1)
    slope = np.zeros_like(S)
    slope[rows, worst] += 1.0
    slope[rows, y] -= 1.0
    return float((raised[rows, worst] - S[rows, y]).sum()), slope


_BY_MARGIN: dict[str, Callable[[Array], tuple[float, Array]]] = {
    "l2-logistic": _logistic,
    "l1-logistic": _logistic,
    "l2-hinge": _hinge,
    "l2-squared-hinge": _squared_hinge,
}
_BY_SCORES = {"multinomial": _multinomial, "crammer-singer": _crammer_singer}


def risk(problem: Problem, S: Array, y: Array) -> tuple[float, Array]:
    """Sum of the losses, without C, and its (sub)gradient in the scores."""
    if problem.family in _BY_SCORES:
        return _BY_SCORES[problem.family](S, y)
    truth = signs(y, S.shape[1])
    value, slope = _BY_MARGIN[problem.family](truth * S)
    return value, truth * slope


def objective(problem: Problem, X: Array, y: Array, coef: Array) -> float:
    """P(W) in float64 of coefficients (k, d), k = 1 for two classes."""
    W = np.asarray(coef, np.float64).T
    size = float(np.abs(W).sum()) if problem.family.startswith("l1") else 0.5 * float((W * W).sum())
    return size + problem.C * risk(problem, X @ W, y)[0]


def lower_bound(problem: Problem, X: Array, y: Array, coef: Array) -> float | None:
    """A number no W can go below, from coefficients near the optimum; None for the losses with a kink.

    With L2, P is 1-strongly convex: P* >= P(W) - 1/2 ||P'(W)||^2. With L1 it is the dual value of the residuals, scaled
    until they are feasible: C sum_i H(theta_i / C) with |X^T theta| <= 1 and H the entropy in nats.
    """
    W = np.asarray(coef, np.float64).T
    _, slope = risk(problem, X @ W, y)
    gradient = problem.C * (X.T @ slope)
    if problem.family == "l1-logistic":
        share = np.abs(slope) / np.maximum(1.0, np.abs(gradient).max(axis=0))
        return problem.C * float(_entropy(share).sum())
    if problem.family in ("l2-hinge", "crammer-singer"):
        return None
    gradient += W
    return objective(problem, X, y, coef) - 0.5 * float((gradient * gradient).sum())


def _entropy(p: Array) -> Array:
    q = np.clip(p, 1e-300, 1.0 - 1e-16)
    return -(q * np.log(q) + (1.0 - q) * np.log1p(-q))
