"""Kernels of vectors: linear, polynomial and RBF."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.similarities.products import inner

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles

MOST_WEIGHTS = 1 << 22
"""Linear weights up to this size are always computed from the rows: 32 MB."""
STEEPEST = 32
"""The highest degree of a polynomial; beyond it, values of text features underflow or overflow."""


@dataclass(frozen=True)
class LinearKernel:
    """Linear kernel: k(x, z) = x . z.

    >>> from linnaeus.arrays import Dense
    >>> LinearKernel().matrix(Dense(np.array([[1.0, 2.0]])), Dense(np.array([[3.0, 4.0]]))).tolist()
    [[11.0]]
    """

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semidefinite."""
        return True

    def matrix(self, A: Rows, B: Rows) -> Doubles:
        """Inner products (n, m)."""
        return inner(A, B)

    def diagonal(self, A: Rows) -> Doubles:
        """Squared lengths (n,)."""
        return squares(A)

    def weights(self, rows: Rows, duals: Doubles) -> tuple[Doubles, Doubles] | None:
        """Weights W (d, k) and biases (k,) of sum_i k(x_i, x) duals_i; None if they are far larger than the rows."""
        return (rows.tdot(duals), np.zeros(duals.shape[1])) if is_worth(rows, duals) else None


@dataclass(frozen=True)
class Polynomial:
    """Polynomial kernel: k(x, z) = (scale x . z + shift)^degree, all conjunctions of up to `degree` features.

    It is scikit-learn's "poly" with gamma = scale and coef0 = shift. With a shift of zero only conjunctions of exactly
    `degree` features count. With a negative shift it is not a kernel, and learners refuse it.

    >>> from linnaeus.arrays import Dense
    >>> Polynomial(2).matrix(Dense(np.array([[1.0, 2.0]])), Dense(np.array([[3.0, 4.0]]))).tolist()
    [[144.0]]
    """

    degree: int = 2
    scale: float = 1.0
    shift: float = 1.0

    def __post_init__(self) -> None:
        expect("Polynomial(degree=...)", self.degree, int)
        expect("Polynomial(scale=...)", self.scale, float)
        expect("Polynomial(shift=...)", self.shift, float)
        if not 1 <= self.degree <= STEEPEST:
            raise UsageError(f"Polynomial(degree=...) must be between 1 and {STEEPEST}, not {self.degree}.")
        if not 0 < self.scale < np.inf or not np.isfinite(self.shift):
            raise UsageError("Polynomial(scale=..., shift=...) takes a scale above zero and a finite shift.")

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semidefinite: no coefficient of the powers is negative."""
        return self.shift >= 0

    def matrix(self, A: Rows, B: Rows) -> Doubles:
        """Powers of inner products (n, m)."""
        return self._power(inner(A, B))

    def diagonal(self, A: Rows) -> Doubles:
        """Each row with itself (n,)."""
        return self._power(squares(A))

    def weights(self, rows: Rows, duals: Doubles) -> tuple[Doubles, Doubles] | None:
        """Weights and biases if the degree is 1; else None."""
        if self.degree != 1 or not is_worth(rows, duals):
            return None
        return self.scale * rows.tdot(duals), self.shift * duals.sum(axis=0)

    def _power(self, products: Doubles) -> Doubles:
        products *= self.scale
        products += self.shift
        with np.errstate(over="ignore"):  # learners refuse values that are not finite
            powers: Doubles = products**self.degree
        return powers


@dataclass(frozen=True)
class RBF:
    """RBF kernel: k(x, z) = exp(-gamma |x - z|^2), a Gaussian of width 1/sqrt(2 gamma); 1 for equal rows.

    For rows of length 1, as tf-idf rows are, |x - z|^2 lies between 0 and 2 if no value is negative, so a gamma of
    about 1 is a good start. A large gamma behaves like 1-NN, a small one like the linear kernel.

    >>> from linnaeus.arrays import Dense
    >>> RBF(0.5).matrix(Dense(np.zeros((1, 2))), Dense(np.array([[0.0, 0.0], [1.0, 1.0]]))).round(4).tolist()
    [[1.0, 0.3679]]
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        expect("RBF(gamma=...)", self.gamma, float)
        if not 0 < self.gamma < np.inf:
            raise UsageError(f"RBF(gamma=...) must be a number above zero, not {self.gamma!r}.")

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semidefinite."""
        return True

    def matrix(self, A: Rows, B: Rows) -> Doubles:
        """Similarities (n, m)."""
        K = inner(A, B)
        K *= -2.0
        K += squares(A)[:, None]
        K += squares(B)[None, :]
        np.maximum(K, 0.0, out=K)
        K *= -self.gamma
        return np.exp(K, out=K)

    def diagonal(self, A: Rows) -> Doubles:
        """Ones (n,)."""
        return np.ones(A.shape[0])

    def weights(self, rows: Rows, duals: Doubles) -> None:
        """None: the feature space has infinitely many dimensions."""
        del rows, duals


def is_worth(rows: Rows, duals: Doubles) -> bool:
    """Whether linear weights take about as much memory as the rows; hashed rows have many columns."""
    stored = getattr(rows, "nnz", rows.shape[0] * rows.shape[1])
    return bool(rows.shape[1] * duals.shape[1] <= MOST_WEIGHTS + 8 * (int(stored) + duals.size))


def squares(A: Rows) -> Doubles:
    """The squared length of each row (n,)."""
    found: Doubles = A.squares()  # type: ignore[attr-defined]
    return found
