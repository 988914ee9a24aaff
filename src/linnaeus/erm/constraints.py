"""The conditions of separating weights: one linear inequality for each example and each possible mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.frozen import dataclass
from linnaeus.outputs import Multiclass, Product

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from linnaeus.erm.objective import Objective
    from linnaeus.types import Doubles, Ints, Params


@dataclass(frozen=True)
class Constraints:
    """Inequality c: the score `up[c]` minus the score `down[c]` (-1: none), times `sign[c]`, of example `rows[c]` > 0.

    `factor` times radius^2 / margin^2 bounds the mistakes of a perceptron (Novikoff 1962): 1 for binaries, where a
    mistake moves one weight vector, and 2 for joint classes, where it moves two.
    """

    features: Any  # (n, d or d + 1) SciPy matrix, the constant of the bias included
    rows: Ints
    up: Ints
    down: Ints
    sign: Doubles
    width: int
    bias: bool
    factor: float

    @property
    def radius(self) -> float:
        """The largest Euclidean norm of an example."""
        return float(np.sqrt(self._squares().max(initial=0.0)))

    @property
    def shortest(self) -> float:
        """The smallest norm of an inequality over all weights, an upper bound of the margin."""
        twice = np.where(self.down >= 0, 2.0, 1.0)
        return float(np.sqrt((twice * self._squares()[self.rows]).min(initial=np.inf)))

    @property
    def entries(self) -> int:
        """An upper bound of the number of entries of `matrix`."""
        sizes = np.diff(self.features.indptr)[self.rows]
        return int((np.where(self.down >= 0, 2, 1) * sizes).sum())

    def _squares(self) -> Doubles:
        """The squared norm of each example."""
        found: Doubles = np.asarray(self.features.multiply(self.features).sum(axis=1)).ravel()
        return found

    def margins(self, params: Params) -> Doubles:
        """The slack of each inequality; positive if it holds."""
        U = np.vstack([params["W"], params["b"][None, :]]) if self.bias else params["W"]
        S = self.features @ U
        lower = np.where(self.down >= 0, S[self.rows, np.maximum(self.down, 0)], 0.0)
        held: Doubles = self.sign * (S[self.rows, self.up] - lower)
        return held

    def matrix(self) -> csr_matrix:
        """The inequalities as rows over all weights, class after class."""
        from scipy.sparse import csr_matrix, diags

        chosen = diags(self.sign) @ self.features[self.rows]
        n, d = chosen.shape
        coo = chosen.tocoo()
        up = csr_matrix((coo.data, (coo.row, coo.col + d * self.up[coo.row])), shape=(n, d * self.width))
        has = self.down[coo.row] >= 0
        at = (coo.row[has], coo.col[has] + d * self.down[coo.row][has])
        down = csr_matrix((coo.data[has], at), shape=(n, d * self.width))
        return up - down

    def pack(self, params: Params) -> Doubles:
        """Named parameters as a vector over all weights, in the order of `matrix`."""
        U = np.vstack([params["W"], params["b"][None, :]]) if self.bias else params["W"]
        return np.ascontiguousarray(U.T, dtype=np.float64).reshape(-1)

    def unpack(self, u: Doubles, objective: Objective) -> Params:
        """A vector over all weights as named parameters."""
        U = u.reshape(self.width, -1).T.copy()
        return {"W": U[:-1], "b": U[-1]} if self.bias else {"W": U}


def constraints(objective: Objective) -> Constraints:
    """The inequalities of this objective's data and output space."""
    from scipy.sparse import csr_matrix, hstack

    rows_of: Any = objective.X
    X = rows_of.to_scipy().astype(np.float64)
    bias = objective.bias != "none"
    features = hstack([X, csr_matrix(np.ones((X.shape[0], 1)))], format="csr") if bias else csr_matrix(X)
    n, w = X.shape[0], objective.width
    if isinstance(objective.space, Multiclass):
        truth = np.asarray(objective.y)
        rows, others = np.repeat(np.arange(n), w), np.tile(np.arange(w), n)
        wrong = others != truth[rows]
        rows, others = rows[wrong].astype(np.int32), others[wrong].astype(np.int32)
        return Constraints(features, rows, truth[rows].astype(np.int32), others, np.ones(len(rows)), w, bias, 2.0)
    assert isinstance(objective.space, Product)
    signs = objective.space.signs(objective.y, w)
    at, part = (index.astype(np.int32) for index in np.nonzero(signs))
    none = np.full(len(at), -1, np.int32)
    return Constraints(features, at, part, none, signs[at, part], w, bias, 1.0)
