"""What kernel methods share: targets, the kernel matrix of the training rows, and the model that is fitted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.arrays.numerics import single_blas
from linnaeus.arrays.stored_rows import pack_rows, unpack_rows
from linnaeus.errors import DataError, damaged, expect_within
from linnaeus.frozen import dataclass
from linnaeus.learners.base import RowLearner, indicators, tensors_of
from linnaeus.protocols import KeepsRows, PositiveSimilarity, Rows, Similarity, capability
from linnaeus.similarities import describe, described, similarity
from linnaeus.types import Doubles, LabelSets, Piece, State, Truth


class KernelLearner(RowLearner):
    """A learner on similarities; `kernel` is a similarity or its plain name, `strength` is above zero if it has one."""

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets")

    kernel: Piece

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", similarity(self.kernel))
        if self.tuned is not None:
            expect_within(f"{type(self).__name__}(strength=...)", vars(self)[self.tuned], float, "(0, inf)")


def signs(y: Truth, k: int) -> Doubles:
    """+1 where a row has the class or label, else -1 (n, k).

    >>> signs(np.array([0, 2]), 3).tolist()
    [[1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    return 2.0 * indicators(y, k) - 1.0


def heads(y: Truth, k: int) -> Doubles:
    """The binary problems (n, h): one for each class or label; for two classes only that of the second class."""
    found = signs(y, k)
    return found[:, 1:] if is_pair(y, k) else found


def is_pair(y: Truth, k: int) -> bool:
    """Whether there are two classes, and so one binary problem."""
    return k == 2 and not isinstance(y, LabelSets)


def opposed(duals: Doubles) -> Doubles:
    """Turn one column into two, minus and plus one half of it, so that their difference is the column.

    >>> opposed(np.array([[3.0]])).tolist()
    [[-1.5, 1.5]]
    """
    return np.concatenate([-duals / 2, duals / 2], axis=-1)


MOST = 20_000
"""Most rows of a kernel matrix: 3 GB."""
SMALL = 1e-8
"""Tolerance for rounding in the test for positive semidefinite matrices, as a share of the largest entry."""
SHOWN = 2_000
"""Most rows for which the error message shows the smallest eigenvalue."""


def gram(kernel: Similarity, X: Rows) -> Doubles:
    """k(x_i, x_j) of all rows (n, n): finite and positive semidefinite (tested unless the kernel guarantees it).

    >>> from linnaeus.arrays import Dense
    >>> from linnaeus.similarities import RBF
    >>> gram(RBF(0.5), Dense(np.eye(2))).round(3).tolist()
    [[1.0, 0.368], [0.368, 1.0]]
    """
    n = X.shape[0]
    if n > MOST:
        raise DataError(
            f"A kernel matrix of {n:,} rows takes {8 * n * n / 1e9:.0f} GB, and {MOST:,} rows are the most; use the "
            "features Nystrom(...) or Fourier(...) with a linear learner."
        )
    K = np.ascontiguousarray(kernel.matrix(X, X), np.float64)
    if not np.isfinite(K).all():
        raise DataError("The kernel of some rows is not a finite number; use another kernel, or scale the features.")
    if not is_positive(kernel):
        refuse_indefinite(K, type(kernel).__name__)
    return K


def is_positive(kernel: Similarity) -> bool:
    """Whether a kernel guarantees that its matrices are positive semidefinite."""
    known = capability(kernel, PositiveSimilarity)
    return known is not None and known.positive


def refuse_indefinite(K: Doubles, name: str) -> None:
    """Refuse a matrix that is not symmetric and positive semidefinite."""
    from scipy.linalg import LinAlgError, cholesky

    largest = max(float(np.abs(K).max(initial=0.0)), 1e-300)
    if np.abs(K - K.T).max(initial=0.0) > SMALL * largest:
        raise DataError(f"The kernel matrix of {name} is not symmetric: k(x, z) is not k(z, x); correct the kernel.")
    try:
        with single_blas():
            cholesky(K + SMALL * largest * np.eye(len(K)), lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise indefinite(K, name) from None


def indefinite(K: Doubles, name: str) -> DataError:
    """The error for a matrix that is not positive semidefinite."""
    least = f" (its smallest eigenvalue is {np.linalg.eigvalsh(K)[0]:.3g})" if len(K) <= SHOWN else ""
    return DataError(
        f"The kernel matrix of {name} is not positive semidefinite{least}; use a kernel such as LinearKernel, RBF, or "
        "Polynomial with a shift of at least zero."
    )


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
    provides: ClassVar[tuple[type, ...]] = (KeepsRows,)

    @classmethod
    def of(cls, kernel: Similarity, rows: CSR | Dense, duals: Doubles, bias: Doubles) -> Expansion:
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
        duals, bias = tensors_of(state, "dual coefficients", {"duals": "mk", "bias": "k"})
        if len(duals) != len(rows):
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
