"""Nodes of a label tree with other weights or children, put in the place of what they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from linnaeus.learners.label_tree.chunks import LANE_BITS, MOST_LANES, Chunks, lane_kind
from linnaeus.types import Array, Bools, Floats, Ints, Longs, offsets_of


class More(NamedTuple):
    """Weights for a node: the column, the child counted from 0, and the weight of each."""

    columns: Ints
    lanes: Array
    values: Floats


class Chunk(NamedTuple):
    """The weights of one node as `Chunks` has them."""

    columns: Ints
    spots: Array
    lanes: Array
    values: Array
    scale: Any


class Children(NamedTuple):
    """Where the children of some nodes begin, and their targets and biases."""

    starts: Longs
    targets: Ints
    biases: Floats


def more_of(parts: Sequence[More]) -> More:
    """All these weights; those of one column and child are added."""
    columns, lanes, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    keys, at = np.unique(_key(columns, lanes), return_inverse=True)
    return More(
        (keys >> LANE_BITS).astype(np.int32), keys & (MOST_LANES - 1), np.bincount(at, values).astype(np.float32)
    )


def with_more(tree: Chunks, node: int, more: More, gone: Bools | None = None) -> Chunk:
    """The weights of a node with more of them, and without those of `gone` children.

    The node keeps its scale if all weights fit, so that those that stay are the same.
    """
    at = slice(tree.begins[node], tree.begins[node + 1])
    names = slice(tree.firsts[node], tree.firsts[node + 1])
    sizes = np.diff(np.append(tree.spots[names].astype(np.int64), at.stop - at.start))
    keys, numbers, scale = (
        _key(np.repeat(tree.columns[names], sizes), tree.lanes[at]),
        tree.values[at],
        tree.scales[node],
    )
    if gone is not None and gone.any():
        stays = ~gone[tree.lanes[at]]
        keys, numbers = keys[stays], numbers[stays]
    fresh, values = _key(more.columns, more.lanes), more.values.copy()
    place = np.searchsorted(keys, fresh)
    there = place < len(keys)
    there[there] = keys[place[there]] == fresh[there]
    values[there] += numbers[place[there]] * scale
    most = np.iinfo(numbers.dtype).max
    larger = np.maximum(scale, np.abs(values).max(initial=0) / np.float32(most))
    if larger > scale:
        numbers, scale = np.rint(numbers * (scale / larger)).astype(numbers.dtype), larger
    new = np.rint(values / scale).clip(-most, most).astype(numbers.dtype)
    numbers = numbers.copy()
    numbers[place[there]] = new[there]
    keys, numbers = np.insert(keys, place[~there], fresh[~there]), np.insert(numbers, place[~there], new[~there])
    columns = (keys >> LANE_BITS).astype(np.int32)
    spots = np.flatnonzero(np.diff(columns, prepend=-1))
    return Chunk(columns[spots], spots.astype(np.uint32), keys & (MOST_LANES - 1), numbers, scale)


def _key(columns: Array, lanes: Array) -> Longs:
    """A number for each column and child, which orders them."""
    return (columns.astype(np.int64) << LANE_BITS) + lanes


def spliced(tree: Chunks, nodes: Longs, chunks: Sequence[Chunk], children: Children) -> Chunks:
    """The tree in which these nodes have other children and weights."""
    kind = lane_kind(tree.starts, children.starts)
    columns, spots, lanes, values, scales = zip(*chunks, strict=True)

    def splice(offsets: Longs, array: Array, fresh: Sequence[Array]) -> Array:
        return _woven(nodes, offsets, array, fresh)

    all_scales = tree.scales.copy()
    all_scales[nodes] = scales
    inside = list(pairwise(children.starts.tolist()))
    return replace(
        tree,
        starts=_lengthened(tree.starts, nodes, np.diff(children.starts)),
        targets=splice(tree.starts, tree.targets, [children.targets[a:b] for a, b in inside]),
        biases=splice(tree.starts, tree.biases, [children.biases[a:b] for a, b in inside]),
        firsts=_lengthened(tree.firsts, nodes, [len(part) for part in columns]),
        columns=splice(tree.firsts, tree.columns, columns),
        spots=splice(tree.firsts, tree.spots, spots),
        begins=_lengthened(tree.begins, nodes, [len(part) for part in values]),
        lanes=splice(tree.begins, tree.lanes.astype(kind, copy=False), [part.astype(kind) for part in lanes]),
        values=splice(tree.begins, tree.values, values),
        scales=all_scales,
        digests=np.zeros(0, np.uint64),
    )


def _woven(nodes: Longs, offsets: Longs, array: Array, fresh: Sequence[Array]) -> Array:
    """The parts of an array by node, of which some nodes have new ones."""
    parts: list[Array] = []
    at = 0
    for node, new in zip(nodes.tolist(), fresh, strict=True):
        parts += [array[at : offsets[node]], new]
        at = int(offsets[node + 1])
    return np.concatenate([*parts, array[at:]])


def _lengthened(offsets: Longs, nodes: Longs, own: Sequence[int] | Longs) -> Longs:
    sizes = np.diff(offsets)
    sizes[nodes] = own
    return offsets_of(sizes)
