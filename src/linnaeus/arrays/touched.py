"""Sparse gradients of a batch of rows: only the columns that occur in the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.arrays.grouped import Grouped
from linnaeus.types import RowGrad

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles


def touched(X: Rows) -> Any:
    """The columns that occur in a batch of rows: sorted indices for sparse rows, all columns for dense rows."""
    if isinstance(X, Grouped):
        return X.touched()
    return np.unique(X.indices[: X.nnz]) if isinstance(X, CSR) else slice(None)


def row_gradient(X: Rows, D: Doubles, rows: Any) -> RowGrad:
    """X.T D for some columns only: `rows` is the result of `touched`, or `slice(None)`."""
    if isinstance(X, Grouped) and not isinstance(rows, slice):
        return RowGrad(rows, X.narrow(rows).tdot(D))
    if isinstance(rows, slice) or not isinstance(X, CSR):
        return RowGrad(slice(None), X.tdot(D))
    narrow = CSR(X.indptr, np.searchsorted(rows, X.indices).astype(np.int32), X.data, len(rows))
    return RowGrad(rows, narrow.tdot(D))
