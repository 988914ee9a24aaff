"""A learned metric: a few directions in which rows of the same class are near and rows of other classes are far."""

from __future__ import annotations

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.arrays.csr import present
from linnaeus.arrays.numerics import single_blas
from linnaeus.errors import UsageError, expect, expect_within
from linnaeus.frozen import dataclass
from linnaeus.learners.base import indicators
from linnaeus.learners.neighbors.hashing import drawn_bits, drawn_planes
from linnaeus.types import Bools, Chosen, Doubles, Floats, LabelSets, Lesson, Longs, Truth

TINY = 1e-12
"""A lower bound for lengths and sums of squares, so that nothing is divided by zero."""


@dataclass(frozen=True, kw_only=True)
class Components:
    """Neighborhood components analysis: a learned projection W (d, width) in which near rows share their class.

    With z = x W / |x W|, row i of a batch has row j as its neighbor with probability

        p_ij = exp(z_i.z_j / temperature) / sum over l != i of exp(z_i.z_l / temperature)

    The loss of row i is -log of the sum of p_ij over the rows j of its class (Goldberger, Roweis, Hinton and
    Salakhutdinov 2004, here with cosines and on batches of `batch` rows). W starts as a random projection, which nearly
    preserves angles. AdaGrad minimizes the loss with learning rate `rate` for `epochs` epochs. Label sets that share a
    label count as the same class. The same random seed gives the same W.

    >>> Components(width=2).width
    2
    """

    width: int = 64
    epochs: int = 5
    rate: float = 0.05
    temperature: float = 0.1
    batch: int = 256

    def __post_init__(self) -> None:
        for name, least in (("width", 1), ("epochs", 0), ("batch", 2)):
            expect(name, getattr(self, name), int, least)
        for name in ("rate", "temperature"):
            expect_within(name, getattr(self, name), float, "(0, inf)")

    def refuse(self, metric: str) -> str | None:
        """Refuse metrics other than the cosine."""
        if metric != "cosine":
            return f"Components works with the metric cosine, not {metric}; use metric='cosine', or no projection."
        return None

    def learn(self, lesson: Lesson) -> Floats:
        """Learn the projection (d, width)."""
        if not isinstance(lesson.y, LabelSets) and lesson.y.dtype.kind == "f":
            raise UsageError("Components needs classes, but the labels are numbers; leave the projection out.")
        n, d = lesson.X.shape
        W = drawn_planes(np.arange(d), self.width, lesson.seed).astype(np.float64)
        W /= np.sqrt(max(TINY, float((W * W).mean()))) * np.sqrt(self.width)
        squares = np.full(W.shape, TINY)
        with single_blas():
            for epoch in range(self.epochs):
                order = np.argsort(drawn_bits(lesson.seed, n, (epoch + 1) << 32), kind="stable")
                for rows in np.array_split(order, max(1, round(n / self.batch))):
                    self._step(lesson, rows, W, squares)
        return W.astype(np.float32)

    def _step(self, lesson: Lesson, rows: Longs, W: Doubles, squares: Doubles) -> None:
        """Update the rows of W whose features occur in the batch."""
        X = lesson.X.take(rows)
        columns: Chosen = slice(None)
        if isinstance(X, CSR):
            columns, X = present(X)
        V = X.dot(W[columns])
        lengths = np.maximum(TINY, np.sqrt((V * V).sum(axis=1, keepdims=True)))
        Z = V / lengths
        D = pulls(Z, alike(lesson.y, rows), self.temperature) * lesson.weights[rows][:, None]
        slope = (D @ Z + D.T @ Z) / len(rows)
        grad = X.tdot((slope - Z * (Z * slope).sum(axis=1, keepdims=True)) / lengths)
        squares[columns] += grad * grad
        W[columns] -= self.rate * grad / np.sqrt(squares[columns])


def alike(y: Truth, rows: Longs) -> Bools:
    """Which pairs of rows share a class or a label (m, m); False on the diagonal."""
    if isinstance(y, LabelSets):
        some = y[rows]
        has = indicators(some, int(some.labels.max(initial=0)) + 1)
        same: Bools = has @ has.T > 0
    else:
        same = y[rows][:, None] == y[rows]
    np.fill_diagonal(same, False)
    return same


def pulls(Z: Doubles, same: Bools, temperature: float) -> Doubles:
    """The gradient of -log sum_j same_ij p_ij in z_i.z_j (m, m): p_ij minus p_ij restricted to rows of the same class.

    >>> Z = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> pulls(Z, np.array([[False, True, False]] * 3), 1.0).round(2)[0].tolist()
    [0.0, -0.5, 0.5]
    """
    S = Z @ Z.T / temperature
    np.fill_diagonal(S, -np.inf)
    P = np.exp(S - S.max(axis=1, keepdims=True))
    right = np.where(same, S, -np.inf)
    best = right.max(axis=1, keepdims=True)
    there = np.isfinite(best)  # a class with one row in the batch has no gradient
    Q = np.where(same, np.exp(right - np.where(there, best, 0.0)), 0.0)
    found: Doubles = P / P.sum(axis=1, keepdims=True) - Q / np.maximum(TINY, Q.sum(axis=1, keepdims=True))
    return np.where(there, found, 0.0) / temperature
