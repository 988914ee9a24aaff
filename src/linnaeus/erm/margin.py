"""The widest margin of separable data: a separator, and an upper bound on every margin.

The hard-margin problem `min 1/2 |u|^2` with `A u >= 1`, a row of A for each inequality, has the dual `max sum(alpha) -
1/2 |A' alpha|^2` over `alpha >= 0`. Any u with `A u > 0` has the margin `min(A u) / |u|`; any convex weights p give
`margin <= |A' p|`. Dual coordinate ascent (Hsieh et al. 2008) closes the gap: it solves a binary problem whose rows are
all positive, with costs so high that no slack is used.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.numerics import single_blas
from linnaeus.erm.train import Enough
from linnaeus.frozen import dataclass
from linnaeus.optimizers.dual import Binaries, Progress, Settings, solve_binaries

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from linnaeus.types import Doubles

CLOSE = 0.99
"""The margin found is at least this share of the widest margin."""

EPOCHS = 100_000


@dataclass(frozen=True)
class Margin:
    """A vector over all weights with margin `least`, and `most`, an upper bound of every margin."""

    separator: Doubles
    least: float
    most: float


class _Bracket:
    """The best margin and bound so far; `look` ends the ascent when they are close, or the time is over."""

    def __init__(self, A: csr_matrix, separator: Doubles, deadline: float) -> None:
        self.A, self.deadline = A, deadline
        self.best = Margin(separator, self._margin(separator), float(np.sqrt(_squares(A).min())))
        self.due = 1

    def _margin(self, u: Doubles) -> float:
        length = float(np.sqrt(u @ u))
        return float((self.A @ u).min()) / length if length else -np.inf

    def look(self, progress: Progress) -> None:
        """Compute margin and bound, at first after each epoch, later less often, as it costs as much as an epoch."""
        over = time.perf_counter() >= self.deadline
        if progress.epoch >= self.due or over:
            self.due = progress.epoch + 1 + progress.epoch // 10
            self.measure(progress.state()["alpha"])
        if over or self.best.least >= CLOSE * self.best.most:
            raise Enough("time limit" if over else "converged")

    def measure(self, alpha: Doubles) -> None:
        """The separator and the bound of these dual variables."""
        u, total = self.A.T @ alpha, float(alpha.sum())
        if not total > 0:
            return
        least, most = self._margin(u), min(self.best.most, float(np.sqrt(u @ u)) / total)
        better = least > self.best.least
        self.best = Margin(u, least, most) if better else Margin(self.best.separator, self.best.least, most)


def widest_margin(A: csr_matrix, separator: Doubles, seconds: float) -> Margin:
    """The widest margin of the inequalities `A u > 0`, to 1 %, or as near as the time limit allows.

    `separator` is some u that satisfies them all.

    >>> from scipy.sparse import csr_matrix
    >>> found = widest_margin(csr_matrix([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 0.1]), 1.0)
    >>> round(found.least, 2), round(found.most, 2)
    (0.71, 0.71)
    """
    scale = float(np.sqrt(_squares(A).max()))
    A = A.multiply(1.0 / scale).tocsr()
    bracket = _Bracket(A, separator, time.perf_counter() + seconds)
    problem = Binaries(
        rows=(A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data.astype(np.float64)),
        width=A.shape[1],
        costs=np.full(A.shape[0], 1.0 / bracket.best.least**2),  # the duals of the optimum sum up to 1 / margin^2
        count=1,
        sides=lambda which: [(np.arange(A.shape[0], dtype=np.int32), np.zeros(0, np.int32)) for _ in which],
        factors=np.ones((1, 2)),
    )
    with single_blas(), suppress(Enough):
        solve_binaries(problem, Settings("hinge", "none", 0.0, EPOCHS), bracket.look)
    best = bracket.best
    return Margin(best.separator, best.least * scale, max(best.most, best.least) * scale)


def _squares(A: csr_matrix) -> Doubles:
    found: Doubles = np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return found
