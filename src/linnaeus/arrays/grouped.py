"""Grouped rows: examples with several rows each, such as the tokens of a sentence or candidates; sparse gradients."""

from __future__ import annotations

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.frozen import dataclass
from linnaeus.protocols import Rows
from linnaeus.types import AnyInts, Array, Chosen, Doubles, Longs, RowGrad, groups


@dataclass(frozen=True, slots=True)
class Grouped:
    """n examples: example i has the rows `offsets[i]` to `offsets[i+1]` of a matrix (m, d).

    `shared` rows are appended, an identity matrix with columns of its own. Their scores are weights that all examples
    share, such as the transitions of a chain. So every score is linear in one weight matrix,

        S = [ X W ; T ]  for the parameters  [ W ; T ]   (m + shared, k) and (d + shared, k)

    >>> X = CSR(np.array([0, 1, 2, 3]), np.array([0, 1, 0], np.int32), np.ones(3), 2)
    >>> two = Grouped(X, np.array([0, 2, 3]), shared=1)
    >>> two.shape, two.dot(np.array([[1.0], [2.0], [9.0]]))[:, 0].tolist()
    ((2, 3), [1.0, 2.0, 1.0, 9.0])
    """

    rows: Rows
    offsets: Longs
    shared: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Examples and columns."""
        return len(self.offsets) - 1, self.rows.shape[1] + self.shared

    def dot(self, W: Array) -> Doubles:
        """The scores of all rows, then the shared weights."""
        d = self.rows.shape[1]
        return np.concatenate([self.rows.dot(W[:d]), W[d:]])

    def tdot(self, D: Array, out: Doubles | None = None) -> Doubles:
        """The transpose of `dot`."""
        m, d = self.rows.shape
        G = np.empty((d + self.shared, *D.shape[1:])) if out is None else out
        self.rows.tdot(D[:m], out=G[:d])
        G[d:] = D[m:]
        return G

    def take(self, rows: AnyInts) -> Grouped:
        """These examples, in this order."""
        offsets, at, _ = groups(self.offsets, rows)
        return Grouped(self.rows.take(at), offsets, self.shared)

    def rows_slice(self, start: int, stop: int) -> Grouped:
        """Examples start to stop, without a copy of their values."""
        begin, end = int(self.offsets[start]), int(self.offsets[stop])
        return Grouped(self.rows.rows_slice(begin, end), self.offsets[start : stop + 1] - begin, self.shared)

    def to_csr(self) -> CSR:
        """The rows of all examples, without the shared ones."""
        return self.rows.to_csr()

    def by_columns(self) -> Grouped:
        """A copy with column-wise storage if the rows are sparse: faster for many products, but more memory."""
        return Grouped(self.rows.by_columns(), self.offsets, self.shared)

    def touched(self) -> Chosen:
        """The columns with a value, sorted; all columns if the rows are dense."""
        if not isinstance(self.rows, CSR):
            return slice(None)
        own = np.unique(self.rows.indices[: self.rows.nnz]).astype(np.int64)
        return np.concatenate([own, self.rows.width + np.arange(self.shared)])

    def narrow(self, columns: AnyInts) -> Grouped:
        """The same rows with these columns only; they must be those of `touched`."""
        assert isinstance(self.rows, CSR)  # the columns of others are a slice
        return Grouped(_narrow(self.rows, columns[: len(columns) - self.shared]), self.offsets, self.shared)


def touched(X: Rows) -> Chosen:
    """The columns that occur in a batch of rows: sorted indices for sparse rows, all columns for dense rows."""
    if isinstance(X, Grouped):
        return X.touched()
    return np.unique(X.indices[: X.nnz]) if isinstance(X, CSR) else slice(None)


def row_gradient(X: Rows, D: Doubles, rows: Chosen) -> RowGrad:
    """X.T D for some columns only: `rows` is the result of `touched`, or `slice(None)`."""
    if isinstance(rows, slice) or not isinstance(X, CSR | Grouped):
        return RowGrad(slice(None), X.tdot(D))
    narrow = X.narrow(rows) if isinstance(X, Grouped) else _narrow(X, rows)
    return RowGrad(rows, narrow.tdot(D))


def _narrow(X: CSR, columns: AnyInts) -> CSR:
    return CSR(X.indptr, np.searchsorted(columns, X.indices).astype(np.int32), X.data, len(columns))
