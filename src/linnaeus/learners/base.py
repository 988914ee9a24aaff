"""What learners of rows share, and what their fitted models share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.errors import DataError, damaged
from linnaeus.protocols import LearnsRows, ModelChances, Rows
from linnaeus.types import Doubles, LabelSets, Lesson, State, Truth


class RowLearner:
    """A learner of rows: `answers` are the kinds of labels it learns, `tuned` is the field that is tuned, if any."""

    answers: ClassVar[tuple[str, ...]] = ("classes",)
    provides: ClassVar[tuple[type, ...]] = (LearnsRows,)
    tuned: ClassVar[str | None] = None

    @property
    def strength(self) -> float | None:
        """The hyper-parameter that cross-validation tunes; None if there is none, or if it is "auto"."""
        value: float | str | None = None if self.tuned is None else vars(self)[self.tuned]
        return None if isinstance(value, str) else value

    def with_strength(self, strength: float) -> Self:
        """A copy with another value of the tuned hyper-parameter."""
        return replace(self, **{str(self.tuned): strength})  # type: ignore[type-var]


class FittedModel:
    """A fitted model without linear weights, unless it says otherwise."""

    def linear(self) -> tuple[Doubles, Doubles] | None:
        """None: the effect of a feature depends on its value, or on the other features."""
        return None


class FittedJoint(FittedModel):
    """A fitted model whose scores are logarithms of joint probabilities, up to a constant for each row."""

    provides: ClassVar[tuple[type, ...]] = (ModelChances,)

    def chances(self, S: Doubles) -> Doubles:
        """Class probabilities (n, k) for these scores."""
        return posterior(S)


def posterior(S: Doubles) -> Doubles:
    """Probabilities from logarithms of joint ones (n, k).

    >>> posterior(np.log([[0.3, 0.1]])).round(2).tolist()
    [[0.75, 0.25]]
    """
    P = np.exp(S - S.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def kind_of(y: Truth) -> str:
    """The kind of the labels: "classes", "sets" or "numbers"."""
    if isinstance(y, LabelSets):
        return "sets"
    return "numbers" if y.ndim == 2 else "classes"


def indicators(y: Truth, k: int) -> Doubles:
    """Indicators of the classes or labels of each row: 0 and 1 (n, k)."""
    found = np.zeros((len(y), k))
    if isinstance(y, LabelSets):
        found[np.repeat(np.arange(len(y)), np.diff(y.offsets)), y.labels] = 1.0
    else:
        found[np.arange(len(y)), y] = 1.0
    return found


def counted(lesson: Lesson) -> Lesson:
    """The lesson without rows of weight zero, which do not count."""
    there = np.flatnonzero(lesson.weights)
    if not len(there):
        raise DataError("All rows have weight zero; give at least one row a weight above zero.")
    return lesson if len(there) == len(lesson.weights) else lesson.take(there)


def to_dense(X: Rows) -> Doubles:
    """The rows as a dense float64 array (n, d)."""
    if isinstance(X, Dense):
        return X.values.astype(np.float64)
    if not isinstance(X, CSR):
        return X.dot(np.eye(X.shape[1]))
    found = np.zeros(X.shape)
    found[np.repeat(np.arange(len(X)), np.diff(X.indptr)), X.indices[: X.nnz]] = X.data[: X.nnz]
    return found


def values_of(X: Rows) -> Doubles:
    """The numbers of the rows; of sparse rows those that are stored."""
    if isinstance(X, CSR):
        return X.data[: X.nnz]  # type: ignore[return-value]
    return X.values if isinstance(X, Dense) else to_dense(X)  # type: ignore[return-value]


def tensors_of(state: State, what: str, axes: Mapping[str, str]) -> list[Doubles]:
    """Finite float64 arrays of a state, by name; `axes` has a letter for each axis, and equal letters are equal sizes.

    >>> W, b = tensors_of(State({}, {"W": np.ones((3, 2)), "b": np.ones(2)}), "weights", {"W": "dk", "b": "k"})
    >>> W.shape
    (3, 2)
    """
    found = [state.tensors[name] for name in axes if name in state.tensors]
    if len(found) < len(axes):
        raise damaged(f"some of its {what} are missing")
    sizes: dict[str, int] = {}
    for part, letters in zip(found, axes.values(), strict=True):
        same = [sizes.setdefault(axis, size) == size for axis, size in zip(letters, part.shape, strict=False)]
        if part.ndim != len(letters) or not all(same):
            raise damaged(f"the shapes of its {what} do not match")
    if any(part.dtype != np.float64 or not np.isfinite(part).all() for part in found):
        raise damaged(f"its {what} are not finite numbers")
    return [np.ascontiguousarray(part) for part in found]
