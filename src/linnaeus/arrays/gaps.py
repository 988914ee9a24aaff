"""Missing values in y: None, NaN, NaT and the NA of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
