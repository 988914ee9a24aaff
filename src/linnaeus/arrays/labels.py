"""The labels y of classifiers: labels of one type, indicator matrices, or lists of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from linnaeus.arrays.conversion import is_missing, is_sparse, refuse_gaps, unmasked
from linnaeus.errors import DataError, label_fault
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Label, LabelSets, Matrix

Form: TypeAlias = Literal["single", "indicator", "sparse", "lists"]
"""The forms in which labels are given and predictions are returned."""

ROWS = (list, tuple, set, frozenset, np.ndarray)
"""The container types of the labels of one row."""


@dataclass(frozen=True)
class Labels:
    """Encoded labels: class indices (n,) or `LabelSets`, the classes they refer to, and the form of the input."""

    y: Any
    classes: Array
    form: Form

    @property
    def sets(self) -> bool:
        """Whether an example has any number of labels."""
        return self.form != "single"

    def take(self, rows: Array | slice) -> Labels:
        """The labels of these rows; unused classes are dropped, but not the columns of a matrix."""
        y = self.y[rows]
        if self.form != "single":
            return Labels(y, self.classes, self.form)
        found, y = np.unique(y, return_inverse=True)
        return Labels(y.astype(np.int32), self.classes[found], self.form)


def encode(y: Matrix, regressor: str = "LinearRegressor") -> Labels:
    """Encode labels; classes are sorted as NumPy does. A 0/1 matrix or lists of labels become label sets.

    Numbers that are not whole are refused; the message names the `regressor` to use for them.

    >>> found = encode(["spam", "ham", "spam"])
    >>> found.y.tolist(), found.classes.tolist(), found.form
    ([1, 0, 1], ['ham', 'spam'], 'single')
    """
    from scipy import sparse
    from sklearn.utils import column_or_1d

    if y is None:
        raise DataError("This learner requires y to be passed, but the target y is None; give one label for each row.")
    if is_sparse(y):
        return _indicator(_zeros_and_ones(sparse.csr_array(y, copy=True)), "sparse")
    if (strings := _strings(y)) is not None:
        return strings
    array = _as_array(y)
    if _is_lists(array):
        return _lists([tuple(row) for row in array])
    if array.ndim == 2 and array.shape[1] > 1:
        return _indicator(sparse.csr_array(_zeros_and_ones(array)), "indicator")
    if array.ndim not in (1, 2):
        raise DataError(f"y takes one label, or one list of labels, for each row, not {_described(y)}.")
    array = _plain(column_or_1d(array, warn=True), regressor)
    classes, y = np.unique(array, return_inverse=True)
    return Labels(y.astype(np.int32), classes, "single")


def _strings(y: Matrix) -> Labels | None:
    """Labels in a list of strings, the usual case; faster than by an array."""
    if not isinstance(y, list | tuple) or set(map(type, y)) != {str}:
        return None
    _refuse_faults(y)
    names = sorted(set(y))
    at = {name: i for i, name in enumerate(names)}
    return Labels(np.fromiter(map(at.__getitem__, y), np.int32, len(y)), np.array(names), "single")


def label_sets(y: Matrix, n: int) -> list[set[Label]]:
    """The labels of n rows, given as lists, to compare with predicted lists.

    >>> label_sets([["a"], []], 2) == [{"a"}, set()]
    True
    """
    rows = y.to_pylist() if hasattr(y, "to_pylist") else y
    if not hasattr(rows, "__len__") or not all(isinstance(row, ROWS) for row in rows):
        raise DataError("y takes one list of labels for each row, as in training.")
    if len(rows) != n:
        raise DataError(f"X has {n} rows, but y has {len(rows)}; give one list of labels for each row.")
    return [set(row) for row in rows]


def point(y: Labels, classes: Array) -> Labels:
    """The same labels as indices into `classes`, which must contain all of them."""
    at = np.searchsorted(classes, y.classes).astype(np.int32)
    moved = LabelSets(y.y.offsets, at[y.y.labels]) if isinstance(y.y, LabelSets) else at[y.y]
    return Labels(moved, classes, y.form)


def refuse_one_class(classes: Array) -> None:
    """Refuse labels with fewer than two classes."""
    if len(classes) < 2:
        found = f"one class, {classes[0].item()!r}" if len(classes) else "no class"
        raise DataError(f"The labels have only {found}; a classifier needs examples of at least two classes.")


def _as_array(y: Matrix) -> Array:
    """Labels as an array that keeps types: NumPy would turn numbers in a mixed list into strings."""
    y = unmasked(y)
    if hasattr(y, "to_pylist"):
        y = y.to_pylist()
    if not isinstance(y, list | tuple):
        return np.asarray(y)
    rows = [row for row in y if isinstance(row, ROWS)]
    if rows and len(rows) < len(y):
        raise DataError("y has lists of labels in some rows and single labels in others; give a list for each row.")
    if rows and not _is_matrix(rows):
        lists = np.empty(len(y), dtype=object)
        lists[:] = [tuple(row) for row in rows]
        return lists
    if rows:
        return np.asarray(y)
    return np.array(y) if len({type(label) for label in y}) == 1 else np.array(y, dtype=object)


def _is_matrix(rows: list[Label]) -> bool:
    """Whether the lists have equal length and hold only 0 and 1, as rows of an indicator matrix."""
    equal = len({len(row) for row in rows}) == 1 and len(rows[0]) > 0
    return equal and all(np.isscalar(value) and value in (0, 1) for row in rows for value in row)


def _described(y: Matrix) -> str:
    shape = np.shape(y)
    return f"an array of shape {shape}" if shape else repr(y)[:40]


def _plain(array: Array, regressor: str = "LinearRegressor") -> Array:
    """Labels of one type that can be sorted."""
    refuse_gaps(array, "label")
    if array.dtype.kind == "f" and (array != np.floor(array)).any():
        raise DataError(
            f"Unknown label type: y holds numbers that are not whole, not classes; use {regressor} for numbers."
        )
    if array.dtype.kind == "c":
        raise DataError("Unknown label type: y holds complex numbers; give strings or whole numbers as classes.")
    if array.dtype.kind in "OU":
        _refuse_faults(array.tolist())
    if array.dtype.kind != "O":
        return array
    kinds = sorted({"str" if isinstance(label, str) else type(label).__name__ for label in array})
    if len(kinds) > 1 and not all(isinstance(label, int | float | np.number | np.bool_) for label in array):
        raise DataError(f"The labels are of mixed type ({', '.join(kinds)}); make all of them strings or all numbers.")
    if kinds and not isinstance(array[0], str | int | float | np.number | np.bool_ | np.str_):
        raise DataError(f"Unknown label type: {kinds[0]}; give strings or whole numbers as classes.")
    plain = np.array(array.tolist())
    if plain.dtype.kind == "O" and kinds:
        raise DataError("Unknown label type: y holds whole numbers beyond 64 bits; give strings instead.")
    return _plain(plain, regressor) if kinds else array


def _refuse_faults(labels: Sequence[Label]) -> None:
    """Refuse labels that are not valid text; the message names the first such row."""
    faults = {label for label in {label for label in labels if isinstance(label, str)} if label_fault(label)}
    if faults:
        row = next(i for i, label in enumerate(labels) if isinstance(label, str) and label in faults)
        raise _fault(row, labels[row])


def _fault(row: int, label: str) -> DataError:
    return DataError(f"The label of row {row} is {str(label)!r}, which holds {label_fault(label)}; correct the label.")


def _is_lists(array: Array) -> bool:
    """Whether each element is a list, tuple, set or array of labels."""
    if array.dtype != object or array.ndim != 1 or not len(array):
        return False
    return all(isinstance(row, ROWS) for row in array)


def _lists(rows: list[tuple[Label, ...]]) -> Labels:
    for i, row in enumerate(rows):
        if any(map(is_missing, row)):
            raise DataError(f"A label of row {i} is missing (None or NaN); leave it out of the list.")
        odd = next((label for label in row if isinstance(label, str) and label_fault(label)), None)
        if odd is not None:
            raise _fault(i, odd)
    flat = _plain(np.array([label for row in rows for label in row], dtype=object))
    classes, at = np.unique(flat, return_inverse=True)
    owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    from scipy import sparse

    matrix = sparse.csr_array((np.ones(len(at)), (owner, at)), shape=(len(rows), len(classes)))
    return Labels(_indicator(matrix, "lists").y, classes, "lists")


def _indicator(matrix: Matrix, form: Form) -> Labels:
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    y = LabelSets(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32))
    return Labels(y, np.arange(matrix.shape[1]), form)


def _zeros_and_ones(matrix: Matrix) -> Matrix:
    """A matrix of 0 and 1, dense or sparse."""
    values = matrix.data if is_sparse(matrix) else matrix
    if values.dtype.kind not in "bifu" or not np.isin(values, (0, 1)).all():
        raise DataError(
            "Unknown label type: y is a matrix with other values than 0 and 1; give one label for each row, "
            "lists of labels, or an indicator matrix."
        )
    return matrix.astype(np.float64)
