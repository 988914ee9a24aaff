"""Storage of rows in a model file; indexes are checked when they are restored."""

from __future__ import annotations

import numpy as np

from linnaeus import kernels
from linnaeus.arrays.csr import CSR
from linnaeus.arrays.dense import Dense
from linnaeus.errors import damaged
from linnaeus.types import Arrays, Json, State

WIDEST = 2**31 - 1
IN_ORDER = 2
"""The result of `kernels.column_order` for columns that ascend in every row."""


def pack_rows(name: str, X: CSR | Dense) -> State:
    """Rows as `name.values` (dense), or `name.offsets`, `name.columns` and `name.values`; their width in the manifest.

    >>> sorted(pack_rows("x", Dense(np.eye(2))).tensors)
    ['x.values']
    """
    if isinstance(X, Dense):
        return State({f"{name}.width": X.shape[1]}, {f"{name}.values": X.values})
    first, last = int(X.indptr[0]), int(X.indptr[-1])
    tensors: Arrays = {
        f"{name}.offsets": X.indptr - first,
        f"{name}.columns": X.indices[first:last],
        f"{name}.values": X.data[first:last],
    }
    return State({f"{name}.width": X.width}, tensors)


def unpack_rows(name: str, state: State) -> CSR | Dense:
    """Restore the rows of `pack_rows`; invalid arrays are refused."""
    offsets, columns, values = (state.tensors.get(f"{name}.{part}") for part in ("offsets", "columns", "values"))
    width: Json = state.manifest.get(f"{name}.width")
    if values is None or values.dtype not in (np.float32, np.float64) or not isinstance(width, int):
        raise damaged(f"the rows {name!r} are missing")
    if kernels.first_unfinite(np.ascontiguousarray(values).reshape(-1), kernels.thread_count()) >= 0:
        raise damaged(f"a number of the rows {name!r} is not finite")
    if offsets is None and columns is None:
        if values.ndim != 2 or values.shape[1] != width:
            raise damaged(f"the rows {name!r} have another width")
        return Dense(np.ascontiguousarray(values))
    if offsets is None or columns is None or not offsets.ndim == columns.ndim == values.ndim == 1:
        raise damaged(f"the rows {name!r} are not vectors")
    if offsets.dtype != np.int64 or columns.dtype != np.int32:
        raise damaged(f"the rows {name!r} are not vectors")
    return _sparse(name, CSR(offsets, columns, values, width))


def _sparse(name: str, X: CSR) -> CSR:
    offsets, columns, values = X.arrays
    width = X.width
    if not 0 <= width <= WIDEST or not len(offsets) or offsets[0] != 0 or offsets[-1] != len(columns):
        raise damaged(f"the offsets of the rows {name!r} are invalid")
    if len(columns) != len(values) or (np.diff(offsets) < 0).any():
        raise damaged(f"the offsets of the rows {name!r} are invalid")
    if kernels.column_order(offsets, columns, width, kernels.thread_count()) != IN_ORDER:
        raise damaged(f"the columns of the rows {name!r} are invalid")
    return X
