"""Column names of data frames, and the error if they differ from those of training."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnaeus.errors import DataError, InputTypeError

SHOWN = 5


def column_names(X: Any) -> NDArray[np.object_] | None:
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
