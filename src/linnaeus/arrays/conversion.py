"""Conversion of user input (arrays, lists, data frames, tables, sparse matrices) to rows, with clear errors.

Containers of other libraries are recognized by their methods, without importing these libraries. Arrays that already
have the right layout are not copied. Error messages use the words of scikit-learn where it has such
errors, because programs match them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linnaeus import kernels
from linnaeus.arrays.csr import CSR
from linnaeus.arrays.dense import Dense
from linnaeus.errors import DataError, InputTypeError, said
from linnaeus.types import Array, Doubles, Floats, Label, Matrix

WIDEST = 2**31 - 1
MIXED = 1
"""The result of `kernels.column_order` for columns that are unsorted or occur twice in a row."""
RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
    "or array.reshape(1, -1) if it contains a single sample."
)


def as_rows(
    X: Matrix, width: int | None = None, names: NDArray[np.object_] | None = None, who: str = "the model"
) -> CSR | Dense:
    """X as rows of finite numbers (n, d): `CSR` if it is sparse, `Dense` otherwise.

    `width` and `names` are those of training, and `who` is the estimator for error messages. SciPy sparse matrices with
    int32 columns and float values are not copied; unsorted or duplicate columns are sorted and summed in a copy. Arrays
    that are used as they lie must not be written by another thread meanwhile: columns are checked before they are
    followed, and one that changes in between leads out of the weights, as it does in SciPy.

    >>> as_rows([[1, 2], [3, 4]]).dot(np.array([1.0, 10.0])).tolist()
    [21.0, 43.0]
    >>> as_rows([[1, 2], [3, 4]], width=3, who="LinearClassifier")
    Traceback (most recent call last):
    linnaeus.errors.DataError: X has 2 features, but LinearClassifier is expecting 3 features as input.
    """
    if names is not None:
        given = column_names(X)
        if given is not None:
            refuse_names(names, given)
    rows = _rows(X)
    _refuse_shape(rows.shape)
    if width is not None and rows.shape[1] != width:
        raise DataError(f"X has {rows.shape[1]} features, but {who} is expecting {width} features as input.")
    _refuse_unfinite(rows)
    return rows


def _rows(X: Matrix) -> CSR | Dense:
    if isinstance(X, CSR | Dense):
        return X
    sparse = X if is_sparse(X) else _sparse_frame(X)
    if sparse is not None:
        return _from_scipy(sparse)
    array = _to_array(X)
    if array.ndim < 2:
        _refuse_texts(X, array)
    if array.ndim != 2:
        refuse_dimensions(array.ndim)
    return Dense(_laid_out(_to_floats(array, "X")))


def refuse_dimensions(ndim: int) -> None:
    """Refuse arrays that do not have two dimensions, with advice."""
    if ndim < 2:
        got = "scalar array" if ndim == 0 else "1D array"
        raise DataError(f"Expected 2D array, got {got} instead: X has no rows of features. {RESHAPE}")
    raise DataError(f"Found array with dim {ndim}, while dim <= 2 is required; give X one row for each example.")


def _refuse_texts(X: Matrix, array: Array) -> None:
    """Refuse texts and other input that is not a matrix of numbers, with advice."""
    if array.dtype.kind in "US" or (array.dtype.kind == "O" and array.size and isinstance(array.flat[0], str | bytes)):
        raise DataError(
            "X holds texts, but a matrix of numbers is expected; make features of them first, as "
            "linnaeus.features.Words().fit_rows(texts) does."
        )
    if array.dtype.kind == "O" and array.ndim == 0:
        raise InputTypeError(f"X takes a matrix of numbers, one row for each example, not {type(X).__name__}.")


def _laid_out(values: Array) -> Floats | Doubles:
    """C-contiguous and aligned, as the kernels need it."""
    return np.require(values, requirements=["C", "A"])


def _from_scipy(X: Matrix) -> CSR:
    if len(X.shape) != 2:
        refuse_dimensions(len(X.shape))
    if X.shape[1] > WIDEST:
        raise DataError(f"X has {X.shape[1]:,} columns, but at most {WIDEST:,} can be used; hash them into fewer.")
    # Convert to floats first: duplicate entries are summed, and small integers would overflow.
    matrix = X.astype(_to_floats(np.zeros(0, X.dtype), "X").dtype, copy=False).tocsr()
    indptr, indices = _laid(matrix.indptr, np.int64), _laid(matrix.indices, np.int32)
    order = kernels.column_order(indptr, indices, X.shape[1], kernels.thread_count())
    if not order or len(indptr) != X.shape[0] + 1 or indptr[-1] > len(matrix.data) or _wraps(matrix.indices):
        raise DataError("The sparse matrix X is damaged: its offsets or columns are invalid; build it again.")
    if order == MIXED:
        matrix = matrix.copy()
        matrix.has_canonical_format = matrix.has_sorted_indices = False
        matrix.sum_duplicates()
        indptr, indices = _laid(matrix.indptr, np.int64), _laid(matrix.indices, np.int32)
    return CSR(indptr, indices, _laid_out(matrix.data), int(X.shape[1]))


def _laid(numbers: Array, dtype: type[np.integer]) -> Array:
    return np.require(numbers, dtype, ["C", "A"])


def _wraps(columns: Array) -> bool:
    """Whether a column number does not fit into 32 bits."""
    wide = columns.dtype.itemsize > np.dtype(np.int32).itemsize and len(columns) > 0
    return bool(wide and (columns.min() < 0 or columns.max() > np.iinfo(np.int32).max))


def _refuse_shape(shape: tuple[int, int]) -> None:
    for count, what, fault in zip(shape, ("sample", "feature"), ("is empty", "has no columns"), strict=True):
        if not count:
            found = f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required"
            raise DataError(f"{found}: X {fault}.")


def _refuse_unfinite(rows: CSR | Dense) -> None:
    values = rows.values.reshape(-1) if isinstance(rows, Dense) else rows.data[: rows.nnz]
    at = kernels.first_unfinite(values, kernels.thread_count())
    if at < 0:
        return
    if isinstance(rows, Dense):
        row, column = divmod(at, rows.shape[1])
    else:
        row, column = int(np.searchsorted(rows.indptr, at, "right")) - 1, int(rows.indices[at])
    what = "NaN" if np.isnan(values[at]) else "infinity"
    raise DataError(f"X[{row}, {column}] is {what}; fill in missing values, or leave the row or column out.")


SHOWN = 5


def column_names(X: Matrix) -> NDArray[np.object_] | None:
    """The names of the columns of a data frame or table, if all of them are strings.

    >>> column_names([[1.0]]) is None
    True
    """
    if not (hasattr(X, "dtypes") or hasattr(X, "schema")):
        return None
    given = list(getattr(X, "column_names", getattr(X, "columns", [])))
    if not given:
        return None
    names = np.array(given, dtype=object)
    kinds = sorted({type(name).__qualname__ for name in names})
    if len(kinds) > 1 and "str" in kinds:
        raise InputTypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as column name types; convert them, as with X.columns = X.columns.astype(str)."
        )
    return names if kinds == ["str"] else None


def refuse_names(seen: NDArray[np.object_], given: NDArray[np.object_]) -> None:
    """Refuse columns whose names are not those of training, in that order, in the words of scikit-learn.

    >>> refuse_names(np.array(["a", "b"], object), np.array(["b", "a"], object))
    Traceback (most recent call last):
    linnaeus.errors.DataError: The feature names should match those that were passed during fit.
    Feature names must be in the same order as they were in fit.
    """
    if np.array_equal(seen, given):
        return
    unseen, missing = sorted(set(given) - set(seen)), sorted(set(seen) - set(given))
    message = "The feature names should match those that were passed during fit.\n"
    if unseen:
        message += "Feature names unseen at fit time:\n" + _listed(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _listed(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise DataError(message)


def _listed(names: list[str]) -> str:
    return "".join(f"- {name}\n" for name in names[:SHOWN]) + ("- ...\n" if len(names) > SHOWN else "")


EXACT = (np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.float16)
"""Types whose values are exact in float32."""


def is_sparse(X: Matrix) -> bool:
    """Whether this is a SciPy sparse matrix or array, or one with the same methods."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def _to_array(X: Matrix) -> Array:
    """Convert an array, lists, a data frame or a table to a NumPy array."""
    if isinstance(X, np.ma.MaskedArray):
        return np.asarray(np.ma.filled(X.astype(np.float64), np.nan))
    if hasattr(X, "schema") and hasattr(X, "column_names"):
        return _from_arrow(X)
    if hasattr(X, "dtypes") and hasattr(X, "to_numpy"):
        return _from_frame(X)
    try:
        return np.asarray(X)
    except (ValueError, TypeError) as error:
        raise DataError(f"X is not a table of numbers ({said(error)}); give rows of equal length.") from error


