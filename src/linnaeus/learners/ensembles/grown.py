"""Conversion of scikit-learn's trees to flat arrays, and of rows and labels to its input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.errors import DataError, UsageError, expect
from linnaeus.learners.ensembles.trees import Trees, join
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Floats, Lesson

LARGEST = float(np.finfo(np.float32).max)


def counted(name: str, value: int | None, least: int = 1) -> None:
    """Refuse a value that is not a whole number of at least `least`; None means no limit."""
    if value is None:
        return
    expect(name, value, int)
    if value < least:
        raise UsageError(f"{name} must be a whole number of at least {least}, not {value}.")


def weighty(lesson: Lesson) -> Lesson:
    """The lesson without rows of weight zero."""
    if not lesson.X.shape[1]:
        raise DataError("The rows have no features; give rows with at least one column.")
    there = np.flatnonzero(lesson.weights > 0)
    if not len(there):
        raise DataError("All rows have weight zero; give at least one row a weight above zero.")
    return lesson if len(there) == len(lesson.weights) else lesson.take(there)


def foreign(X: Any) -> Any:
    """Rows in the form of scikit-learn's trees: float32, dense, or sparse with 32-bit offsets."""
    values = X.data[: X.nnz] if isinstance(X, CSR) else X.values
    if values.dtype != np.float32 and values.size and max(-values.min(), values.max()) > LARGEST:
        raise DataError("A feature value is beyond the range of float32, which trees use; scale it down.")
    if not isinstance(X, CSR):
        return X.values.astype(np.float32, copy=False)
    if X.nnz > np.iinfo(np.int32).max:
        raise DataError("scikit-learn's trees take at most 2^31 stored values; use fewer rows or features.")
    return X.to_scipy().astype(np.float32, copy=False)


def stakes(lesson: Lesson) -> Doubles | None:
    """The row weights, or None if they are all equal."""
    return None if (lesson.weights == 1).all() else lesson.weights


def kind_of(lesson: Lesson) -> str:
    """The kind of the labels: "classes", "sets" or "numbers"."""
    if isinstance(lesson.y, LabelSets):
        return "sets"
    return "numbers" if lesson.y.ndim == 2 else "classes"


def targets(lesson: Lesson) -> Any:
    """Regression targets: numbers (n, k), or 1 for the labels of each row and 0 for the others."""
    if not isinstance(lesson.y, LabelSets):
        return lesson.y
    found = np.zeros((len(lesson.y), lesson.k))
    found[np.repeat(np.arange(len(lesson.y)), np.diff(lesson.y.offsets)), lesson.y.labels] = 1.0
    return found


def planted(grown: Sequence[Any], leaves: Sequence[Doubles], slots: Sequence[int], width: int) -> Trees:
    """Convert scikit-learn's `tree_` objects with their node values (nodes, q), for columns from `slots` on."""
    return join([_one(*parts, width) for parts in zip(grown, leaves, slots, strict=True)])


def _one(tree: Any, leaves: Doubles, slot: int, width: int) -> Trees:
    """Convert one tree; nodes are numbered as in scikit-learn, parents first."""
    inner = tree.children_left >= 0
    with np.errstate(over="ignore"):
        values = leaves[~inner].astype(np.float32)
    if not np.isfinite(values).all():
        raise DataError("The target values are beyond the range of float32, which leaves use; scale them down.")
    values, rows = np.unique(values + np.float32(0), axis=0, return_inverse=True)  # + 0: no minus zero
    left = np.array(tree.children_left, np.int32)
    left[~inner] = rows
    return Trees(
        width,
        np.array([0, len(left)]),
        np.array([slot], np.int32),
        np.where(inner, tree.feature, -1).astype(np.int32),
        np.where(inner, rounded_down(tree.threshold), np.float32(0)),
        left,
        np.where(inner, tree.children_right, 0).astype(np.int32),
        values,
    )


def rounded_down(thresholds: Doubles) -> Floats:
    """The largest float32 that is not above the threshold, so that comparisons of float32 values do not change.

    >>> np.array([0.1]).astype(np.float32).tolist(), rounded_down(np.array([0.1])).tolist()
    ([0.10000000149011612], [0.09999999403953552])
    """
    short = thresholds.astype(np.float32)
    return np.where(short > thresholds, np.nextafter(short, np.float32(-np.inf)), short)
