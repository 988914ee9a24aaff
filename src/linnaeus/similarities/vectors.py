"""Kernels of vectors: linear, polynomial and RBF, by inner products of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from linnaeus import kernels
from linnaeus.errors import DataError, UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.protocols import PositiveSimilarity, Rows, SparseRows, capability
from linnaeus.types import Doubles, Ints, Sparse, offsets_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from linnaeus.arrays import CSR, Dense


CELLS = 1 << 22
"""Numbers in one block of unpacked rows and products."""
SPARSE = 1 << 16
"""Rows with up to this many columns may be unpacked completely; wider rows only if they are dense enough."""
FEW = 32
"""Up to this many sparse rows are unpacked; for more, SciPy is loaded, which uses only shared columns."""


def inner(A: Rows, B: Rows) -> Doubles:
    """A B'  (n, m); sums run over the columns in order, so the result does not depend on the blocks.

    >>> from linnaeus.arrays import Dense
    >>> inner(Dense(np.array([[1.0, 2.0]])), Dense(np.eye(2))).tolist()
    [[1.0, 2.0]]
    """
    if A.shape[1] != B.shape[1]:
        raise DataError(f"Rows of {A.shape[1]} features do not match rows of {B.shape[1]}; use the same features.")
    if A.shape[0] < B.shape[0]:
        return np.ascontiguousarray(inner(B, A).T)
    a, b = capability(A, SparseRows), capability(B, SparseRows)
    if a is not None and b is not None:
        return inner_sparse(a.arrays, b.arrays, A.shape[1])
    out = np.empty((A.shape[0], B.shape[0]))
    for start, stop in _cuts(B.shape[0], A.shape[1]):
        out[:, start:stop] = A.dot(_unpacked(B.rows_slice(start, stop)))
    return out


def inner_sparse(a: Sparse, b: Sparse, width: int) -> Doubles:
    """Inner products of rows given as offsets, columns and values; `b` has at most as many rows as `a`."""
    n, m = len(a[0]) - 1, len(b[0]) - 1
    if width > SPARSE + 4 * int(a[0][-1] - a[0][0] + b[0][-1] - b[0][0]):
        a, b, width = _shared(a, b)
    if m > FEW:
        return _by_scipy(a, b, width)
    out = np.empty((n, m))
    for start, stop in _cuts(m, width):
        part = np.empty((n, stop - start))
        kernels.rows_dot(a, _columns(b, (start, stop), width), part, kernels.thread_count())
        out[:, start:stop] = part
    return out


def _shared(a: Sparse, b: Sparse) -> tuple[Sparse, Sparse, int]:
    """The rows restricted to the columns of `b`; the others do not change a product."""
    columns = np.unique(b[1][int(b[0][0]) : int(b[0][-1])])
    return _only(a, columns), _only(b, columns), len(columns)


def _only(rows: Sparse, columns: Ints) -> Sparse:
    offsets, indices, values = rows
    first, last = int(offsets[0]), int(offsets[-1])
    places = np.searchsorted(columns, indices[first:last])
    there = places < len(columns)
    there[there] = columns[places[there]] == indices[first:last][there]
    return offsets_of(there)[offsets - first], places[there].astype(np.int32), values[first:last][there]


def _by_scipy(a: Sparse, b: Sparse, width: int) -> Doubles:
    from scipy.sparse import csr_matrix

    def matrix(rows: Sparse) -> csr_matrix:
        offsets, columns, values = rows
        first, last = int(offsets[0]), int(offsets[-1])
        parts = values[first:last].astype(np.float64), columns[first:last], offsets - first
        return csr_matrix(parts, shape=(len(offsets) - 1, width))

    left, right = matrix(a), matrix(b).T.tocsr()
    out = np.empty((left.shape[0], right.shape[1]))
    for start, stop in _cuts(left.shape[0], right.shape[1]):
        (left[start:stop] @ right).toarray(out=out[start:stop])
    return out


def _cuts(rows: int, width: int) -> list[tuple[int, int]]:
    step = max(1, CELLS // max(1, width))
    return [(start, min(rows, start + step)) for start in range(0, rows, step)]


def _unpacked(X: Rows) -> Doubles:
    """The rows as columns (d, m), with their zeros."""
    sparse = capability(X, SparseRows)
    if sparse is None:
        return np.ascontiguousarray(cast("Dense", X).values.T, np.float64)
    return _columns(sparse.arrays, (0, X.shape[0]), X.shape[1])


def _columns(rows: Sparse, part: tuple[int, int], width: int) -> Doubles:
    offsets, columns, values = rows
    first, last = int(offsets[part[0]]), int(offsets[part[1]])
    out = np.zeros((width, part[1] - part[0]))
    row = np.repeat(np.arange(out.shape[1]), np.diff(offsets[part[0] : part[1] + 1]))
    out[columns[first:last], row] = values[first:last]
    return out


MOST_WEIGHTS = 1 << 22
"""Linear weights up to this size are always computed from the rows: 32 MB."""
STEEPEST = 32
"""The highest degree of a polynomial; beyond it, values of text features underflow or overflow."""


class PositiveKernel:
    """Base class: every kernel matrix is positive semidefinite, and there are no linear weights unless it says so."""

    provides: ClassVar[tuple[type, ...]] = (PositiveSimilarity,)

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semidefinite."""
        return True

    def weights(self, rows: Rows, duals: Doubles) -> tuple[Doubles, Doubles] | None:
        """None: there are no linear weights."""
        return None


@dataclass(frozen=True)
class LinearKernel(PositiveKernel):
    """Linear kernel: k(x, z) = x . z.

    >>> from linnaeus.arrays import Dense
    >>> LinearKernel().matrix(Dense(np.array([[1.0, 2.0]])), Dense(np.array([[3.0, 4.0]]))).tolist()
    [[11.0]]
    """

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
class Polynomial(PositiveKernel):
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
        expect("Polynomial(degree=...)", self.degree, int, 1, STEEPEST)
        expect("Polynomial(scale=...)", self.scale, float)
        expect("Polynomial(shift=...)", self.shift, float)
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
class RBF(PositiveKernel):
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


def is_worth(rows: Rows, duals: Doubles) -> bool:
    """Whether linear weights take about as much memory as the rows; hashed rows have many columns."""
    sparse = capability(rows, SparseRows)
    stored = rows.shape[0] * rows.shape[1] if sparse is None else sparse.nnz
    return bool(rows.shape[1] * duals.shape[1] <= MOST_WEIGHTS + 8 * (stored + duals.size))


def squares(A: Rows) -> Doubles:
    """The squared length of each row (n,)."""
    return cast("CSR | Dense", A).squares()
