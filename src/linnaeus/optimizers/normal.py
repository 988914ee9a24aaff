"""Least squares by the normal equations: (X'AX + strength/2 I) W = X'AY, in one factorization for all targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.blas import single_blas
from linnaeus.arrays.gram import gram, outer
from linnaeus.frozen import dataclass
from linnaeus.optimizers.certificate import Reporter, norm
from linnaeus.optimizers.factor import Factor
from linnaeus.optimizers.smooth import refuse_curved

if TYPE_CHECKING:
    from linnaeus.protocols import Objective
    from linnaeus.types import Doubles, Params, Start, Step

LIMIT = 5000
"""The largest matrix that is factored: 200 MB."""
BLOCK = 1 << 16


@dataclass(frozen=True)
class NormalEquations:
    """Normal equations: the exact optimum of the squared loss, with L2 or no penalty, for up to 5,000 features or rows.

    It solves d by d equations, or n by n ones if there are fewer examples than features (W = X'U). A free bias is
    solved exactly, by centering. Several targets share the factorization, unless their row weights differ. Without a
    penalty and with dependent features it returns the solution of minimal norm. The result does not depend on the
    start. Memory: two matrices of min(n, d)^2.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="squared", optimizer=NormalEquations()).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    def refuse(self, objective: Objective) -> str | None:
        """Refuse losses other than the squared loss, and matrices that are too large."""
        said = refuse_curved(objective, "NormalEquations")
        size = min(objective.X.shape)
        if said is None and size > LIMIT:
            return f"NormalEquations factors a matrix of {size:,} by {size:,}, and {LIMIT:,} are the most."
        return said

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Solve, and refine by the remaining gradient while that helps."""
        import scipy.linalg  # noqa: F401 - its BLAS must be loaded before it can be limited to one thread

        n, d = objective.X.shape
        reporter = Reporter(objective, start, report)
        params = objective.initial()
        value, grad = objective.value_and_grad(params)
        reporter.begin(params, grad)
        with single_blas():
            system = (Features if d <= n else Examples)(objective)
            best = np.inf
            for _ in range(4):
                moved = system.improve(params, grad)
                value, grad = objective.value_and_grad(moved)
                if not norm(grad) < 0.5 * best:
                    break
                params, best = moved, norm(grad)
                reporter.tell(lambda there=params: there, value, best)  # type: ignore[misc]
        reporter.finish()


class Features:
    """(X'AX + l I) W = X'A Y by d x d factors; l is half the strength, A what the rows count."""

    def __init__(self, objective: Objective) -> None:
        self.o = objective
        self.ridge = 0.5 * float(objective.regularizer.l2)
        self.counts = counts(objective)
        self.parts = [self._part(np.ascontiguousarray(a)) for a in self.counts.T]

    def _part(self, a: Doubles) -> tuple[Factor, Doubles, float]:
        """Factors of the centered matrix; the mean row; the sum of what rows count. Of a bordered one, if asked."""
        o, G = self.o, gram(self.o.X, a)
        sums, total = np.asarray(o.X.tdot(a[:, None]), dtype=np.float64)[:, 0], float(a.sum())
        if o.bias == "regularized":
            G = np.block([[G, sums[:, None]], [sums[None, :], np.array([[total]])]])
        mean = sums / total if o.bias == "free" and total else np.zeros(len(sums))
        if o.bias == "free":
            G = G - total * np.outer(mean, mean)
        return Factor(G, self.ridge), mean, total

    def improve(self, params: Params, grad: Params) -> Params:
        """The step of Newton's method, which for squares is the solution."""
        W, w = params["W"].copy(), params["W"].shape[1]
        b = params["b"].copy() if "b" in params else None
        columns = [slice(None)] if len(self.parts) == 1 else [slice(c, c + 1) for c in range(w)]
        for (factor, mean, total), at in zip(self.parts, columns, strict=True):
            G = -0.5 * grad["W"][:, at]
            if b is None:
                W[:, at] += factor.solve(G)
            elif self.o.bias == "regularized":
                step = factor.solve(np.vstack([G, -0.5 * grad["b"][None, at]]))
                W[:, at], b[at] = W[:, at] + step[:-1], b[at] + step[-1]
            else:
                g = -0.5 * grad["b"][at]
                step = factor.solve(G - mean[:, None] * g)
                W[:, at] += step
                b[at] += (g / total if total else 0.0) - mean @ step
        return {"W": W} if b is None else {"W": W, "b": b}


class Examples:
    """(M M' + l I) U = sqrt(A) Y by n x n factors, W = M'U; M is sqrt(A) times the rows, centered for a free bias."""

    def __init__(self, objective: Objective) -> None:
        self.o = objective
        self.ridge = 0.5 * float(objective.regularizer.l2)
        self.counts = counts(objective)
        self.roots = np.sqrt(self.counts)
        n, w = objective.X.shape[0], objective.initial()["W"].shape[1]
        self.U, self.w = np.zeros((n, w)), w
        K = outer(objective.X)
        self.factors = [Factor(self._kernel(K, a), self.ridge) for a in self.counts.T]

    def _kernel(self, K: Doubles, a: Doubles) -> Doubles:
        """M M'."""
        if self.o.bias == "regularized":
            K = K + 1.0
        elif self.o.bias == "free" and a.sum():
            share = a / a.sum()
            u = K @ share
            K = K - u[:, None] - u[None, :] + share @ u
        root = np.sqrt(a)
        kernel: Doubles = root[:, None] * K * root[None, :]
        return kernel

    def improve(self, params: Params, grad: Params) -> Params:
        """Solve for what the residuals leave over."""
        o = self.o
        missing = -o.loss.view(o.space, o.scores(o.X, params), o.y).values
        left = self.roots * missing - self.ridge * self.U
        if len(self.factors) == 1:
            self.U = self.U + self.factors[0].solve(left)
        else:
            self.U = self.U + np.column_stack([f.solve(left[:, c]) for c, f in enumerate(self.factors)])
        V = self.roots * self.U
        if o.bias == "free":  # centering, transposed
            V = V - self.counts * (V.sum(axis=0) / np.maximum(self.counts.sum(axis=0), 1e-300))
        found: Params = {"W": np.asarray(o.X.tdot(V), dtype=np.float64)}
        if o.bias == "regularized":
            found["b"] = V.sum(axis=0)
        elif o.bias == "free":
            found["b"] = self._means(found["W"])
        return found

    def _means(self, W: Doubles) -> Doubles:
        """The best bias: the mean of what the weights leave over."""
        o = self.o
        missing = -o.loss.view(o.space, o.scores(o.X, {"W": W}), o.y).values
        means: Doubles = (self.counts * missing).sum(axis=0) / np.maximum(self.counts.sum(axis=0), 1e-300)
        return means


def counts(objective: Objective) -> Doubles:
    """The row weights: (n, 1), or (n, w) if they differ between targets (pairs of classes, costs)."""
    o, blocks = objective, []
    n, w = o.X.shape[0], o.initial()["W"].shape[1]
    size = max(1, BLOCK // w)
    for at in range(0, n, size):
        rows = slice(at, min(n, at + size))
        seen = o.loss.view(o.space, np.zeros((rows.stop - at, w)), o.y[rows]).stakes
        blocks.append(seen[:, :1] if (seen == seen[:, :1]).all() else seen)
    wide = any(block.shape[1] > 1 for block in blocks)
    stakes = np.vstack([np.broadcast_to(b, (len(b), w)) if wide else b for b in blocks])
    return stakes * o.weights[:, None]
