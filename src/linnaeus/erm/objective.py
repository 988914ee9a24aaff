"""The training objective of rows, output space, loss and regularizer: sum_i weight_i loss_i + strength R(w)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from linnaeus.arrays import CSR, Transposed, linear
from linnaeus.erm.bias import polish
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.losses import MarginLoss
from linnaeus.outputs import Product
from linnaeus.regularizers.norms import Separable

if TYPE_CHECKING:
    from linnaeus.protocols import OutputSpace, Regularizer, Rows
    from linnaeus.types import Doubles, Params, Polished

CHUNK = 1 << 22
"""Scores are computed for this many entries at a time, so that not all n x w are in memory."""


@dataclass(frozen=True)
class Objective:
    """The objective that an optimizer minimizes: f(W, b) = sum_i weights_i loss(x_i W + b, y_i) + regularizer(W).

    `bias` is "free" (a constant feature, not regularized), "regularized" like any other weight, or "none". `weights`
    has one number for each row. `k` is the number of classes, labels or targets.

    >>> import numpy as np
    >>> from linnaeus.arrays import as_rows
    >>> from linnaeus.losses import Log
    >>> from linnaeus.outputs import Multiclass
    >>> from linnaeus.regularizers import L2
    >>> X, y = as_rows(np.array([[0.0], [1.0]])), np.array([0, 1])
    >>> objective = Objective(X, y, Multiclass(), Log(), L2(1.0), np.ones(2), 2)
    >>> round(objective.value({"W": np.zeros((1, 2)), "b": np.zeros(2)}), 4)
    1.3863
    """

    X: Rows
    y: Any
    space: OutputSpace
    loss: Any
    regularizer: Regularizer
    weights: Doubles
    k: int
    bias: Literal["free", "regularized", "none"] = "free"

    @property
    def width(self) -> int:
        """The number of score columns."""
        return self.space.width(self.k)

    def initial(self) -> Params:
        """Zeros of the right shapes."""
        return linear.initial(self.X.shape[1], self.width, self.bias != "none")

    def scores(self, X: Rows, params: Params) -> Doubles:
        """X W + b  (n, w)."""
        return linear.scores(X, params)

    def value(self, params: Params) -> float:
        """The objective: losses plus penalty."""
        total = 0.0
        for rows, X in self.chunks():
            values, _ = self.loss.value_and_grad(self.space, linear.scores(X, params), self.y[rows])
            total += float(values @ self.weights[rows])
        return total + self.penalty(params)

    def penalty(self, params: Params) -> float:
        """The value of the regularizer."""
        charged = self.regularizer.value(params["W"])
        return charged + self.regularizer.value(params["b"]) if self.bias == "regularized" else charged

    def smooth_and_grad(self, params: Params, out: Params | None = None) -> tuple[float, Params]:
        """The sum of the losses, and its gradient, written to `out` if given."""
        total, G = 0.0, None
        for rows, X in self.chunks():
            values, D = self.loss.value_and_grad(self.space, linear.scores(X, params), self.y[rows])
            total += float(values @ self.weights[rows])
            D = self.weighed(D, self.weights[rows])
            G = linear.gradient(X, D, params, out) if G is None else _added(G, linear.gradient(X, D, params))
        assert G is not None
        return total, G

    def value_and_grad(self, params: Params, out: Params | None = None) -> tuple[float, Params]:
        """The objective and a (sub)gradient, written to `out` if given."""
        total, G = self.smooth_and_grad(params, out)
        return total + self.charge(params, G), G

    def charge(self, params: Params, G: Params) -> float:
        """Add the gradient of the penalty to G, and return the penalty."""
        charge, total = getattr(self.regularizer, "charge", None), 0.0
        for name in self.penalized:
            if charge is not None:
                total += charge(params[name], G[name])
            else:
                G[name] += self.regularizer.grad(params[name])
                total += self.regularizer.value(params[name])
        return total

    def hessp(self, params: Params) -> Callable[[Params], Params]:
        """The Hessian at these parameters, as a function of a direction; if the loss and the penalty have one."""
        parts = []
        for rows, X in self.chunks():
            bend = self.loss.curvature(self.space, linear.scores(X, params), self.y[rows])
            parts.append((X, self.weights[rows], bend))
        l2 = getattr(self.regularizer, "l2", 0.0)

        def product(V: Params) -> Params:
            H = {name: l2 * V[name] if name in self.penalized else np.zeros_like(V[name]) for name in V}
            for X, weights, bend in parts:
                part = linear.gradient(X, self.weighed(bend(linear.scores(X, V)), weights), V)
                H = _added(H, part)
            return H

        return product

    def weighed(self, D: Doubles, weights: Doubles) -> Doubles:
        """Gradients in the scores (n, w), each times the weight of its example."""
        return D * weights[:, None]

    def mistakes(self, S: Doubles, y: Any) -> float:
        """The number of examples whose true output is not the single best one; a tie is a mistake."""
        try:
            best, gold = self.space.best(S, y), self.space.gold(S, y)
        except UsageError:
            return 0.0
        return float(np.any(best.parts != gold.parts, axis=1).sum())

    def polish(self, params: Params) -> Polished | None:
        """The same weights with their optimal bias; None if it cannot be found."""
        return polish(self, params)

    def by_columns(self) -> Objective:
        """The same objective, with a column-wise copy of sparse rows, for solvers with many products."""
        return replace(self, X=Transposed(self.X)) if isinstance(self.X, CSR) else self

    @property
    def rowwise(self) -> bool:
        """Whether each example is one row of scores."""
        return True

    @property
    def smooth(self) -> bool:
        """Whether the sum of losses has a gradient everywhere: no kinks, and no maximum over several rivals."""
        return bool(getattr(self.loss, "smooth", False)) and not self._rivals

    @property
    def ridge(self) -> float | None:
        """The strength of a pure L2 penalty, strength / 2 ||w||^2, or zero; None for other penalties."""
        piece = self.regularizer
        return piece.l2 if isinstance(piece, Separable) and not piece.l1 else None

    @property
    def convex(self) -> bool:
        """Whether the sum of losses is known to be convex; the loss declares it.

        A margin to the best rival is concave: a decreasing function of it stays convex, unless rivals differ in cost.
        """
        if self._rivals and not (self.loss.decreasing and getattr(self.space, "costs", None) is None):
            return False
        return bool(getattr(self.loss, "convex", False))

    @property
    def _rivals(self) -> bool:
        """Whether the margin is taken to the best of several rivals: it has a kink where two of them are equal."""
        joint = isinstance(self.loss, MarginLoss) and not isinstance(self.space, Product)
        return joint and self.width > 2

    @property
    def penalized(self) -> tuple[str, ...]:
        """The names of the penalized parameters."""
        return ("W", "b") if self.bias == "regularized" else ("W",)

    def chunks(self) -> Iterator[tuple[slice, Rows]]:
        """The rows in blocks whose scores fit into `CHUNK` entries; mostly one block."""
        n = self.X.shape[0]
        size = max(1, CHUNK // max(1, self.width))
        if size >= n:
            yield slice(0, n), self.X
            return
        for start in range(0, n, size):
            rows = slice(start, min(n, start + size))
            yield rows, self.X.rows_slice(rows.start, rows.stop)


def _added(G: Params, part: Params) -> Params:
    """G, to which the part was added."""
    for name in G:
        G[name] += part[name]
    return G
