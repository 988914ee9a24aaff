"""Rows that a model keeps: as they lie in its file, checked before anything follows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import CSR, Dense
from linnaeus.errors import damaged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from linnaeus.types import Doubles

FLOATS = (np.float32, np.float64)
SORTED = 2
"""What `kernels.column_order` says of columns in order, each named once."""


def tensors_of(rows: CSR | Dense) -> dict[str, NDArray[Any]]:
    """The arrays of rows; offsets from zero."""
    if isinstance(rows, Dense):
        return {"rows.dense": rows.values}
    return {"rows.offsets": rows.indptr, "rows.columns": rows.indices[: rows.nnz], "rows.values": rows.data[: rows.nnz]}


def rows_of(tensors: Mapping[str, NDArray[Any]], width: int) -> CSR | Dense:
    """The rows again; arrays that do not fit each other are refused."""
    dense = tensors.get("rows.dense")
    if dense is not None:
        _refuse(dense.ndim == 2 and dense.shape[1] == width and len(dense) > 0 and dense.dtype in FLOATS)
        _refuse(kernels.first_unfinite(dense.reshape(-1), kernels.thread_count()) < 0)
        return Dense(dense)
    offsets, columns, values = (tensors[f"rows.{name}"] for name in ("offsets", "columns", "values"))
    _refuse(offsets.dtype == np.int64 and columns.dtype == np.int32 and values.dtype in FLOATS)
    _refuse(offsets.ndim == columns.ndim == values.ndim == 1 and len(columns) == len(values) and len(offsets) > 1)
    _refuse(offsets[0] == 0 and offsets[-1] == len(columns) and 0 <= width < 2**31)
    _refuse(kernels.column_order(offsets, columns, width, kernels.thread_count()) == SORTED)
    _refuse(kernels.first_unfinite(values, kernels.thread_count()) < 0)
    return CSR(offsets, columns, values, width)


def _refuse(fine: bool | np.bool_) -> None:
    if not fine:
        raise damaged("the rows it keeps do not fit together")


def to_dense(rows: CSR | Dense) -> Doubles:
    """All numbers of some rows (n, d) in float64."""
    if isinstance(rows, Dense):
        return rows.values.astype(np.float64)
    found = np.zeros(rows.shape)
    found[np.repeat(np.arange(len(rows)), np.diff(rows.indptr)), rows.indices[: rows.nnz]] = rows.data[: rows.nnz]
    return found
