"""Least squares by LSQR, for problems too large to factor; all targets are solved together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.optimizers.certificate import Reporter, norm
from linnaeus.optimizers.normal import counts
from linnaeus.optimizers.smooth import refuse_curved

if TYPE_CHECKING:
    from linnaeus.protocols import Objective
    from linnaeus.types import Doubles, Params, Start, Step


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


class Centered:
    """The problem as min ||A x - u||^2, column by column: x is a move from the start, u what is missing there.

    A stacks sqrt(counts) (X - means), one column of ones more for a bias that is penalized, and sqrt(strength / 2) I.
    """

    def __init__(self, objective: Objective, start: Params) -> None:
        self.o, self.start = objective, start
        self.ridge = float(np.sqrt(0.5 * objective.regularizer.l2))
        self.counts = counts(objective)
        self.totals = np.maximum(self.counts.sum(axis=0), 1e-300)
        self.roots = np.sqrt(self.counts)
        self.free = objective.bias == "free"
        self.ones = objective.bias == "regularized"
        self.means = self._tdot(self.counts) / self.totals if self.free else None  # (d, 1) or (d, w)
        missing = self._missing(start)
        self.center = (self.counts * missing).sum(axis=0) / self.totals
        self.first = self.roots * (missing - self.center if self.free else missing)
        self.second = -self.ridge * self.stacked(start)

    def _tdot(self, D: Doubles) -> Doubles:
        return np.asarray(self.o.X.tdot(D), dtype=np.float64)

    def _missing(self, start: Params) -> Doubles:
        """Targets minus scores."""
        at = {"W": start["W"]} if self.free else start
        missing: Doubles = -self.o.loss.view(self.o.space, self.o.scores(self.o.X, at), self.o.y).values
        return missing

    def dot(self, V: Doubles) -> Doubles:
        """The upper part of A V."""
        S = np.asarray(self.o.X.dot(V[:-1] if self.ones else V), dtype=np.float64)
        if self.ones:
            S = S + V[-1]
        elif self.means is not None:
            S = S - (self.means * V).sum(axis=0)
        return self.roots * S

    def tdot(self, U: Doubles) -> Doubles:
        """The transpose of the upper part, times U."""
        U = self.roots * U
        if self.ones:
            return np.vstack([self._tdot(U), U.sum(axis=0)])
        return self._tdot(U) if self.means is None else self._tdot(U) - self.means * U.sum(axis=0)

    def stacked(self, params: Params) -> Doubles:
        """What is penalized, as one matrix: W, and b below it if it is."""
        return np.vstack([params["W"], params["b"][None, :]]) if self.ones else params["W"]

    def named(self, V: Doubles) -> Params:
        """A matrix of moves or slopes by names; that of a free bias is zero, as it is always at its best."""
        if self.ones:
            return {"W": V[:-1], "b": V[-1]}
        return {"W": V, "b": np.zeros(V.shape[1])} if self.free else {"W": V}

    def params(self, x: Doubles) -> Params:
        """The start, moved, with the bias that goes with it."""
        found = {name: self.start[name] + move for name, move in self.named(x).items()}
        if self.means is not None:
            found["b"] = self.center - (self.means * x).sum(axis=0)
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
        return self.system.tdot(self.u) + self.system.ridge * self.below

    def step(self) -> tuple[float, Doubles]:
        """One more pair of vectors and the move they allow: the objective, and its slope in x."""
        U, V = self.system.dot(self.v) - self.alpha * self.u, self.system.ridge * self.v - self.alpha * self.below
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
