"""Encoders: what a network makes of the words of a text in their order, one row of numbers.

An encoder is a frozen dataclass with `shapes(columns)`, its weights, `size`, how many numbers it makes, and
`forward(ops, params, batch)`, which is written once for NumPy and PyTorch. A batch has `ids` (n, places), the columns
of the words, and `sizes` (n,), how many places count. Behind these anything may stand, without effect.

To add an encoder: a class here or in a file beside, and its row in `ENCODERS`; tests run over the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.networks.lookup import WordEncoder
from linnaeus.learners.networks.operations import ACTIVATIONS, Batch, Operations
from linnaeus.learners.networks.pooling import check_pool, pool_shapes, pooled

Shapes = dict[str, tuple[int, ...]]


def check_activation(name: str) -> None:
    """Refuse an activation that is not known."""
    if name not in ACTIVATIONS:
        raise UsageError(f"activation is one of {', '.join(ACTIVATIONS)}, not {name!r}.")


@dataclass(frozen=True, kw_only=True)
class Pooled(WordEncoder):
    """The vectors of the words, pooled: "mean", "sum", "max", "attention", or the first `length` of them side by side.

    >>> Pooled(width=10, pool="concat", length=3).size
    30
    """

    kind: ClassVar[str] = "pooled"

    pool: str = "mean"
    length: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pool(self.pool, ("mean", "sum", "max", "attention", "concat"))
        expect("length", self.length, int, 1, 1 << 16)

    @property
    def size(self) -> int:
        """The numbers of a text."""
        return self.entries * (self.length if self.pool == "concat" else 1)

    def shapes(self, columns: int) -> Shapes:
        """The tables, and the weights of the pool."""
        return {**self.tables(columns), **pool_shapes(self.pool, self.entries)}

    def forward(self, ops: Operations, params: Mapping[str, Any], batch: Batch) -> Any:
        """One row for each text."""
        x = self.look(ops, params, batch)
        if self.pool != "concat":
            return pooled(ops, params, x, batch["sizes"], (self.pool, "pool"))
        x = ops.pad(x, 0, max(0, self.length - x.shape[1]))[:, : self.length]
        return x.reshape(x.shape[0], self.size)


@dataclass(frozen=True, kw_only=True)
class Convolution(WordEncoder):
    """Filters over windows of words, and a pool over all windows: Kim's network for sentences.

    There are `filters` of each of the `widths`; windows begin every `stride` words, and reach over both ends of a text.

    Kim, "Convolutional neural networks for sentence classification", EMNLP 2014.

    >>> Convolution(widths=(3, 4, 5), filters=100).size
    300
    """

    kind: ClassVar[str] = "convolution"

    widths: tuple[int, ...] = (3, 4, 5)
    filters: int = 100
    stride: int = 1
    pool: str = "max"
    activation: str = "relu"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "widths", tuple(self.widths))
        if not self.widths or len(set(self.widths)) < len(self.widths):
            raise UsageError("widths takes at least one width of a filter, each once.")
        for width in self.widths:
            expect("widths", width, int, 1, 1000)
        expect("filters", self.filters, int, 1, 1 << 16)
        expect("stride", self.stride, int, 1, 1000)
        check_pool(self.pool)
        check_activation(self.activation)

    @property
    def size(self) -> int:
        """The numbers of a text: one for each filter."""
        return self.filters * len(self.widths)

    def shapes(self, columns: int) -> Shapes:
        """The tables, the filters of each width, and the weights of the pools."""
        found = self.tables(columns)
        for width in self.widths:
            found |= {f"filters{width}.W": (width * self.entries, self.filters), f"filters{width}.b": (self.filters,)}
            found |= pool_shapes(self.pool, self.filters, f"pool{width}")
        return found

    def forward(self, ops: Operations, params: Mapping[str, Any], batch: Batch) -> Any:
        """One row for each text."""
        x = self.look(ops, params, batch)
        found = []
        for width in self.widths:
            fired, counts = self.fired(ops, params, (x, batch["sizes"]), width)
            found.append(pooled(ops, params, fired, counts, (self.pool, f"pool{width}")))
        return ops.concat(found, 1)

    def fired(self, ops: Operations, params: Mapping[str, Any], words: tuple[Any, Any], width: int) -> tuple[Any, Any]:
        """What the filters of a width make of each window (n, windows, filters), and how many windows count (n,)."""
        x, sizes = words
        parts = ops.windows(ops.pad(x, width - 1, width - 1), width, self.stride)
        sums = ops.dot(parts, params[f"filters{width}.W"]) + params[f"filters{width}.b"]
        counts = (sizes.clip(1) + (width - 2)) // self.stride + 1
        return ACTIVATIONS[self.activation](ops, sums), counts
