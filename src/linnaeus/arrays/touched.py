"""Gradients of a batch of rows that name only the columns the batch touches."""

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
    """The columns a batch of rows touches: sorted indices for sparse rows, all of them for dense ones."""
    if isinstance(X, Grouped):
        return X.touched()
    return np.unique(X.indices[: X.nnz]) if isinstance(X, CSR) else slice(None)


def row_gradient(X: Rows, D: Doubles, rows: Any) -> RowGrad:
    """X.T D for the touched columns only: `rows` as `touched` gave them, or `slice(None)`."""
    if isinstance(X, Grouped) and not isinstance(rows, slice):
        return RowGrad(rows, X.narrow(rows).tdot(D))
    if isinstance(rows, slice) or not isinstance(X, CSR):
        return RowGrad(slice(None), X.tdot(D))
    narrow = CSR(X.indptr, np.searchsorted(rows, X.indices).astype(np.int32), X.data, len(rows))
    return RowGrad(rows, narrow.tdot(D))
