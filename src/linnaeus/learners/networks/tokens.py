"""The form of a network that tags: the features of each token, convolutions over its neighbors, scores of tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.networks.architecture import MAX_UNITS, TABLE
from linnaeus.learners.networks.batches import row_batch
from linnaeus.learners.networks.encoders import check_activation
from linnaeus.learners.networks.operations import ACTIVATIONS, Batch, Operations
from linnaeus.types import Array, Arrays, Json, Longs

LINKS = "transitions"
"""The scores of the first tag, and of each tag after each other."""
MAX_LAYERS = 100
MAX_WINDOW = 101


@dataclass(frozen=True, kw_only=True)
class TokenLayers:
    """A network on sparse rows of tokens, one for each, that gives scores (m + 1 + k, k) of k tags.

    A token is the sum of the vectors of its features (`width` numbers). Each of the `layers` adds to it what filters
    over a `window` of tokens around it make of them, within its sentence. The scores of tags at tokens are linear in
    the result; the last 1 + k rows are the first tag and the transitions, as `outputs.Sequence` takes them.

    A batch has `offsets`, `ids` and `values` of sparse rows, and `near` (m, window): the rows of the neighbors of each
    token, counted from 1; 0 stands for a place outside of the sentence.

    >>> TokenLayers(columns=1000, tags=3, width=8, layers=1).shapes()["layer1.W"]
    (24, 8)
    """

    columns: int
    tags: int
    width: int = 128
    layers: int = 2
    window: int = 3
    activation: str = "relu"

    def __post_init__(self) -> None:
        expect("columns", self.columns, int, 0, 1 << 31)
        expect("tags", self.tags, int, 1, 1 << 20)
        check_layers(self)

    @property
    def reach(self) -> int:
        """How many tokens away a token can have an effect on scores."""
        return self.layers * (self.window // 2)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of all weights by name."""
        found: dict[str, tuple[int, ...]] = {TABLE: (self.columns, self.width), "rows.b": (self.width,)}
        for number in range(1, self.layers + 1):
            found |= {f"layer{number}.W": (self.window * self.width, self.width), f"layer{number}.b": (self.width,)}
        found |= {"out.W": (self.width, self.tags), "out.b": (self.tags,)}
        return found | {LINKS: (1 + self.tags, self.tags)}

    def forward(self, ops: Operations, params: Mapping[str, Any], batch: Batch) -> Any:
        """The scores of tags at tokens, then those of transitions (m + 1 + k, k)."""
        h = ops.bag(params[TABLE], {**batch, "values": ops.drop(batch["values"])}) + params["rows.b"]
        for number in range(1, self.layers + 1):
            x = ops.pad(ops.drop(h)[None], 1, 0)[0]  # row 0: outside of the sentence
            windows = ops.take(x, batch["near"]).reshape(-1, self.window * self.width)
            sums = ops.dot(windows, params[f"layer{number}.W"]) + params[f"layer{number}.b"]
            h = h + ACTIVATIONS[self.activation](ops, sums)
        E = ops.dot(ops.drop(h), params["out.W"]) + params["out.b"]
        return ops.concat([E, params[LINKS]], 0)

    def manifest(self) -> dict[str, Json]:
        """The fields as plain data."""
        return asdict(self)


def check_layers(plan: Any) -> None:
    """Refuse numbers of layers, of their units and of neighbors that mean nothing."""
    expect("width", plan.width, int, 1, MAX_UNITS)
    expect("layers", plan.layers, int, 0, MAX_LAYERS)
    expect("window", plan.window, int, 1, MAX_WINDOW)
    if plan.window % 2 == 0:
        raise UsageError(
            f"window is an odd number of tokens, with as many before a token as behind, not {plan.window}."
        )
    check_activation(plan.activation)


def token_batch(X: CSR, at: Longs, offsets: Longs, window: int) -> Arrays:
    """The inputs of the tokens `at` of X, which make sentences with these offsets.

    >>> X = CSR(np.arange(4), np.array([0, 1, 0], np.int32), np.ones(3), 2)
    >>> token_batch(X, np.arange(3), np.array([0, 2, 3]), 3)["near"].tolist()
    [[0, 1, 2], [1, 2, 0], [0, 3, 0]]
    """
    return {**row_batch(X, at), "near": neighbors(offsets, window)}


def neighbors(offsets: Longs, window: int) -> Array:
    """The tokens around each token, counted from 1; 0 is outside of its sentence (m, window)."""
    sizes = np.diff(offsets)
    first, end = (np.repeat(part, sizes)[:, None] for part in (offsets[:-1], offsets[1:]))
    there = np.arange(int(offsets[-1]))[:, None] + np.arange(-(window // 2), window // 2 + 1)
    return np.where((there >= first) & (there < end), there + 1, 0)