def _sparse_frame(X: Matrix) -> Matrix | None:
    """The SciPy matrix of a pandas frame whose columns are all sparse; None for other input."""
    kinds = getattr(X, "dtypes", None)
    if kinds is None or not hasattr(X, "iloc") or X.ndim != 2 or not len(kinds):
        return None
    if not all(type(kind).__name__ == "SparseDtype" for kind in kinds):
        return None
    return X.sparse.to_coo()


def _to_floats(values: Array, name: str) -> Array:
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


def _from_objects(values: Array, name: str) -> Array:
    try:
        return values.astype(np.float64)
    except TypeError as error:
        raise InputTypeError(f"could not convert {name} to numbers: {said(error)}; give numbers only.") from error
    except (ValueError, OverflowError) as error:
        raise DataError(f"could not convert {name} to numbers: {said(error)}; give numbers only.") from error


def _from_frame(X: Matrix) -> Array:
    """A frame of pandas or polars; missing values become NaN."""
    values = np.asarray(X.to_numpy())
    if values.dtype.kind == "O" and hasattr(X, "isna"):
        missing = np.asarray(X.isna().to_numpy(), bool)
        if missing.any():
            values = values.copy()
            values[missing] = np.nan
    return values


def _from_arrow(X: Matrix) -> Array:
    """A table or record batch of Arrow, column by column; missing values become NaN."""
    columns = []
    for label, column in zip(X.column_names, X.columns, strict=True):
        values = column.to_numpy(zero_copy_only=False) if not hasattr(column, "chunks") else column.to_numpy()
        columns.append(_to_floats(np.asarray(values), f"column {label!r} of X"))
    return np.column_stack(columns) if columns else np.zeros((len(X), 0))


def is_missing(value: Label) -> bool:
    """Whether this is a missing value.

    >>> [is_missing(value) for value in (None, float("nan"), "nan", 0)]
    [True, True, False, False]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64 | np.timedelta64) and bool(value != value)


def unmasked(y: Matrix) -> Matrix:
    """A masked array as objects, with None for masked values; other input unchanged.

    >>> unmasked(np.ma.array([1, 2], mask=[False, True])).tolist()
    [1, None]
    """
    if not isinstance(y, np.ma.MaskedArray) or not np.ma.getmaskarray(y).any():
        return y
    found = np.array(y.data, dtype=object)
    found[np.ma.getmaskarray(y)] = None
    return found


def refuse_gaps(array: Array, what: str) -> None:
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
