"""A deep convolutional network: layers of filters one above the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.networks.encoders import Shapes, check_activation
from linnaeus.learners.networks.lookup import WordEncoder
from linnaeus.learners.networks.operations import ACTIVATIONS, Batch, Operations
from linnaeus.learners.networks.pooling import LOWEST, POOLS, check_pool, pool_shapes, pooled


@dataclass(frozen=True, kw_only=True)
class DeepConvolution(WordEncoder):
    """`layers` of filters over windows of `width` places, each added to what is below it, and a pool on top.

        h_0 = V x + c,    h_l = h_{l-1} + f(W_l windows(h_{l-1}) + b_l)

    With `stride` above 1 every layer but the first keeps only each stride-th place. The pool "kmax" takes the `k`
    largest numbers of each filter, in the order of their places (Kalchbrenner, Grefenstette and Blunsom 2014).

    >>> DeepConvolution(filters=50, pool="kmax", k=3).size
    150
    """

    kind: ClassVar[str] = "deep_convolution"

    layers: int = 3
    filters: int = 100
    span: int = 3
    stride: int = 1
    pool: str = "max"
    k: int = 3
    activation: str = "relu"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, most in (("layers", 100), ("filters", 1 << 16), ("span", 1001), ("stride", 1000), ("k", 1000)):
            expect(name, getattr(self, name), int, 1, most)
        if self.span % 2 == 0:
            raise UsageError(f"span is an odd number of places, so that each window has a middle, not {self.span}.")
        check_pool(self.pool, (*POOLS, "kmax"))
        check_activation(self.activation)

    @property
    def size(self) -> int:
        """The numbers of a text."""
        return self.filters * (self.k if self.pool == "kmax" else 1)

    def shapes(self, columns: int) -> Shapes:
        """The tables, the first map to filters, the layers, and the pool."""
        found = self.tables(columns) | {"first.W": (self.entries, self.filters), "first.b": (self.filters,)}
        for number in range(1, self.layers + 1):
            found[f"layer{number}.W"] = (self.span * self.filters, self.filters)
            found[f"layer{number}.b"] = (self.filters,)
        return found | pool_shapes(self.pool, self.filters)

    def forward(self, ops: Operations, params: Mapping[str, Any], batch: Batch) -> Any:
        """One row for each text."""
        sizes = batch["sizes"]
        h = _kept(ops, ops.dot(self.look(ops, params, batch), params["first.W"]) + params["first.b"], sizes)
        for number in range(1, self.layers + 1):
            stride = self.stride if number > 1 else 1
            windows = ops.windows(ops.pad(h, self.span // 2, self.span // 2), self.span, stride)
            sums = ops.dot(windows, params[f"layer{number}.W"]) + params[f"layer{number}.b"]
            sizes = (sizes + (stride - 1)) // stride
            h = _kept(ops, h[:, ::stride] + ACTIVATIONS[self.activation](ops, sums), sizes)
        if self.pool != "kmax":
            return pooled(ops, params, h, sizes, (self.pool, "pool"))
        return self._largest(ops, h, sizes)

    def _largest(self, ops: Operations, h: Any, sizes: Any) -> Any:
        """The k largest of each filter; zeros where there are fewer places."""
        h = ops.pad(h, 0, max(0, self.k - h.shape[1]))
        there = ops.below(h.shape[1], sizes)[:, :, None]
        found = ops.top(ops.where(there, h, LOWEST), self.k)
        found = ops.where(found > LOWEST / 2, found, 0.0)
        return found.reshape(found.shape[0], self.size)


def _kept(ops: Operations, x: Any, sizes: Any) -> Any:
    """Zeros at places that do not count, as behind the end of a text."""
    return ops.where(ops.below(x.shape[1], sizes)[:, :, None], x, 0.0)
