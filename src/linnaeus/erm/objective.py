"""The training objective of rows, output space, loss and regularizer: sum_i weight_i loss_i + strength R(w).

`Objective` has one row of scores for each example, `Structured` several: tag sequences, candidates to rank, and trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from linnaeus.arrays import Grouped, linear
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.protocols import (
    Loss,
    NewtonLoss,
    OutputSpace,
    PointForm,
    Regularizer,
    Rows,
    SeparablePenalty,
    SharedScores,
    ability,
    capability,
    has,
)
from linnaeus.types import Choices, Doubles, Heads, Params, Piece, Polished, Tags

CHUNK = 1 << 22
"""Scores are computed for this many entries at a time, so that not all n x w are in memory."""
ENTRIES = 1 << 26
"""Most scores held in memory; larger problems are not polished."""


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
    loss: Loss
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
        separable, total = capability(self.regularizer, SeparablePenalty), 0.0
        for name in self.penalized:
            if separable is not None:
                total += separable.charge(params[name], G[name])
            else:
                G[name] += self.regularizer.grad(params[name])
                total += self.regularizer.value(params[name])
        return total

    def hessp(self, params: Params) -> Callable[[Params], Params]:
        """The Hessian at these parameters, as a function of a direction; if the loss and the penalty have one."""
        parts = []
        for rows, X in self.chunks():
            bend = ability(self.loss, NewtonLoss).curvature(self.space, linear.scores(X, params), self.y[rows])
            parts.append((X, self.weights[rows], bend))
        separable = capability(self.regularizer, SeparablePenalty)
        l2 = 0.0 if separable is None else separable.l2

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
        """The same weights with their optimal bias; None if it cannot be found, or the scores take too much memory."""
        if not has(self.loss, NewtonLoss) or self.X.shape[0] * self.width > ENTRIES:
            return None
        problem = _Bias(self, params["W"])
        b, at = problem.solve(params["b"].copy())
        steep = float(np.abs(at.g).sum())
        if not steep <= 1e-8 * at.noise:
            return None
        pulled = (X.tdot(D) for X, _, D in problem.blocks(b))
        G = next(pulled)
        for part in pulled:
            G += part
        grad, found = {"W": G, "b": at.g}, {"W": params["W"], "b": b}
        value = at.value + self.charge(found, grad)
        reach = 1.0 + max(float(np.abs(S + b).max(initial=0.0)) for _, _, S in problem.scores)
        return Polished(found, value, grad, steep * reach)

    def by_columns(self) -> Objective:
        """The same objective, with a column-wise copy of sparse rows, for solvers with many products."""
        return replace(self, X=self.X.by_columns())

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


@dataclass(frozen=True)
class Structured(Objective):
    """f(W) = sum_i loss(scores of example i, y_i) + regularizer(W), where an example has several rows of scores.

    Made by `structured`. The example weights are in y, and the output space multiplies by them. There is no bias: a
    constant feature of each token has that role, and for candidates a bias would not change the ranking.
    """

    def __post_init__(self) -> None:
        if self.bias != "none":
            raise UsageError("Structured outputs have no bias; give every row a constant feature instead.")

    def weighed(self, D: Doubles, weights: Doubles) -> Doubles:
        """Multiply by the common weight; the weights of single examples are in y."""
        return D if weights[0] == 1.0 else D * weights[0]

    def mistakes(self, S: Doubles, y: Any) -> float:
        """The number of examples whose true output is not the single best one."""
        best, gold = self.space.best(S, y), self.space.gold(S, y)
        wrong = np.flatnonzero(np.any(best.parts[: y.offsets[-1]] != gold.parts[: y.offsets[-1]], axis=1))
        return float(len(np.unique(np.searchsorted(y.offsets, wrong, side="right"))))


def structured(
    rows: Rows, y: Tags | Choices | Heads, space: Piece, loss: Loss, regularizer: Regularizer, k: int = 1
) -> Structured:
    """The objective of rows (m, d), grouped into examples by y; k is the number of tags, or 1 for candidates and arcs.

    >>> from linnaeus.arrays import Dense
    >>> from linnaeus.losses import LOSSES
    >>> from linnaeus.outputs import Candidates
    >>> from linnaeus.regularizers import L2
    >>> from linnaeus.types import Choices
    >>> y = Choices(np.array([0, 3]), np.array([True, False, False]))
    >>> f = structured(Dense(np.eye(3)), y, Candidates(), LOSSES["log"](), L2(1.0))
    >>> round(f.value(f.initial()), 4)  # three equal candidates
    1.0986
    """
    if y.offsets[-1] != rows.shape[0]:
        raise UsageError(f"There are {rows.shape[0]} rows, but y has {y.offsets[-1]}; give one row for each.")
    if has(loss, PointForm):
        name = type(loss).__name__
        raise UsageError(
            f"The {name} loss is for numbers; for candidates, sequences and trees use log, hinge or another."
        )
    sharing = capability(space, SharedScores)
    X = Grouped(rows, y.offsets, 0 if sharing is None else sharing.shared(k))
    return Structured(X, y, space, loss, regularizer, np.ones(len(y)), k, "none")


class _Losses(NamedTuple):
    """The sum of losses at a bias, its gradient in the bias, and the sum of the absolute terms of the gradient."""

    value: float
    g: Doubles
    noise: float


class _Bias:
    """The sum of losses as a function of the bias alone; the scores without bias are precomputed."""

    def __init__(self, objective: Objective, W: Doubles) -> None:
        self.o, self.scores = objective, [(rows, X, X.dot(W)) for rows, X in objective.chunks()]

    def blocks(self, b: Doubles) -> Iterator[tuple[Rows, float, Doubles]]:
        """For each block of rows the weighted sum of losses, and its gradient in the scores."""
        for rows, X, S in self.scores:
            values, D = self.o.loss.value_and_grad(self.o.space, S + b, self.o.y[rows])
            yield X, float(values @ self.o.weights[rows]), D * self.o.weights[rows][:, None]

    def losses(self, b: Doubles) -> _Losses:
        """The sum over all blocks."""
        total, g, noise = 0.0, np.zeros(len(b)), 0.0
        for _, value, D in self.blocks(b):
            total, g, noise = total + value, g + D.sum(axis=0), noise + float(np.abs(D).sum())
        return _Losses(total, g, noise)

    def bends(self, b: Doubles) -> Callable[[Doubles], Doubles]:
        """The Hessian in b, as a function of a direction (w,)."""
        o, loss = self.o, ability(self.o.loss, NewtonLoss)
        parts = [(S, o.weights[rows][:, None], loss.curvature(o.space, S + b, o.y[rows])) for rows, _, S in self.scores]

        def product(v: Doubles) -> Doubles:
            return sum(
                ((weights * bend(np.broadcast_to(v, S.shape))).sum(axis=0) for S, weights, bend in parts),
                np.zeros(len(v)),
            )

        return product

    def solve(self, b: Doubles) -> tuple[Doubles, _Losses]:
        """Newton steps with step halving, until the gradient is at rounding level."""
        here = self.losses(b)
        for _ in range(30):
            steep = float(np.abs(here.g).sum())
            if steep <= 1e-15 * here.noise:
                break
            step = _conjugate(self.bends(b), -here.g, here.noise)
            for _ in range(30):
                there = self.losses(b + step)
                left = float(np.abs(there.g).sum())
                # If rounding hides the decrease of the value, the gradient still shows it.
                if left <= 0.5 * steep or there.value <= here.value + 1e-4 * float(here.g @ step):
                    break
                step = step / 2
            if not left < 0.9 * steep and there.value >= here.value:
                break
            b, here = b + step, there
        return b, here


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
