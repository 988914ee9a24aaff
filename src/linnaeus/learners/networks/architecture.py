"""A whole network: an encoder, hidden layers, and the linear classifier on top; its weights and its forward pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from linnaeus.errors import damaged, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.networks.encoders import check_activation
from linnaeus.learners.networks.operations import ACTIVATIONS, Batch, Operations
from linnaeus.types import Floats, Json

Weights: TypeAlias = dict[str, Floats]

MAX_UNITS = 1 << 20
TABLE = "rows.W"
"""The weights of the first layer of a network on rows: one row for each column of the features."""


class Encoder(Protocol):
    """What makes one row of numbers of each example."""

    kind: ClassVar[str]

    @property
    def size(self) -> int:
        """How many numbers."""

    def shapes(self, columns: int) -> dict[str, tuple[int, ...]]:
        """The shapes of its weights by name."""

    def forward(self, ops: Operations, params: Mapping[str, Any], batch: Batch) -> Any:
        """The numbers of each example (n, size)."""

    def manifest(self) -> dict[str, Json]:
        """Kind and fields as plain data."""


@dataclass(frozen=True)
class RowLayer:
    """The first hidden layer of a network on rows: a product that reads only the columns that a row has.

    A batch has `offsets`, `ids` and `values` of sparse rows.
    """

    kind: ClassVar[str] = "rows"

    size: int
    activation: str = "relu"

    def __post_init__(self) -> None:
        expect("size", self.size, int, 1, MAX_UNITS)
        check_activation(self.activation)

    def shapes(self, columns: int) -> dict[str, tuple[int, ...]]:
        """The weights of each column, and the bias."""
        return {TABLE: (columns, self.size), "rows.b": (self.size,)}

    def forward(self, ops: Operations, params: Mapping[str, Any], batch: Batch) -> Any:
        """The units of each row (n, size)."""
        return ACTIVATIONS[self.activation](ops, ops.bag(params[TABLE], batch) + params["rows.b"])

    def manifest(self) -> dict[str, Json]:
        """Kind and fields as plain data."""
        return {"kind": self.kind, "size": self.size, "activation": self.activation}


@dataclass(frozen=True)
class Architecture:
    """An encoder of rows with `columns` columns, hidden layers of these sizes, and `outputs` scores.

    >>> Architecture(RowLayer(8), (4,), "relu", columns=100, outputs=3).shapes()["hidden1.W"]
    (8, 4)
    """

    encoder: Any
    hidden: tuple[int, ...]
    activation: str
    columns: int
    outputs: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))
        for size in self.hidden:
            expect("hidden", size, int, 1, MAX_UNITS)
        check_activation(self.activation)
        expect("columns", self.columns, int, 0, 1 << 31)
        expect("outputs", self.outputs, int, 1, 1 << 31)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of all weights by name."""
        found, size = dict(self.encoder.shapes(self.columns)), self.encoder.size
        for number, units in enumerate(self.hidden, 1):
            found |= {f"hidden{number}.W": (size, units), f"hidden{number}.b": (units,)}
            size = units
        return found | {"out.W": (size, self.outputs), "out.b": (self.outputs,)}

    def forward(self, ops: Operations, params: Mapping[str, Any], batch: Batch) -> Any:
        """The scores (n, outputs)."""
        h = ops.drop(self.encoder.forward(ops, params, batch))
        for number in range(1, len(self.hidden) + 1):
            sums = ops.dot(h, params[f"hidden{number}.W"]) + params[f"hidden{number}.b"]
            h = ops.drop(ACTIVATIONS[self.activation](ops, sums))
        return ops.dot(h, params["out.W"]) + params["out.b"]

    def manifest(self) -> dict[str, Json]:
        """The network as plain data."""
        told = {"hidden": list(self.hidden), "activation": self.activation}
        return {"encoder": self.encoder.manifest(), **told, "columns": self.columns, "outputs": self.outputs}

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Json]) -> Architecture:
        """The network of a model file; what it may not have is refused."""
        from linnaeus.learners.networks import ENCODERS

        inside = dict(manifest["encoder"])
        kind = inside.pop("kind")
        if kind != RowLayer.kind and kind not in ENCODERS:
            raise damaged(f"its network has an unknown encoder {kind!r}")
        for name in ("widths",):
            if name in inside:
                inside[name] = tuple(inside[name])
        encoder = (RowLayer if kind == RowLayer.kind else ENCODERS[kind])(**inside)
        rest = (manifest["hidden"], manifest["activation"], manifest["columns"], manifest["outputs"])
        return cls(encoder, *rest)


def drawn_weights(shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator) -> Weights:
    """Weights at the start: uniform by the sizes of both layers (Glorot and Bengio 2010), gains 1, biases 0."""
    found: Weights = {}
    for name, shape in shapes.items():
        if name.endswith(".b"):
            found[name] = np.zeros(shape, np.float32)
        elif name.endswith(".gain"):
            found[name] = np.ones(shape, np.float32)
        else:
            most = float(np.sqrt(6.0 / (shape[0] + shape[-1])))
            found[name] = rng.uniform(-most, most, shape).astype(np.float32)
    return found
