"""A small encoder of self-attention: every word looks at every other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.networks.encoders import Shapes
from linnaeus.learners.networks.lookup import WordEncoder
from linnaeus.learners.networks.operations import ACTIVATIONS, Batch, Operations
from linnaeus.learners.networks.pooling import LOWEST, check_pool, pool_shapes, pooled
from linnaeus.types import Floats

EPSILON = 1e-5


@dataclass(frozen=True, kw_only=True)
class Attention(WordEncoder):
    """`layers` of attention with several `heads` and of two dense maps, over word vectors with their positions.

        softmax(q k' / sqrt(units / heads)) v    in each head, of inputs that are scaled to mean 0 and deviation 1

    Positions are waves, so texts may have any length. Vaswani et al., "Attention is all you need", 2017.

    >>> Attention(units=64, heads=4).size
    64
    """

    kind: ClassVar[str] = "attention"

    layers: int = 1
    units: int = 64
    heads: int = 4
    inner: int = 128
    pool: str = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, most in (("layers", 100), ("units", 1 << 14), ("heads", 1 << 10), ("inner", 1 << 16)):
            expect(name, getattr(self, name), int, 1, most)
        if self.units % self.heads or self.units % 2:
            raise UsageError(f"units must be even and a multiple of heads, not {self.units} for {self.heads} heads.")
        check_pool(self.pool)

    @property
    def size(self) -> int:
        """The units."""
        return self.units

    def shapes(self, columns: int) -> Shapes:
        """The tables, the first map to units, the layers, and the pool."""
        k, found = self.units, self.tables(columns)
        found |= {"first.W": (self.entries, k), "first.b": (k,)}
        for number in range(1, self.layers + 1):
            at = f"layer{number}"
            found |= {f"{at}.in.gain": (k,), f"{at}.in.b": (k,), f"{at}.qkv.W": (k, 3 * k), f"{at}.qkv.b": (3 * k,)}
            found |= {f"{at}.heads.W": (k, k), f"{at}.heads.b": (k,), f"{at}.mid.gain": (k,), f"{at}.mid.b": (k,)}
            found |= {f"{at}.up.W": (k, self.inner), f"{at}.up.b": (self.inner,)}
            found |= {f"{at}.down.W": (self.inner, k), f"{at}.down.b": (k,)}
        return found | {"last.gain": (k,), "last.b": (k,)} | pool_shapes(self.pool, k)

    def forward(self, ops: Operations, params: Mapping[str, Any], batch: Batch) -> Any:
        """One row for each text."""
        x = ops.dot(self.look(ops, params, batch), params["first.W"]) + params["first.b"]
        h = x + ops.numbers(waves(x.shape[1], self.units), x)
        there = ops.below(x.shape[1], batch["sizes"])[:, None, None, :]
        for number in range(1, self.layers + 1):
            at = f"layer{number}"
            h = h + ops.drop(self.attended(ops, params, _scaled(ops, params, h, f"{at}.in"), (at, there)))
            up = ops.dot(_scaled(ops, params, h, f"{at}.mid"), params[f"{at}.up.W"]) + params[f"{at}.up.b"]
            h = h + ops.drop(ops.dot(ACTIVATIONS["gelu"](ops, up), params[f"{at}.down.W"]) + params[f"{at}.down.b"])
        return pooled(ops, params, _scaled(ops, params, h, "last"), batch["sizes"], (self.pool, "pool"))

    def attended(self, ops: Operations, params: Mapping[str, Any], x: Any, layer: tuple[str, Any]) -> Any:
        """What each place takes from the places of its text (n, places, units)."""
        at, there = layer
        n, m, k, each = x.shape[0], x.shape[1], self.units, self.units // self.heads
        qkv = ops.dot(x, params[f"{at}.qkv.W"]) + params[f"{at}.qkv.b"]
        parts = [qkv[:, :, i * k : (i + 1) * k].reshape(n, m, self.heads, each) for i in range(3)]
        q, key, v = (ops.swap(part, 1, 2) for part in parts)
        scores = ops.matmul(q, ops.swap(key, 2, 3)) * (each**-0.5)
        shares = ops.softmax(ops.where(there, scores, LOWEST))
        found = ops.swap(ops.matmul(shares, v), 1, 2).reshape(n, m, k)
        return ops.dot(found, params[f"{at}.heads.W"]) + params[f"{at}.heads.b"]


def waves(places: int, units: int) -> Floats:
    """The positions (places, units): sines and cosines of several wavelengths.

    >>> waves(2, 2).round(3).tolist()
    [[0.0, 1.0], [0.8410000205039978, 0.5400000214576721]]
    """
    rates = 10000.0 ** (-np.arange(0, units, 2) / units)
    angles = np.arange(places)[:, None] * rates
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def _scaled(ops: Operations, params: Mapping[str, Any], x: Any, name: str) -> Any:
    """Each place scaled to mean 0 and deviation 1, then by learned gains."""
    middle = x - ops.sum(x, 2) * (1.0 / x.shape[2])
    size = ops.root(ops.sum(middle * middle, 2) * (1.0 / x.shape[2]) + EPSILON)
    return middle / size * params[f"{name}.gain"] + params[f"{name}.b"]
