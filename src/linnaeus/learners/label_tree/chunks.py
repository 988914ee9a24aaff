"""`Chunks`: the weights of the children of each node of a label tree, sparse and in 8 or 16 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import CSR
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Floats, Ints, Longs, Words64

SMALL_LANES = 256
"""Children up to which the number of a child takes one byte."""
LANE_BITS = 16
MOST_LANES = 1 << LANE_BITS
"""The most children of a node."""


@dataclass(frozen=True, eq=False)
class Chunks:
    """Nodes, the root first. Node v has the children `starts[v]` to `starts[v+1]`.

    A child leads to the node `targets[c]`, or, below 0, to the label `~targets[c]`. The weights of a node are one
    chunk: its `columns` from `firsts[v]` on, ascending; the `values` of column i begin at `begins[v] + spots[i]`, and
    `lanes` says of which child each is, counted from 0. A weight is a value times `scales[v]`. `digests` are those of
    chunks that lie in a file (empty: not checked). What a child adds to a path counts `share` if it leads to a node.
    """

    starts: Longs
    targets: Ints
    biases: Floats
    firsts: Longs
    columns: Ints
    spots: Array
    begins: Longs
    lanes: Array
    values: Array
    scales: Floats
    labels: int
    width: int
    share: float
    digests: Words64

    @cached_property
    def search(self) -> Any:
        """The kernel that searches for the best labels."""
        wide = "Wide" if self.lanes.dtype == np.uint16 else ""
        kind = getattr(kernels, f"LabelSearch{wide}{8 * self.values.dtype.itemsize}")
        children = self.starts, self.targets, self.biases
        columns, values = (self.firsts, self.columns, self.spots), (self.begins, self.lanes, self.values, self.scales)
        return kind(children, columns, values, self.digests, (self.labels, self.width, self.share))

    def __getstate__(self) -> dict[str, object]:
        """Its fields for another process; the kernel is made again, and arrays of a mapped file lie in memory."""
        state = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: np.array(value) if isinstance(value, np.ndarray) else value for name, value in state.items()}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    def best(self, rows: CSR, count: int, beam: int) -> tuple[Ints, Floats]:
        """The best labels of each row and their scores (n, count), best first; -1 where there are no more."""
        labels, scores = np.empty((len(rows), count), np.int32), np.empty((len(rows), count), np.float32)
        data = np.ascontiguousarray(rows.data[: rows.nnz], np.float32)
        arrays = rows.indptr, rows.indices[: rows.nnz], data
        self.search.best(arrays, labels, scores, beam, kernels.thread_count())
        return labels, scores


@dataclass(frozen=True, eq=False)
class Layer:
    """The learned nodes of one level: where the weights of each begin, their columns, children and values; biases."""

    starts: Longs
    firsts: Longs
    columns: Ints
    lanes: Array
    values: Floats
    biases: Floats


def quantized(layer: Layer, bits: int) -> tuple[Array, Floats]:
    """The weights of a level as whole numbers of so many bits, and what those of each node are multiplied by.

    >>> one = np.array([0, 2])
    >>> layer = Layer(one, one, np.array([4, 7]), np.array([0, 1]), np.array([0.5, -1.0], np.float32), np.zeros(2))
    >>> numbers, scales = quantized(layer, 8)
    >>> numbers.tolist(), scales.round(4).astype(str).tolist()
    ([64, -127], ['0.0079'])
    """
    most = (1 << (bits - 1)) - 1
    sizes = np.diff(layer.firsts)
    largest = np.zeros(len(sizes), np.float32)
    some = np.flatnonzero(sizes)
    if len(some):
        largest[some] = np.maximum.reduceat(np.abs(layer.values), layer.firsts[some])
    scales = np.where(largest > 0, largest / np.float32(most), np.float32(1)).astype(np.float32)
    kind = np.int8 if bits == 8 else np.int16
    return np.rint(layer.values / np.repeat(scales, sizes)).astype(kind), scales


def join(layers: Sequence[Layer], order: Ints, facts: tuple[int, float, int], partial: bool = False) -> Chunks:
    """The chunks of these levels, from the root down; `facts` are the width, the share and the bits.

    The children of the last level are the labels in this order; those of a `partial` tree are numbers of nodes.
    """
    width, share, bits = facts
    count = np.cumsum([0] + [len(layer.starts) - 1 for layer in layers])
    targets = [np.arange(layer.starts[-1], dtype=np.int32) + count[i + 1] for i, layer in enumerate(layers[:-1])]
    last = np.arange(layers[-1].starts[-1]) if partial else order
    parts = [columns_of(layer) for layer in layers]
    codes = [quantized(layer, bits) for layer in layers]
    lanes = lane_kind(*(layer.starts for layer in layers))
    return Chunks(
        starts=_offsets([layer.starts for layer in layers]),
        targets=np.concatenate([*targets, ~last.astype(np.int32)]).astype(np.int32),
        biases=np.concatenate([layer.biases for layer in layers]),
        firsts=_offsets([firsts for firsts, _, _ in parts]),
        columns=np.concatenate([columns for _, columns, _ in parts]),
        spots=np.concatenate([spots for _, _, spots in parts]),
        begins=_offsets([layer.firsts for layer in layers]),
        lanes=np.concatenate([layer.lanes.astype(lanes) for layer in layers]),
        values=np.concatenate([values for values, _ in codes]),
        scales=np.concatenate([scales for _, scales in codes]),
        labels=len(last),
        width=width,
        share=share,
        digests=np.zeros(0, np.uint64),
    )


def lane_kind(*starts: Longs) -> np.dtype[Any]:
    """The type of the numbers of children of nodes that begin here."""
    most = max(int(np.diff(part).max()) for part in starts)
    return np.dtype(np.uint8 if most <= SMALL_LANES else np.uint16)


def check_sizes(starts: Longs) -> None:
    """Refuse nodes that would have too many children."""
    most = int(np.diff(starts).max())
    if most > MOST_LANES:
        raise UsageError(
            f"A node of the label tree would have {most:,} children, too many; train a new model on all rows."
        )


def columns_of(layer: Layer) -> tuple[Longs, Ints, Array]:
    """The different columns of each node: where they begin, they, and where the values of each begin in the node."""
    columns, firsts = layer.columns, layer.firsts
    new = np.ones(len(columns), bool)
    new[1:] = columns[1:] != columns[:-1]
    new[firsts[:-1][np.diff(firsts) > 0]] = True
    at = np.flatnonzero(new)
    counts = np.searchsorted(at, firsts)
    spots = at - np.repeat(firsts[:-1], np.diff(counts))
    return counts.astype(np.int64), columns[at], spots.astype(np.uint32)


def _offsets(parts: Sequence[Longs]) -> Longs:
    """Offsets of parts that follow each other."""
    ends = np.cumsum([0] + [int(part[-1]) for part in parts])
    return np.concatenate([part[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)] + [ends[-1:]]).astype(
        np.int64
    )
