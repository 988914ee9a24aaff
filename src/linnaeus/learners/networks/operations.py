"""The array operations that networks are written in, by NumPy: for predictions, which need no PyTorch.

A network's forward pass is written once, with the functions of such a class and with `+`, `-`, `*` and `/`.
`neural.operations` has the same functions for PyTorch, for training. Arrays have a row for each example first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from linnaeus import kernels
from linnaeus.arrays.csr import CSR
from linnaeus.types import Array

Operations: TypeAlias = Any
"""`NumPyOperations`, or the same functions for PyTorch."""

Batch: TypeAlias = Mapping[str, Any]
"""The inputs of some examples by name, such as `ids` and `sizes`."""

CURVE = 0.7978845608028654
"""sqrt(2 / pi), of the approximation of GELU by tanh."""


class NumPyOperations:
    """The operations in NumPy. They leave nothing out at random.

    >>> ops = NumPyOperations()
    >>> ops.windows(np.arange(4.0).reshape(1, 4, 1), 2, 1).tolist()
    [[[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]]
    """

    def take(self, table: Array, ids: Array) -> Array:
        """The rows of a table at these numbers (..., width)."""
        return table[ids]

    def one_hot(self, ids: Array, table: Array) -> Array:
        """Indicators of these numbers (..., rows of the table)."""
        return (ids[..., None] == np.arange(len(table))).astype(table.dtype)

    def bag(self, table: Array, batch: Batch) -> Array:
        """Sums of rows of a table, times the values of sparse rows (n, width)."""
        X = CSR(batch["offsets"], batch["ids"].astype(np.int32), batch["values"], len(table))
        return X.dot(table).astype(table.dtype)

    def dot(self, x: Array, W: Array) -> Array:
        """The product of the last axis and a matrix; a row has the same bits beside any others."""
        rows = np.ascontiguousarray(x.reshape(-1, x.shape[-1]))
        out = np.empty((len(rows), W.shape[1]), rows.dtype)
        kernels.dense_dot(rows, W.astype(rows.dtype, order="C", copy=False), out, kernels.thread_count())
        return out.reshape(*x.shape[:-1], W.shape[1])

    def matmul(self, a: Array, b: Array) -> Array:
        """The products of the matrices of each example."""
        return np.matmul(a, b)

    def concat(self, parts: Sequence[Array], axis: int) -> Array:
        """Arrays one after the other, or side by side."""
        return np.concatenate(parts, axis=axis)

    def stack(self, parts: Sequence[Array]) -> Array:
        """The parts (n, width) as places of a sequence (n, parts, width)."""
        return np.stack(parts, axis=1)

    def pad(self, x: Array, before: int, after: int) -> Array:
        """Zeros before the first place and behind the last one (n, before + places + after, width)."""
        return np.pad(x, ((0, 0), (before, after), (0, 0)))

    def windows(self, x: Array, width: int, stride: int) -> Array:
        """Each window of neighboring places as one row (n, windows, width * columns)."""
        count = (x.shape[1] - width) // stride + 1
        return np.concatenate([x[:, j : j + (count - 1) * stride + 1 : stride] for j in range(width)], axis=2)

    def below(self, count: int, limits: Array) -> Array:
        """Whether each of so many places is below the limit of its example (n, count)."""
        return np.arange(count) < limits[:, None]

    def where(self, mask: Array, x: Array, value: float) -> Array:
        """The numbers where the mask is true, elsewhere the value."""
        return np.where(mask, x, x.dtype.type(value))

    def numbers(self, mask: Array, like: Array) -> Array:
        """A mask, or any array, as numbers of the type of another."""
        return np.asarray(mask).astype(like.dtype)

    def sum(self, x: Array, axis: int) -> Array:
        """Sums along an axis, which stays."""
        return x.sum(axis=axis, keepdims=True)

    def highest(self, x: Array, axis: int) -> Array:
        """The largest numbers along an axis, which goes."""
        return x.max(axis=axis)

    def top(self, x: Array, k: int) -> Array:
        """The k largest numbers of each column, in the order of their places (n, k, width)."""
        order = np.sort(np.argsort(-x, axis=1, kind="stable")[:, :k], axis=1)
        return np.take_along_axis(x, order, axis=1)

    def softmax(self, x: Array) -> Array:
        """The softmax along the last axis."""
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    def root(self, x: Array) -> Array:
        """Square roots."""
        return np.sqrt(x)

    def swap(self, x: Array, a: int, b: int) -> Array:
        """Two axes exchanged."""
        return np.swapaxes(x, a, b)

    def drop(self, x: Array) -> Array:
        """The numbers as they are: nothing is dropped from predictions."""
        return x

    def relu(self, x: Array) -> Array:
        """max(0, x)."""
        return np.maximum(x, 0)

    def tanh(self, x: Array) -> Array:
        """The hyperbolic tangent."""
        return np.tanh(x)

    def sigmoid(self, x: Array) -> Array:
        """1 / (1 + e^-x)."""
        return 0.5 * (1 + np.tanh(0.5 * x))

    def gelu(self, x: Array) -> Array:
        """Half of x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))."""
        return 0.5 * x * (1 + np.tanh(CURVE * (x + 0.044715 * x * x * x)))


NUMPY = NumPyOperations()

ACTIVATIONS: dict[str, Callable[[Operations, Any], Any]] = {
    "relu": lambda ops, x: ops.relu(x),
    "tanh": lambda ops, x: ops.tanh(x),
    "sigmoid": lambda ops, x: ops.sigmoid(x),
    "gelu": lambda ops, x: ops.gelu(x),
}
"""What is applied to the sums of a hidden layer, by name."""
