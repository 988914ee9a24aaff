"""Where new labels of a taxonomy go: below the nodes that stand above their names; nodes that are new are added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import numpy as np

from linnaeus.learners.label_tree.chunks import Chunks, check_sizes, lane_kind
from linnaeus.learners.label_tree.fitted import FittedLabels
from linnaeus.learners.label_tree.taxonomy import Steps, below_themselves, is_separator, steps_above
from linnaeus.types import Array, Longs, offsets_of

NO_ROWS = np.float32(-1)
"""The bias of a child without rows, as in training."""


def placed(shape: str, body: FittedLabels, names: Sequence[str]) -> tuple[FittedLabels, Longs]:
    """The taxonomy with all nodes above these new labels, and the node of each.

    It is -1 for a label that no known node stands above, and for all where the file of the taxonomy is gone.
    """
    unread = not is_separator(shape) and not Path(shape).is_file()
    if unread or not names or not body.nodes or len(body.trees) > 1:
        return body, np.full(len(names), -1, np.int64)
    places = Places(body)
    steps = below_themselves(names, steps_above(shape, names), body.nodes[1:])
    homes = np.array([places.home(above) for above in steps], np.int64)
    if len(places.names) == len(body.nodes):
        return body, homes
    order = by_level(places.parents)
    tree = with_nodes(body.trees[0], np.array(places.parents), order)
    nodes = tuple(places.names[node] for node in order.tolist())
    return replace(body, trees=(tree,), nodes=nodes), np.where(homes >= 0, np.argsort(order)[homes], -1)


class Places:
    """The nodes of a taxonomy: their names and parents. Those that are added have the numbers after all others."""

    def __init__(self, body: FittedLabels) -> None:
        self.names, self.parents = list(body.nodes), body.homes[1].tolist()
        self.old = len(self.names)
        self._levels, self._inner = [0], set[int]()
        self._first: dict[str, int] = {}
        self._below: dict[tuple[int, str], int] = {}
        for node in range(1, self.old):
            self._enter(node)
        self._depth = max(self._levels)

    def _enter(self, node: int) -> None:
        name, parent = self.names[node], self.parents[node]
        self._levels.append(self._levels[parent] + 1)
        self._inner.add(parent)
        self._first.setdefault(name, node)
        self._below.setdefault((parent, name), node)

    def home(self, steps: Steps) -> int:
        """The lowest node for a label below these steps: below the last one that is known, where others are added."""
        known = max((i for i, name in enumerate(steps) if name in self._first), default=-1)
        if known < 0:
            return -1
        node = self._first[steps[known]]
        for name in chain(steps[known + 1 :], repeat(steps[-1])):
            if self._holds_labels(node):
                break
            node = self._below[node, name] if (node, name) in self._below else self._add(node, name)
        return node

    def _holds_labels(self, node: int) -> bool:
        return node not in self._inner and (node < self.old or self._levels[node] == self._depth)

    def _add(self, parent: int, name: str) -> int:
        self.names.append(name)
        self.parents.append(parent)
        self._enter(len(self.names) - 1)
        return len(self.names) - 1


def by_level(parents: Sequence[int]) -> Longs:
    """The nodes of a tree from the root down, level by level.

    >>> by_level([-1, 0, 0, 1, 2, 1]).tolist()
    [0, 1, 2, 3, 5, 4]
    """
    below: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            below[parent].append(node)
    order = [0]
    for node in order:
        order.extend(below[node])  # which the loop comes to later
    return np.array(order, np.int64)


def with_nodes(tree: Chunks, parents: Longs, order: Longs) -> Chunks:
    """The tree with further nodes, in this order: empty ones, each the last child of its parent, without weights."""
    count, m = len(tree.scales), len(parents)
    place = np.argsort(order)

    def sizes(offsets: Longs) -> Longs:
        return np.concatenate([np.diff(offsets), np.zeros(m - count, np.int64)])[order]

    above = place[parents[order[order >= count]]]
    starts = offsets_of(sizes(tree.starts) + np.bincount(above, minlength=m))
    check_sizes(starts)
    at = np.cumsum(sizes(tree.starts))[above]
    targets: Array = np.insert(tree.targets, at, 0)
    targets[targets >= 0] = np.arange(1, m)
    return replace(
        tree,
        starts=starts,
        targets=targets,
        biases=np.insert(tree.biases, at, NO_ROWS),
        firsts=offsets_of(sizes(tree.firsts)),
        begins=offsets_of(sizes(tree.begins)),
        lanes=tree.lanes.astype(lane_kind(starts)),
        scales=np.concatenate([tree.scales, np.ones(m - count, np.float32)])[order],
        digests=np.zeros(0, np.uint64),
    )
