"""Conversion of containers of other libraries, recognized by their methods, without importing these libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnaeus.errors import DataError, InputTypeError, said

EXACT = (np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.float16)
"""Types whose values are exact in float32."""


def is_sparse(X: Any) -> bool:
    """Whether this is a SciPy sparse matrix or array, or one with the same methods."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def to_array(X: Any, name: str) -> NDArray[Any]:
    """Convert an array, lists, a data frame or a table to a NumPy array."""
    if isinstance(X, np.ma.MaskedArray):
        return np.asarray(np.ma.filled(X.astype(np.float64), np.nan))
    if hasattr(X, "schema") and hasattr(X, "column_names"):
        return _from_arrow(X, name)
    if hasattr(X, "dtypes") and hasattr(X, "to_numpy"):
        return _from_frame(X)
    try:
        return np.asarray(X)
    except (ValueError, TypeError) as error:
        raise DataError(f"{name} is not a table of numbers ({said(error)}); give rows of equal length.") from error


def sparse_frame(X: Any) -> Any:
    """The SciPy matrix of a pandas frame whose columns are all sparse; None for other input."""
    kinds = getattr(X, "dtypes", None)
    if kinds is None or not hasattr(X, "iloc") or X.ndim != 2 or not len(kinds):
        return None
    if not all(type(kind).__name__ == "SparseDtype" for kind in kinds):
        return None
    return X.sparse.to_coo()


def to_floats(values: NDArray[Any], name: str) -> NDArray[Any]:
    """The same numbers as float32 or float64; not copied if they already are."""
    kind = values.dtype.kind
    if kind == "c":
        raise DataError(f"Complex data not supported: {name} holds {values.dtype}; give its real parts.")
    if kind in "USTmMV":
        what = "strings" if kind in "UST" else str(values.dtype)
        raise DataError(f"could not convert {name} to numbers, it holds {what}; encode them, or leave them out.")
    if kind == "O":
        return _from_objects(values, name)
    if values.dtype.type in (np.float32, np.float64) and values.dtype.isnative:
        return values
    return values.astype(np.float32 if values.dtype.type in EXACT else np.float64)


def _from_objects(values: NDArray[Any], name: str) -> NDArray[Any]:
    try:
        return values.astype(np.float64)
    except TypeError as error:
        raise InputTypeError(f"could not convert {name} to numbers: {said(error)}; give numbers only.") from error
    except (ValueError, OverflowError) as error:
        raise DataError(f"could not convert {name} to numbers: {said(error)}; give numbers only.") from error


def _from_frame(X: Any) -> NDArray[Any]:
    """A frame of pandas or polars; missing values become NaN."""
    values = np.asarray(X.to_numpy())
    if values.dtype.kind == "O" and hasattr(X, "isna"):
        missing = np.asarray(X.isna().to_numpy(), bool)
        if missing.any():
            values = values.copy()
            values[missing] = np.nan
    return values


def _from_arrow(X: Any, name: str) -> NDArray[Any]:
    """A table or record batch of Arrow, column by column; missing values become NaN."""
    columns = []
    for label, column in zip(X.column_names, X.columns, strict=True):
        values = column.to_numpy(zero_copy_only=False) if not hasattr(column, "chunks") else column.to_numpy()
        columns.append(to_floats(np.asarray(values), f"column {label!r} of {name}"))
    return np.column_stack(columns) if columns else np.zeros((len(X), 0))
