"""Newton's method: by conjugate gradients for large problems, with the full Hessian for small ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays import linear
from linnaeus.arrays.numerics import combine, dot, gram, norm, products, single_blas
from linnaeus.frozen import dataclass
from linnaeus.optimizers.flat_objective import Flat
from linnaeus.optimizers.line_search import descend
from linnaeus.optimizers.requirements import refuse_flat, refuse_rows, ridge
from linnaeus.protocols import NewtonLoss, ability
from linnaeus.types import Doubles, Params, Start, Step

if TYPE_CHECKING:
    from linnaeus.erm.objective import Objective


@dataclass(frozen=True)
class NewtonCG:
    """Newton's method by conjugate gradients, with a line search (Dembo and Steihaug 1983), as in LIBLINEAR.

    For losses with a second derivative. It takes few iterations, each with many products with the Hessian. It is faster
    than L-BFGS if products with the rows dominate the time. (SciPy's trust-region methods are slow on the squared
    hinge, whose curvature is discontinuous.) Memory: about 8 times the parameters, in float64.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="log", optimizer=NewtonCG()).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    def refuse(self, objective: Objective) -> str | None:
        """Refuse losses without second derivatives."""
        return refuse_flat(objective, "NewtonCG")

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Minimize until no step lowers the objective, or `report` raises."""
        flat = Flat(objective.by_columns(), start, report)
        scale = max(flat.reporter.scale or 0.0, 1e-300)

        def direction(x: Doubles, g: Doubles) -> Doubles:
            # More precise near the optimum, which makes the convergence superlinear.
            share = min(0.25, float(np.sqrt(norm(g) / scale)))
            return solve(lambda v: flat.hessp(x, v), -g, share)

        descend(flat, direction)


def solve(product: Callable[[Doubles], Doubles], g: Doubles, share: float) -> Doubles:
    """H^-1 g by conjugate gradients until `share` of g is left over; no further where H has no curvature.

    >>> solve(lambda v: 2.0 * v, np.array([1.0, -4.0]), 0.1).tolist()
    [0.5, -2.0]
    """
    x, r, p = np.zeros_like(g), g.copy(), g.copy()
    rho = begin = dot(r, r)
    steepest = 0.0
    for _ in range(10 * len(g) + 10):
        if rho <= share**2 * begin or rho == 0.0:
            break
        q = product(p)
        bend, length = products([p], [q, p])[0].tolist()
        steepest = max(steepest, bend / length)
        if bend <= 1e-14 * steepest * length:
            return x if x.any() else g
        combine([x, p], [1.0, rho / bend], x)
        combine([r, q], [1.0, -rho / bend], r)
        rho, before = dot(r, r), rho
        combine([r, p], [1.0, rho / before], p)
    return x


LIMIT = 4096
"""The most parameters: a Hessian of 128 MiB."""


@dataclass(frozen=True)
class Newton:
    """Newton's method w <- w - t H^-1 g with a Cholesky factorization, t halved until Armijo's condition holds.

    For losses with a second derivative and at most 4,096 parameters. A quadratic objective takes one step. A singular H
    is made definite by adding the smallest sufficient multiple of the identity. Memory: two matrices of parameters by
    parameters.

    >>> import numpy as np
    >>> from linnaeus import LinearClassifier
    >>> X, y = np.array([[-2.0], [-1.0], [3.0]]), ["no", "no", "yes"]
    >>> model = LinearClassifier(loss="log", optimizer=Newton()).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes']
    """

    def refuse(self, objective: Objective) -> str | None:
        """Refuse losses without second derivatives, and too many parameters."""
        said = refuse_flat(objective, "Newton") or refuse_rows(objective, "Newton")
        size = sum(value.size for value in objective.initial().values())
        if said is None and size > LIMIT:
            return f"Newton factors a matrix of {size:,} by {size:,} parameters, and {LIMIT:,} are the most."
        return said

    def minimize(self, objective: Objective, start: Start, report: Callable[[Step], float | None]) -> None:
        """Minimize until no step lowers the objective, or `report` raises."""
        import scipy.linalg  # noqa: F401 - its BLAS must be loaded before it can be limited to one thread

        flat = Flat(objective, start, report)
        with single_blas():
            descend(flat, lambda x, g: direction(hessian(objective, flat.unpack(x)), g))


def direction(H: Doubles, g: Doubles) -> Doubles:
    """-H^-1 g, or of H + c I with the least c = 0, 1e-12, 1e-11 ... of the mean curvature that makes it definite."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    mean = max(float(np.trace(H)) / len(H), 1e-300)
    more = 0.0
    while True:
        try:
            factor = cho_factor(H + more * mean * np.eye(len(H)), lower=True)
            diagonal = np.diagonal(factor[0])
            if diagonal.min() ** 2 > 1e-14 * diagonal.max() ** 2:
                return -np.asarray(cho_solve(factor, g))
        except LinAlgError:
            pass
        more = max(10.0 * more, 1e-12)


def hessian(objective: Objective, params: Params) -> Doubles:
    """The Hessian (p, p), in the order of a flat vector: W row by row, then b.

    A row's own Hessian in the scores is read off column by column: what the curvature makes of a move of one score.
    """
    o, w = objective, params["W"].shape[1]
    size = sum(value.size for value in params.values())
    H, end = np.zeros((size, size)), params["W"].size
    S = linear.scores(o.X, params)
    bend = ability(o.loss, NewtonLoss).curvature(o.space, S, o.y)
    for c in range(w):
        move = np.zeros_like(S)
        move[:, c] = 1.0
        bent = bend(move) * o.weights[:, None]
        for e in range(c, w):
            if bent[:, e].any():
                _place(H, objective, (c, e, w, end), np.ascontiguousarray(bent[:, e]))
    l2 = ridge(o) or 0.0
    H[np.arange(end), np.arange(end)] += l2
    if "b" in o.penalized:
        H[np.arange(end, size), np.arange(end, size)] += l2
    return H


def _place(H: Doubles, objective: Objective, at: tuple[int, int, int, int], bent: Doubles) -> None:
    """The block of scores c and e, on both sides of the diagonal."""
    c, e, w, end = at
    block = gram(objective.X, bent)
    H[c:end:w, e:end:w] = block
    H[e:end:w, c:end:w] = block
    if len(H) > end:
        edge = np.asarray(objective.X.tdot(bent[:, None]), dtype=np.float64)[:, 0]
        for one, other in ((c, e), (e, c)):
            H[one:end:w, end + other] = H[end + other, one:end:w] = edge
            H[end + one, end + other] = bent.sum()
