"""Rows in which equal columns are one: an easier problem with the same solution, under an L2 penalty."""

from __future__ import annotations

import numpy as np

from linnaeus import kernels
from linnaeus.arrays.csr import CSR
from linnaeus.frozen import dataclass
from linnaeus.types import AnyFloats, Floats, Ints


@dataclass(frozen=True, eq=False)
class Folded:
    """Rows whose m equal columns are one with sqrt(m) times the values.

    The weight of this column is sqrt(m) times the weight of each: scores and the squares of weights are the same. Many
    n-grams of characters stand in the same texts, and terms of one text are equal, too: often half of the columns go.

    >>> X = CSR(np.array([0, 3, 5]), np.array([0, 1, 3, 0, 1], np.int32), np.ones(5, np.float32), 4)
    >>> folded = Folded.of(X)
    >>> folded.rows.indices.tolist(), folded.rows.data.round(2).tolist(), folded.places.tolist()
    ([0, 1, 0], [1.409999966621399, 1.0, 1.409999966621399], [0, 0, -1, 1])
    """

    rows: CSR
    places: Ints
    """The column of the folded rows for each column; -1 for those without values."""
    shares: Floats
    """What part of the weight of that column each has."""

    @classmethod
    def of(cls, X: CSR) -> Folded:
        """Fold rows with float32 values."""
        found = kernels.fold_columns(X.arrays, X.width, kernels.thread_count())
        indptr, indices, data, places, counts = found
        shares = (1 / np.sqrt(np.maximum(counts, 1))).astype(np.float32)
        shares[places < 0] = 0
        return cls(CSR(indptr, indices, data, int(places.max(initial=-1)) + 1), places, shares)

    def other(self, X: CSR) -> CSR:
        """Other rows, for the weights of the folded ones; a column may stand in a row several times."""
        indices = X.indices[: X.nnz]
        data = (X.data[: X.nnz] * self.shares[indices]).astype(np.float32)
        return CSR(X.indptr, np.maximum(self.places, 0)[indices], data, max(1, self.rows.width))

    def unfolded(self, W: AnyFloats) -> Floats:
        """The weights of all columns (d, k), as they are stored."""
        if not len(W):
            return np.zeros((len(self.places), W.shape[1]), np.float32)
        found: Floats = W.astype(np.float32)[np.maximum(self.places, 0)]
        found *= self.shares[:, np.newaxis]
        return found
