"""What users call X: any matrix scikit-learn takes, or our own rows, checked and adopted without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from linnaeus.arrays import CSR
from linnaeus.errors import DataError, said

if TYPE_CHECKING:
    from linnaeus.protocols import Rows


def checked(face: Any, X: Any, reset: bool) -> Any:
    """A NumPy array (n, d) or SciPy CSR matrix of finite floats; `reset` learns width and names of the columns."""
    matrix = X.to_scipy() if isinstance(X, CSR) else X
    try:
        found = validate_data(
            face, matrix, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False
        )
    except ValueError as error:
        raise DataError(said(error)) from error
    _refuse_infinite(found)
    return found


def is_sparse(matrix: Any) -> bool:
    """Whether it is one of SciPy's sparse matrices."""
    return bool(sparse.issparse(matrix))


def as_rows(matrix: Any) -> Rows:
    """The matrix as rows the solvers understand."""
    found = sparse.csr_array(matrix)
    if not found.has_canonical_format:
        found = found.copy()
        found.sum_duplicates()
    return CSR(
        found.indptr.astype(np.int64, copy=False),
        found.indices.astype(np.int32, copy=False),
        found.data,
        found.shape[1],
    )


def _refuse_infinite(matrix: Any) -> None:
    """One sentence that names the first bad entry."""
    values = matrix.data if is_sparse(matrix) else matrix
    if np.isfinite(values.sum(dtype=np.float64)):
        return
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    at = int(np.flatnonzero(bad.ravel())[0])
    row = int(np.searchsorted(matrix.indptr, at, "right")) - 1 if is_sparse(matrix) else at // matrix.shape[1]
    what = "NaN" if np.isnan(values.ravel()[at]) else "infinity (inf)"
    raise DataError(f"X contains {what}, first in row {row}; fill in or remove such values before fit and predict.")
