"""A bidirectional recurrent network with gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from linnaeus.errors import expect
from linnaeus.frozen import dataclass
from linnaeus.learners.networks.encoders import Shapes
from linnaeus.learners.networks.lookup import WordEncoder
from linnaeus.learners.networks.operations import Batch, Operations
from linnaeus.learners.networks.pooling import check_pool, pool_shapes, pooled

SIDES = ("forward", "backward")


@dataclass(frozen=True, kw_only=True)
class Recurrent(WordEncoder):
    """Gated recurrent units (GRU) from left to right and from right to left, and a pool over the places.

        r, z = sigmoid(x W + h U + b),    h' = tanh(x W + r (h U) + b),    h = (1 - z) h' + z h

    Cho et al., "Learning phrase representations using RNN encoder-decoder", EMNLP 2014.

    >>> Recurrent(units=50).size
    100
    """

    kind: ClassVar[str] = "recurrent"

    units: int = 100
    pool: str = "max"

    def __post_init__(self) -> None:
        super().__post_init__()
        expect("units", self.units, int, 1, 1 << 16)
        check_pool(self.pool)

    @property
    def size(self) -> int:
        """The units of both directions."""
        return 2 * self.units

    def shapes(self, columns: int) -> Shapes:
        """The tables, the weights of both directions, and the pool."""
        found = self.tables(columns)
        for side in SIDES:
            found |= {f"{side}.W": (self.entries, 3 * self.units), f"{side}.U": (self.units, 3 * self.units)}
            found |= {f"{side}.b": (3 * self.units,)}
        return found | pool_shapes(self.pool, self.size)

    def forward(self, ops: Operations, params: Mapping[str, Any], batch: Batch) -> Any:
        """One row for each text."""
        h = self.places(ops, params, batch)
        return pooled(ops, params, h, batch["sizes"], (self.pool, "pool"))

    def places(self, ops: Operations, params: Mapping[str, Any], batch: Batch) -> Any:
        """The units of both directions at each place (n, places, 2 units)."""
        x = self.look(ops, params, batch)
        there = ops.numbers(ops.below(x.shape[1], batch["sizes"]), x)[:, :, None]
        return ops.concat([self._side(ops, params, (x, there), side) for side in SIDES], 2)

    def _side(self, ops: Operations, params: Mapping[str, Any], words: tuple[Any, Any], side: str) -> Any:
        """The units of one direction; behind the end of a text they stay as they are."""
        (x, there), k = words, self.units
        inputs = ops.dot(x, params[f"{side}.W"]) + params[f"{side}.b"]
        h = inputs[:, 0, :k] * 0
        found = []
        steps = range(x.shape[1])
        for t in steps if side == "forward" else reversed(steps):
            own, kept = ops.dot(h, params[f"{side}.U"]), there[:, t]
            gates = ops.sigmoid(inputs[:, t, : 2 * k] + own[:, : 2 * k])
            new = ops.tanh(inputs[:, t, 2 * k :] + gates[:, :k] * own[:, 2 * k :])
            next_ = new + gates[:, k:] * (h - new)
            h = h + kept * (next_ - h)
            found.append(h)
        return ops.stack(found if side == "forward" else found[::-1])
