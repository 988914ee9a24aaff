"""The model of perceptron, ridge and SVM: a sum of similarities to training rows."""

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
"""Similarities that are held at a time."""


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
        """The model without the rows that have no part in it; one is kept in any case."""
        there = np.flatnonzero(duals.any(axis=1))
        there = there if len(there) else np.zeros(1, np.int64)
        if not (np.isfinite(duals).all() and np.isfinite(bias).all()):
            raise DataError("The duals are not finite numbers; take a larger strength, or scale the features.")
        return cls(kernel, rows.take(there), np.ascontiguousarray(duals[there]), np.ascontiguousarray(bias))

    @property
    def keeps_rows(self) -> int:
        """How many rows of the training data it keeps."""
        return len(self.rows)

    def scores(self, X: Rows) -> Doubles:
        """Scores (n, k); each row's bits are its own, whatever stands beside it."""
        out = np.empty((X.shape[0], self.duals.shape[1]))
        for start, K in compared(self.kernel, X, self.rows):
            out[start : start + len(K)] = Dense(K).dot(self.duals)
        out += self.bias
        return out

    def linear(self) -> tuple[Doubles, Doubles] | None:
        """W and b where the kernel is linear."""
        found = self.kernel.weights(self.rows, self.duals)
        return None if found is None else (found[0], found[1] + self.bias)

    def state(self) -> State:
        """The kernel, the rows, the duals and the biases."""
        rows = pack_rows("rows", self.rows)
        manifest = {"kind": "expansion", "kernel": describe(self.kernel), **rows.manifest}
        return State(manifest, {**rows.tensors, "duals": self.duals, "bias": self.bias})

    @classmethod
    def from_state(cls, state: State) -> Expansion:
        """The model again."""
        rows = unpack_rows("rows", state)
        duals, bias = numbers(state, "duals", 2), numbers(state, "bias", 1)
        if len(duals) != len(rows) or duals.shape[1:] != bias.shape:
            raise damaged("its duals do not fit its rows")
        with np.errstate(over="ignore"):
            if not np.isfinite(np.abs(duals).sum(axis=0) + np.abs(bias)).all():
                raise damaged("its duals are too large for scores that are finite")
        return cls(described(state.manifest.get("kernel")), rows, duals, bias)


def compared(kernel: Similarity, X: Rows, rows: Rows) -> Iterator[tuple[int, Doubles]]:
    """Similarities of rows of X, some at a time, with the kept rows: where they start, and their matrix."""
    step = max(1, CELLS // max(1, rows.shape[0]))
    for start in range(0, X.shape[0], step):
        part = X.rows_slice(start, start + step)
        yield start, np.ascontiguousarray(kernel.matrix(part, rows))


def numbers(state: State, name: str, ndim: int) -> Doubles:
    """A tensor of finite float64 numbers; another is refused."""
    found = state.tensors.get(name)
    if found is None or found.dtype != np.float64 or found.ndim != ndim or not np.isfinite(found).all():
        raise damaged(f"it lacks the numbers {name!r}")
    return np.ascontiguousarray(found)
