"""Networks for tests: small encoders of every kind, their weights, and rows to read."""

from __future__ import annotations

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.learners.networks import Attention, Convolution, DeepConvolution, Pooled, Recurrent
from linnaeus.learners.networks.architecture import Architecture, RowLayer, drawn_weights
from linnaeus.types import offsets_of

WORDS = 12
SMALL = {"lookup": "random", "width": 3}
ENCODERS = {
    "mean": Pooled(**SMALL, pool="mean"),
    "sum": Pooled(**SMALL, pool="sum"),
    "max": Pooled(**SMALL, pool="max"),
    "pooled by attention": Pooled(**SMALL, pool="attention"),
    "concat": Pooled(**SMALL, pool="concat", length=3),
    "one-hot": Pooled(lookup="one_hot", width=3),
    "both tables": Convolution(lookup="both", width=2, widths=(2,), filters=2),
    "convolution": Convolution(**SMALL, widths=(1, 3), filters=2),
    "strided": Convolution(**SMALL, widths=(2,), filters=3, stride=2, pool="mean", activation="tanh"),
    "convolution with attention": Convolution(**SMALL, widths=(2,), filters=3, pool="attention", activation="gelu"),
    "deep": DeepConvolution(**SMALL, layers=2, filters=3),
    "deep, strided": DeepConvolution(**SMALL, layers=3, filters=2, stride=2, pool="mean", activation="sigmoid"),
    "deep, k largest": DeepConvolution(**SMALL, layers=1, filters=2, pool="kmax", k=2),
    "recurrent": Recurrent(**SMALL, units=3),
    "attention": Attention(**SMALL, units=4, heads=2, inner=5),
}


def form(name: str, hidden: tuple[int, ...] = (4,)) -> Architecture:
    """A network with this encoder; "rows" is that of rows."""
    encoder = RowLayer(5, "tanh") if name == "rows" else ENCODERS[name]
    return Architecture(encoder, hidden, "tanh", WORDS, 3)


def weights(network: Architecture, dtype: type = np.float64, seed: int = 0) -> dict[str, np.ndarray]:
    """Random weights, also for biases."""
    rng = np.random.default_rng(seed)
    drawn = drawn_weights(network.shapes(), rng)
    return {name: (part + 0.3 * rng.normal(size=part.shape)).astype(dtype) for name, part in drawn.items()}


def sequences(sizes: tuple[int, ...] = (4, 1, 7, 0, 2, 7), seed: int = 1) -> CSR:
    """Rows of so many words each, in any order and repeated."""
    ids = np.random.default_rng(seed).integers(0, WORDS, sum(sizes)).astype(np.int32)
    return CSR(offsets_of(sizes), ids, np.ones(len(ids), np.float32), WORDS)
