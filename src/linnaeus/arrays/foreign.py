"""Containers of other libraries, recognized by their methods, without importing these libraries; missing values."""

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


def is_missing(value: Any) -> bool:
    """Whether this is a missing value.

    >>> [is_missing(value) for value in (None, float("nan"), "nan", 0)]
    [True, True, False, False]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64 | np.timedelta64) and bool(value != value)


def unmasked(y: Any) -> Any:
    """A masked array as objects, with None for masked values; other input unchanged.

    >>> unmasked(np.ma.array([1, 2], mask=[False, True])).tolist()
    [1, None]
    """
    if not isinstance(y, np.ma.MaskedArray) or not np.ma.getmaskarray(y).any():
        return y
    found = np.array(y.data, dtype=object)
    found[np.ma.getmaskarray(y)] = None
    return found


def refuse_gaps(array: NDArray[Any], what: str) -> None:
    """Refuse an array in which a label or a target is missing or infinite; the message names the first such row.

    >>> refuse_gaps(np.array([1.0, np.nan]), "target")
    Traceback (most recent call last):
    linnaeus.errors.DataError: The target of row 1 is missing (NaN); leave the row out, or fill it in.
    """
    if array.dtype.kind not in "fOmM":
        return
    if array.dtype.kind == "O":
        gaps = np.array([is_missing(value) for value in array.reshape(-1)], bool).reshape(array.shape)
    else:
        gaps = np.isnan(array)
    wrong = gaps | np.isinf(array) if array.dtype.kind == "f" else gaps
    if not wrong.any():
        return
    at = tuple(np.argwhere(wrong)[0].tolist())
    found = "is missing (NaN)" if gaps[at] else "is infinity (inf)"
    raise DataError(f"The {what} of row {at[0]} {found}; leave the row out, or fill it in.")
