"""The model of perceptron, ridge and SVM: a weighted sum of similarities to training rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.arrays.kept import pack_rows, unpack_rows
from linnaeus.errors import DataError, damaged
from linnaeus.frozen import dataclass
from linnaeus.similarities import describe, described
from linnaeus.types import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linnaeus.protocols import Rows, Similarity
    from linnaeus.types import Doubles

CELLS = 1 << 23
"""Similarities held in memory at a time."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """scores(x) = sum_i k(rows_i, x) duals_i + bias: rows (m, d) of the training data, duals (m, k), bias (k,).

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("kernel-svm").fit(texts, labels)
    >>> isinstance(model.model_.body, Expansion), model.predict(["good"]).tolist()
    (True, ['pos'])
    """

    kernel: Similarity
    rows: CSR | Dense
    duals: Doubles
    bias: Doubles

    @classmethod
    def of(cls, kernel: Similarity, rows: Any, duals: Doubles, bias: Doubles) -> Expansion:
        """Make a model without the rows whose coefficients are zero; at least one row is kept."""
        there = np.flatnonzero(duals.any(axis=1))
        there = there if len(there) else np.zeros(1, np.int64)
        if not (np.isfinite(duals).all() and np.isfinite(bias).all()):
            raise DataError("The dual coefficients are not finite; use a larger strength, or scale the features.")
        return cls(kernel, rows.take(there), np.ascontiguousarray(duals[there]), np.ascontiguousarray(bias))

    @property
    def keeps_rows(self) -> int:
        """The number of training rows in the model."""
        return len(self.rows)

    def scores(self, X: Rows) -> Doubles:
        """Scores (n, k); the scores of a row do not depend on the other rows, to the last bit."""
        out = np.empty((X.shape[0], self.duals.shape[1]))
        for start, K in compared(self.kernel, X, self.rows):
            out[start : start + len(K)] = Dense(K).dot(self.duals)
        out += self.bias
        return out

    def linear(self) -> tuple[Doubles, Doubles] | None:
        """W and b if the kernel is linear; else None."""
        found = self.kernel.weights(self.rows, self.duals)
        return None if found is None else (found[0], found[1] + self.bias)

    def state(self) -> State:
        """The kernel, the rows, the duals and the biases."""
        rows = pack_rows("rows", self.rows)
        manifest = {"kind": "expansion", "kernel": describe(self.kernel), **rows.manifest}
        return State(manifest, {**rows.tensors, "duals": self.duals, "bias": self.bias})

    @classmethod
    def from_state(cls, state: State) -> Expansion:
        """Restore the model from its stored state."""
        rows = unpack_rows("rows", state)
        duals, bias = numbers(state, "duals", 2), numbers(state, "bias", 1)
        if len(duals) != len(rows) or duals.shape[1:] != bias.shape:
            raise damaged("its dual coefficients do not match its rows")
        with np.errstate(over="ignore"):
            if not np.isfinite(np.abs(duals).sum(axis=0) + np.abs(bias)).all():
                raise damaged("its dual coefficients are so large that scores overflow")
        return cls(described(state.manifest.get("kernel")), rows, duals, bias)


def compared(kernel: Similarity, X: Rows, rows: Rows) -> Iterator[tuple[int, Doubles]]:
    """Similarities of the rows of X with the kept rows, in blocks: the first row, and the matrix."""
    step = max(1, CELLS // max(1, rows.shape[0]))
    for start in range(0, X.shape[0], step):
        part = X.rows_slice(start, start + step)
        yield start, np.ascontiguousarray(kernel.matrix(part, rows))


def numbers(state: State, name: str, ndim: int) -> Doubles:
    """A tensor of finite float64 numbers; others are refused."""
    found = state.tensors.get(name)
    if found is None or found.dtype != np.float64 or found.ndim != ndim or not np.isfinite(found).all():
        raise damaged(f"its array {name!r} is missing")
    return np.ascontiguousarray(found)
