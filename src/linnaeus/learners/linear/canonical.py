"""The same problem in a better form, where the solver is ours to choose.

*Canonical*: equal examples become one with the sum of their weights, in a fixed order. The objective is a sum over
examples, so it is the same function; but now repeating an example and giving it twice the weight, shuffling the rows,
or leaving out zeros, give the same problem to the last bit, and so the same model. Above `SMALL` entries sorting whole
rows would cost more than it is worth.

*Centered*: with a free bias, x W + b = (x - m) W + (b + m W), and the penalty does not see b: columns may be moved to
mean zero. Columns far from zero, like years or prices, would make every solver crawl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays import CSR, Dense
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Longs

SMALL = 1 << 15
"""Rows plus stored values up to which a problem is brought into its canonical form."""

DENSE = 1 << 22
"""Numbers of a dense matrix up to which a centered copy is made: 32 MB."""


def canonical(rows: CSR | Dense, y: Any, weights: Doubles) -> tuple[Longs, Doubles]:
    """The rows to keep, in order, and what each counts; equal examples are kept once.

    >>> from linnaeus.arrays import as_rows
    >>> X, y = as_rows([[1.0], [2.0], [1.0]]), np.array([0, 1, 0])
    >>> [part.tolist() for part in canonical(X, y, np.ones(3))]
    [[1, 0], [1.0, 2.0]]
    """
    X = rows if isinstance(rows, CSR) else rows.to_csr()
    first: dict[bytes, int] = {}
    totals: dict[bytes, float] = {}
    for i in range(len(X)):
        key = _row(X, i) + _truth(y, i)
        first.setdefault(key, i)
        totals[key] = totals.get(key, 0.0) + float(weights[i])
    order = sorted(first)
    return np.array([first[key] for key in order], np.int64), np.array([totals[key] for key in order])


def centered(rows: CSR | Dense, weights: Doubles) -> tuple[Dense, Doubles] | None:
    """The rows minus their mean, and that mean; None for what is sparse or too large to copy.

    >>> from linnaeus.arrays import as_rows
    >>> X, mean = centered(as_rows([[1.0], [3.0]]), np.ones(2))
    >>> X.values.tolist(), mean.tolist()
    ([[-1.0], [1.0]], [2.0])
    """
    n, d = rows.shape
    if n * d > (SMALL if isinstance(rows, CSR) else DENSE):
        return None
    values = rows.to_scipy().toarray() if isinstance(rows, CSR) else rows.values
    mean: Doubles = rows.tdot(weights) / weights.sum()
    return Dense(values - mean), mean


def small(rows: CSR | Dense) -> bool:
    """Whether the matrix is worth it."""
    n, d = rows.shape
    return (rows.nnz if isinstance(rows, CSR) else n * d) + n <= SMALL


def _row(X: CSR, i: int) -> bytes:
    """The bytes of a row without its zeros, after their number."""
    at = slice(int(X.indptr[i]), int(X.indptr[i + 1]))
    full = X.data[at] != 0
    columns, values = X.indices[at][full], X.data[at][full].astype(np.float64)
    return b"".join((len(columns).to_bytes(8, "big"), columns.tobytes(), values.tobytes()))


def _truth(y: Any, i: int) -> bytes:
    found = y.labels[y.offsets[i] : y.offsets[i + 1]] if isinstance(y, LabelSets) else np.asarray(y[i])
    return bytes(found.tobytes())
