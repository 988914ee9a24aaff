"""Least squares: the normal equations, in one factorization for all targets, and LSQR for larger problems."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linnaeus.arrays import linear
from linnaeus.arrays.numerics import gram, outer, single_blas
from linnaeus.frozen import dataclass
from linnaeus.optimizers.certificate import Reporter, norm
from linnaeus.optimizers.requirements import refuse_curved, ridge
from linnaeus.protocols import SquaredForm, ability
from linnaeus.types import Doubles, Margins, Params, Start, Step

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective


Solve: TypeAlias = Callable[[Doubles], Doubles]


def factored(G: Doubles, ridge: float) -> Solve:
    """A function that solves equations with G + ridge I: by Cholesky, or if it is singular, with minimal norm.

    >>> factored(np.array([[4.0, 0.0], [0.0, 0.0]]), 0.0)(np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    G = G.copy()
    G[np.diag_indices_from(G)] += ridge
    return _cholesky(G) or _eigen(G)


def _cholesky(G: Doubles) -> Solve | None:
    """By triangular factors; None if the matrix is singular or nearly so."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    try:
        factor = cho_factor(G, lower=True, check_finite=False)
    except LinAlgError:
        return None
    diagonal = np.diagonal(factor[0])
    if not diagonal.min() ** 2 > 1e-11 * diagonal.max() ** 2:
        return None
    return lambda B: np.asarray(cho_solve(factor, B, check_finite=False))


def _eigen(G: Doubles) -> Solve:
    """The pseudo-inverse: eigenvalues that are only rounding count as zero."""
    values, Q = np.linalg.eigh(G)
    kept = values > 1e-12 * max(float(values[-1]), 1e-300)
    inverse, Q = 1.0 / values[kept], Q[:, kept]
    return lambda B: (Q * inverse) @ (Q.T @ B)


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


class System:
    """Least squares as equations: half the strength of the penalty, the row weights, and their sums and roots."""

    def __init__(self, objective: Objective) -> None:
        self.o = objective
        self.ridge = 0.5 * (ridge(objective) or 0.0)
        self.counts = counts(objective)
        self.totals = np.maximum(self.counts.sum(axis=0), 1e-300)
        self.roots = np.sqrt(self.counts)

    def tdot(self, D: Doubles) -> Doubles:
        """X' D in float64."""
        return np.asarray(self.o.X.tdot(D), dtype=np.float64)

    def missing(self, params: Params) -> Doubles:
        """Targets minus scores."""
        return -_view(self.o, linear.scores(self.o.X, params)).values

    def means(self, missing: Doubles) -> Doubles:
        """The weighted mean of each column: the optimal bias."""
        return (self.counts * missing).sum(axis=0) / self.totals


class Features(System):
    """(X'AX + l I) W = X'A Y by d x d factors; l is half the strength, A the row weights."""

    def __init__(self, objective: Objective) -> None:
        super().__init__(objective)
        self.parts = [self._part(np.ascontiguousarray(a)) for a in self.counts.T]

    def _part(self, a: Doubles) -> tuple[Solve, Doubles, float]:
        """A solver for the centered matrix (for a regularized bias, the bordered one), the mean row, and the weight."""
        o, G = self.o, gram(self.o.X, a)
        sums, total = self.tdot(a[:, None])[:, 0], float(a.sum())
        if o.bias == "regularized":
            G = np.block([[G, sums[:, None]], [sums[None, :], np.array([[total]])]])
        mean = sums / total if o.bias == "free" and total else np.zeros(len(sums))
        if o.bias == "free":
            G = G - total * np.outer(mean, mean)
        return factored(G, self.ridge), mean, total

    def improve(self, params: Params, grad: Params) -> Params:
        """One step of Newton's method, which solves least squares."""
        W, w = params["W"].copy(), params["W"].shape[1]
        b = params["b"].copy() if "b" in params else None
        columns = [slice(None)] if len(self.parts) == 1 else [slice(c, c + 1) for c in range(w)]
        for (solve, mean, total), at in zip(self.parts, columns, strict=True):
            G = -0.5 * grad["W"][:, at]
            if b is None:
                W[:, at] += solve(G)
            elif self.o.bias == "regularized":
                step = solve(np.vstack([G, -0.5 * grad["b"][None, at]]))
                W[:, at], b[at] = W[:, at] + step[:-1], b[at] + step[-1]
            else:
                g = -0.5 * grad["b"][at]
                step = solve(G - mean[:, None] * g)
                W[:, at] += step
                b[at] += (g / total if total else 0.0) - mean @ step
        return {"W": W} if b is None else {"W": W, "b": b}


class Examples(System):
    """(M M' + l I) U = sqrt(A) Y by n x n factors, W = M'U; M is sqrt(A) times the rows, centered for a free bias."""

    def __init__(self, objective: Objective) -> None:
        super().__init__(objective)
        self.U = np.zeros((objective.X.shape[0], objective.width))
        K = outer(objective.X)
        self.solvers = [factored(self._kernel(K, a), self.ridge) for a in self.counts.T]

    def _kernel(self, K: Doubles, a: Doubles) -> Doubles:
        """M M'."""
        if self.o.bias == "regularized":
            K = K + 1.0
        elif self.o.bias == "free" and a.sum():
            share = a / a.sum()
            u = K @ share
            K = K - u[:, None] - u[None, :] + share @ u
        root = np.sqrt(a)
        return root[:, None] * K * root[None, :]

    def improve(self, params: Params, grad: Params) -> Params:
        """Solve for the remaining residuals."""
        left = self.roots * self.missing(params) - self.ridge * self.U
        if len(self.solvers) == 1:
            self.U = self.U + self.solvers[0](left)
        else:
            self.U = self.U + np.column_stack([solve(left[:, c]) for c, solve in enumerate(self.solvers)])
        V = self.roots * self.U
        if self.o.bias == "free":  # centering, transposed
            V = V - self.counts * (V.sum(axis=0) / self.totals)
        found: Params = {"W": self.tdot(V)}
        if self.o.bias == "regularized":
            found["b"] = V.sum(axis=0)
        elif self.o.bias == "free":
            found["b"] = self.means(self.missing(found))
        return found


def counts(objective: Objective) -> Doubles:
    """The row weights: (n, 1), or (n, w) if they differ between targets (pairs of classes, costs)."""
    o, blocks = objective, []
    n, w = o.X.shape[0], o.width
    size = max(1, BLOCK // w)
    for at in range(0, n, size):
        rows = slice(at, min(n, at + size))
        seen = _view(o, np.zeros((rows.stop - at, w)), rows).stakes
        blocks.append(seen[:, :1] if (seen == seen[:, :1]).all() else seen)
    wide = any(block.shape[1] > 1 for block in blocks)
    stakes = np.vstack([np.broadcast_to(b, (len(b), w)) if wide else b for b in blocks])
    return stakes * o.weights[:, None]


def _view(objective: Objective, S: Doubles, rows: slice = slice(None)) -> Margins:
    """The residuals of these rows."""
    return ability(objective.loss, SquaredForm).view(objective.space, S, objective.y[rows])


@dataclass(frozen=True)
class LSQR:
    """LSQR (Paige and Saunders 1982) for the squared loss with the L2 penalty or none.

    In exact arithmetic it equals conjugate gradients on the normal equations, but does not square the condition number.
    A free bias is eliminated by centering, without making the rows dense. From zero and without a penalty it converges
    to the solution of minimal norm. Memory: about 6 times the parameters and 3 times the scores.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="squared", optimizer=LSQR()).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    def refuse(self, objective: Objective) -> str | None:
        """Refuse losses other than the squared loss, and penalties other than L2."""
        return refuse_curved(objective, "LSQR")

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Minimize until rounding level, or until `report` raises."""
        reporter = Reporter(objective, start, report, exact=False)
        reporter.begin(start.params, objective.value_and_grad(start.params)[1])
        system = Centered(objective, start.params)
        walk = Bidiagonal(system)
        while True:
            value, slope = walk.step()
            there = system.params(walk.x)
            reporter.tell(lambda there=there: there, value, norm(system.named(slope)))  # type: ignore[misc]
            if not walk.alive.any():
                break
        reporter.finish()


class Centered(System):
    """The problem as min ||A x - u||^2, column by column: x is the change from the start, u the residual there.

    A stacks sqrt(counts) (X - means), with a column of ones for a regularized bias, and sqrt(strength / 2) I.
    """

    def __init__(self, objective: Objective, start: Params) -> None:
        super().__init__(objective)
        self.start, self.root = start, float(np.sqrt(self.ridge))
        self.free = objective.bias == "free"
        self.ones = objective.bias == "regularized"
        self.rows = self.tdot(self.counts) / self.totals if self.free else None  # mean rows: (d, 1) or (d, w)
        missing = self.missing({"W": start["W"]} if self.free else start)
        self.center = self.means(missing)
        self.first = self.roots * (missing - self.center if self.free else missing)
        self.second = -self.root * self.stacked(start)

    def dot(self, V: Doubles) -> Doubles:
        """The upper part of A V."""
        S = np.asarray(self.o.X.dot(V[:-1] if self.ones else V), dtype=np.float64)
        if self.ones:
            S = S + V[-1]
        elif self.rows is not None:
            S = S - (self.rows * V).sum(axis=0)
        return self.roots * S

    def back(self, U: Doubles) -> Doubles:
        """The transpose of the upper part, times U."""
        U = self.roots * U
        if self.ones:
            return np.vstack([self.tdot(U), U.sum(axis=0)])
        return self.tdot(U) if self.rows is None else self.tdot(U) - self.rows * U.sum(axis=0)

    def stacked(self, params: Params) -> Doubles:
        """The penalized parameters as one matrix: W, and b below it if it is penalized."""
        return np.vstack([params["W"], params["b"][None, :]]) if self.ones else params["W"]

    def named(self, V: Doubles) -> Params:
        """Changes or slopes by parameter; those of a free bias are zero, because it is always optimal."""
        if self.ones:
            return {"W": V[:-1], "b": V[-1]}
        return {"W": V, "b": np.zeros(V.shape[1])} if self.free else {"W": V}

    def params(self, x: Doubles) -> Params:
        """The parameters after this change, with their optimal bias."""
        found = {name: self.start[name] + move for name, move in self.named(x).items()}
        if self.rows is not None:
            found["b"] = self.center - (self.rows * x).sum(axis=0)
        return found


class Bidiagonal:
    """One run of LSQR on all columns: alpha, beta, rho, phi as in the article, one number for each column."""

    def __init__(self, system: Centered) -> None:
        self.system = system
        self.beta, (self.u, self.below) = _unit(system.first, system.second)
        self.alpha, (self.v,) = _unit(self._back())
        self.w, self.x = self.v.copy(), np.zeros_like(self.v)
        self.phi, self.rho = self.beta.copy(), self.alpha.copy()
        self.goal = 1e-15 * self.alpha * self.beta
        self.alive = self.alpha * self.beta > 0

    def _back(self) -> Doubles:
        """A' u."""
        return self.system.back(self.u) + self.system.root * self.below

    def step(self) -> tuple[float, Doubles]:
        """Add a pair of vectors and update x. Returns the objective, and its slope in x."""
        U, V = self.system.dot(self.v) - self.alpha * self.u, self.system.root * self.v - self.alpha * self.below
        self.beta, (self.u, self.below) = _unit(U, V)
        self.alpha, (v,) = _unit(self._back() - self.beta * self.v)
        rho = np.maximum(np.hypot(self.rho, self.beta), 1e-300)
        c, s = self.rho / rho, self.beta / rho
        theta, self.rho = s * self.alpha, -c * self.alpha
        phi, self.phi = c * self.phi, np.where(self.alive, s * self.phi, self.phi)
        self.x = self.x + np.where(self.alive, phi / rho, 0.0) * self.w
        self.w, self.v = v - theta / rho * self.w, v
        left = self.phi * self.alpha * c  # of A'r, along v
        self.alive &= np.abs(left) > self.goal
        return float(self.phi @ self.phi), 2.0 * left * v


def _unit(*parts: Doubles) -> tuple[Doubles, tuple[Doubles, ...]]:
    """The lengths of the stacked columns, and the parts divided by them; columns of zeros stay."""
    lengths = np.sqrt(sum((np.einsum("ij,ij->j", part, part) for part in parts), np.zeros(parts[0].shape[1])))
    by = np.where(lengths > 0, lengths, 1.0)
    return lengths, tuple(part / by for part in parts)
