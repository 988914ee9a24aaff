"""What each row counts: sample weights times class weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from linnaeus.errors import DataError, UsageError, expect
from linnaeus.types import Array, Doubles, Label, LabelSets

if TYPE_CHECKING:
    from linnaeus.arrays.labels import Labels


ClassWeight: TypeAlias = str | Mapping[Label, float] | None


MAX_WEIGHT = 1e30
"""The largest weight of a row or a class: products and squares of such weights, and their sums, are finite."""


def sample_weights(sample_weight: ArrayLike | None, n: int) -> Doubles:
    """One finite number, at least 0, for each row; a weight of 0 is as if the row were not there.

    >>> sample_weights(None, 2).tolist()
    [1.0, 1.0]
    """
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError("sample_weight takes one number for each row.") from error
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise DataError(f"sample_weight has the shape {weights.shape}, but X has {n} rows; give one number for each.")
    if not np.isfinite(weights).all():
        raise DataError("sample_weight contains NaN or infinity; give each row a finite weight.")
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        raise DataError(f"sample_weight is negative in row {row}; weights are at least 0.")
    if (weights > MAX_WEIGHT).any():
        row = int(np.flatnonzero(weights > MAX_WEIGHT)[0])
        raise DataError(
            f"sample_weight is {weights[row]:g} in row {row}; weights are at most {MAX_WEIGHT:g}; scale all."
        )
    if not weights.any():
        raise DataError("sample_weight is zero in every row; at least one row must count.")
    return weights


def class_weights(class_weight: ClassWeight, labels: Labels, weights: Doubles) -> Doubles:
    """The row weights times the weight of each row's class; "balanced" is n / (k n_class), by weight.

    A class that a dict does not name counts 1. On a stream a class may be named before it comes.
    """
    if class_weight is None:
        return weights
    if isinstance(labels.y, LabelSets):
        raise UsageError("class_weight needs one class for each row, but here a row has several labels.")
    k = len(labels.classes)
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(labels.y, weights, minlength=k)
        factors = weights.sum() / (k * np.where(counts > 0, counts, 1.0))
    elif isinstance(class_weight, Mapping):
        factors = np.array([_factor(name, class_weight.get(name, 1.0)) for name in labels.classes.tolist()])
    else:
        raise UsageError(f"class_weight takes 'balanced' or a dict from class to weight, not {class_weight!r}.")
    balanced: Doubles = weights * factors[labels.y]
    if not balanced.any():
        raise UsageError("class_weight is zero for every class that is there; at least one class must count.")
    return balanced


def refuse_strangers(class_weight: ClassWeight, classes: Array) -> None:
    """Refuse a dict that names a class which is not there while one that is there has no weight: a slip of the pen.

    Where all classes that are there have a weight, others may be named: a fold of the data may lack a rare one.
    """
    if not isinstance(class_weight, Mapping):
        return
    known = classes.tolist()
    strangers = [key for key in class_weight if key not in known]
    if strangers and not all(name in class_weight for name in known):
        raise UsageError(
            f"class_weight names {strangers[0]!r}, but the classes are {', '.join(map(repr, known[:10]))}; "
            "name them as they are in y."
        )


def _factor(name: Label, weight: float) -> float:
    expect(f"class_weight of {name!r}", weight, float)
    if not 0 <= weight < np.inf:
        raise UsageError(f"class_weight of {name!r} must be a finite number, at least 0, not {weight}.")
    if weight > MAX_WEIGHT:
        raise UsageError(f"class_weight of {name!r} is {weight:g}; weights are at most {MAX_WEIGHT:g}.")
    return float(weight)
