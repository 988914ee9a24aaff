"""A label tree after more rows: labels are added, removed or learned again, and the other labels stay as they are.

The texts that a tree was learned from are not in the model. A label that it knows is represented by one row: the
direction of its positive weights, which counts as many rows as the label had. A new label goes to the node whose labels
its rows are most like, and is learned there against the rows of the labels beside it; so is a known label that has new
rows. All other weights stay. In a taxonomy a new label goes below the nodes that stand above its name (`placing`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.arrays.csr import vstack
from linnaeus.frozen import dataclass
from linnaeus.learners.label_tree.chunks import Chunks, Layer, check_sizes, columns_of
from linnaeus.learners.label_tree.fitted import FittedLabels, by_frequency, ranks_of, relabeled
from linnaeus.learners.label_tree.outline import from_scipy, unit
from linnaeus.learners.label_tree.placing import placed
from linnaeus.learners.label_tree.splicing import Children, More, more_of, spliced, with_more
from linnaeus.learners.label_tree.training import learned
from linnaeus.types import Bools, Doubles, Floats, Ints, LabelSets, Longs, groups, offsets_of

if TYPE_CHECKING:
    from linnaeus.learners.label_tree.learner import LabelTree

NEAR = 10
"""The best labels of a new row whose nodes it is led to."""
SHARE = 0.5
"""How much of a known label's row is what all rows have in common, beside 1 of its own."""
CAUTION = np.float32(0.2)
"""By how much the bias of a label is lower that was learned without the texts of others: it would win too often."""
MOST_STEP = 8.0
"""The most that a row is multiplied by when it is added to weights on the way to a new label."""
MOST_BESIDE = 24
"""Known labels of a node that new ones are learned against at most, the most frequent ones."""
MOST_ROWS = 16
"""Rows as which a known label counts at most."""


@dataclass(frozen=True, eq=False)
class News:
    """New rows, their labels and costs. Labels from `known` on are new; a taxonomy needs their `names`."""

    X: CSR
    y: LabelSets
    weights: Doubles
    known: int
    k: int
    names: tuple[str, ...] = ()

    @property
    def owners(self) -> Longs:
        """The row of each label."""
        return np.repeat(np.arange(len(self.y)), np.diff(self.y.offsets))


def extended(learner: LabelTree, body: FittedLabels, news: News) -> FittedLabels:
    """The trees with these rows; the names are still those of the known labels."""
    if not len(news.y.labels):
        return body
    counts = np.zeros(news.k, np.int32)
    counts[: news.known] = body.counts
    after = counts + np.bincount(news.y.labels, minlength=news.k).astype(np.int32)
    body, homes = placed(learner.shape, body, news.names)
    trees = tuple(_extended(learner, body, tree, news, homes) for tree in body.labeled)
    return sorted_by(replace(body, counts=after), trees)


def sorted_by(body: FittedLabels, trees: Sequence[Chunks]) -> FittedLabels:
    """The model with these trees, whose labels are numbered from frequent to rare in it."""
    numbers = by_frequency(body.counts)
    return replace(body, numbers=numbers, trees=tuple(relabeled(tree, ranks_of(numbers)) for tree in trees))


def _extended(learner: LabelTree, body: FittedLabels, tree: Chunks, news: News, homes: Longs) -> Chunks:
    nodes = nodes_of(tree)
    best, scores = tree.best(news.X, min(NEAR, tree.labels), body.beam)
    led = np.where(best >= 0, nodes[best], -1)
    fresh = _alike(news, led, scores)
    named = np.flatnonzero(homes >= 0)
    fresh[named] = homes[named]
    places = np.concatenate([nodes, fresh])
    group = Group.of(tree, np.unique(places[news.y.labels]), places, news)
    check_sizes(group.starts)
    layer = _relearned(learner, body, tree, news, group, led)
    return signposted(rebuilt(tree, group, layer, news.k), body, news)


def signposted(tree: Chunks, body: FittedLabels, news: News) -> Chunks:
    """The tree whose nodes above new labels lead their rows there.

    A child on the way whose score is below 1 gets a multiple of the row, without the columns that all rows have in
    common, that would lift it to 1: a passive-aggressive step (Crammer et al., 2006), of which a label's rows have
    equal shares.
    """
    above = ways_of(tree)
    home = nodes_of(tree)
    shares = 1 / np.bincount(news.y.labels, minlength=news.k).astype(np.float64)[news.y.labels]
    some = np.flatnonzero(news.y.labels >= news.known)
    common = np.zeros(tree.width, bool)
    common[body.common.columns] = True
    told: list[tuple[int, int, Ints, Floats]] = []
    for row, label, share in zip(news.owners[some].tolist(), news.y.labels[some].tolist(), shares[some], strict=True):
        one = news.X.rows_slice(row, row + 1)
        columns, values = one.indices[: one.nnz], one.data[: one.nnz].astype(np.float32)
        own = ~common[columns]
        square = float((values[own].astype(np.float64) ** 2).sum())
        node = int(home[label])
        while node and square > 0:
            node, child = above[node]
            score = float(tree.search.children((one.indptr, columns, values), node)[child])
            if score < 1:
                step = np.float32(share * min((1 - score) / square, MOST_STEP))
                told.append((node, child, columns[own], step * values[own]))
    return added(tree, told) if told else tree


def ways_of(tree: Chunks) -> dict[int, tuple[int, int]]:
    """For each node but the root, the node above it and which child of that it is."""
    owner = np.repeat(np.arange(len(tree.scales)), np.diff(tree.starts))
    inner = np.flatnonzero(tree.targets >= 0)
    pairs = zip(owner[inner].tolist(), (inner - tree.starts[owner[inner]]).tolist(), strict=True)
    return dict(zip(tree.targets[inner].tolist(), pairs, strict=True))


def added(tree: Chunks, told: Sequence[tuple[int, int, Ints, Floats]]) -> Chunks:
    """The tree with more weight on some columns of some children of nodes."""
    nodes = np.unique([node for node, _, _, _ in told])
    parts: dict[int, list[More]] = {node: [] for node in nodes.tolist()}
    for node, child, columns, values in told:
        parts[node].append(More(columns, np.full(len(columns), child), values))
    chunks = [with_more(tree, node, more_of(parts[node])) for node in nodes.tolist()]
    starts = offsets_of(np.diff(tree.starts)[nodes])
    _, own, _ = groups(tree.starts, nodes)
    return spliced(tree, nodes, chunks, Children(starts, tree.targets[own], tree.biases[own]))


def nodes_of(tree: Chunks) -> Longs:
    """The node of each label: the first, where it has several."""
    owner = np.repeat(np.arange(len(tree.scales)), np.diff(tree.starts))
    leaves = np.flatnonzero(tree.targets < 0)[::-1]
    found = np.zeros(tree.labels, np.int64)
    found[~tree.targets[leaves]] = owner[leaves]
    return found


def _alike(news: News, led: Longs, scores: Floats) -> Longs:
    """For each new label the node that its rows lead to: the one with the largest sum of e^score of its labels."""
    some = news.y.labels >= news.known
    rows, labels = news.owners[some], news.y.labels[some] - news.known
    if not len(rows):
        return np.zeros(0, np.int64)
    there = led[rows] >= 0
    label = np.repeat(labels, led.shape[1])[there.ravel()].astype(np.int64)
    most = int(led.max()) + 1
    keys, at = np.unique(label * most + led[rows][there], return_inverse=True)
    sums = np.bincount(at, np.exp(scores[rows][there].astype(np.float64)))
    order = np.lexsort((keys, -sums, keys // most))
    owners, first = np.unique((keys // most)[order], return_index=True)
    found = np.zeros(news.k - news.known, np.int64)
    found[owners] = (keys % most)[order][first]
    return found


class Group(NamedTuple):
    """The nodes that change: their numbers, where the children of each begin, and the label of each child.

    `old` says which children the tree has already, and `at` which child of the tree each of these is; those that are
    `changed` have new rows.
    """

    nodes: Longs
    starts: Longs
    labels: Longs
    old: Bools
    at: Longs
    changed: Bools

    @classmethod
    def of(cls, tree: Chunks, nodes: Longs, places: Longs, news: News) -> Group:
        """The children of these nodes, and the new labels that are placed there."""
        sizes = np.diff(tree.starts)[nodes]
        _, own, _ = groups(tree.starts, nodes)
        fresh = np.arange(news.known, news.k)
        owner = np.concatenate([np.repeat(np.arange(len(nodes)), sizes), np.searchsorted(nodes, places[fresh])])
        order = np.argsort(owner, kind="stable")
        labels = np.concatenate([~tree.targets[own].astype(np.int64), fresh])[order]
        old = np.concatenate([np.ones(len(own), bool), np.zeros(len(fresh), bool)])[order]
        at = np.concatenate([own, np.full(len(fresh), -1)])[order]
        changed = np.bincount(news.y.labels, minlength=news.k)[labels] > 0
        return cls(nodes, offsets_of(np.bincount(owner, minlength=len(nodes))), labels, old, at, changed)

    @property
    def owners(self) -> Longs:
        """The node of each child, counted from 0."""
        return np.repeat(np.arange(len(self.nodes)), np.diff(self.starts))


def _relearned(learner: LabelTree, body: FittedLabels, tree: Chunks, news: News, group: Group, led: Longs) -> Layer:
    """The rankers of the changed children of these nodes, from the new rows and a row for each known label there."""
    labels, homes, stands = directions(tree, body, group.nodes)
    place = np.full(news.k, -1)
    place[group.labels[group.changed]] = np.arange(group.changed.sum())
    owners = np.concatenate([news.owners, len(news.y) + np.arange(len(labels))])
    places = place[np.concatenate([news.y.labels, labels])]
    inside = places >= 0
    order = np.lexsort((places[inside], owners[inside]))
    offsets = offsets_of(np.bincount(owners[inside], minlength=len(news.y) + len(labels)))
    truth = offsets, places[inside][order].astype(np.int32)
    costs = np.concatenate([news.weights, np.clip(body.counts[labels], 1, MOST_ROWS)]) / learner.strength
    at = np.searchsorted(group.nodes, led).clip(0, len(group.nodes) - 1)
    beside = np.full((len(labels), led.shape[1]), -1)
    beside[:, 0] = homes
    reach = np.concatenate([np.where(group.nodes[at] == led, at, -1), beside]).astype(np.int32)
    starts = offsets_of(np.bincount(group.owners[group.changed], minlength=len(group.nodes)))
    level = starts, np.arange(starts[-1] + 1, dtype=np.int64)
    layer = learned(learner, vstack([_floats(news.X), stands]), costs, truth, level, reach)
    return replace(layer, biases=layer.biases - CAUTION)


def _floats(X: CSR) -> CSR:
    return CSR(X.indptr, X.indices, np.asarray(X.data, np.float32), X.width)


def directions(tree: Chunks, body: FittedLabels, nodes: Longs) -> tuple[Longs, Longs, CSR]:
    """The most frequent labels of these nodes, the node of each (counted from 0), and a row for each (c, d).

    A row is the direction of the label's positive weights, and of what all rows have in common.
    """
    from scipy.sparse import csr_matrix

    sizes = np.diff(tree.starts)[nodes]
    _, own, _ = groups(tree.starts, nodes)
    home = np.repeat(np.arange(len(nodes)), sizes)
    order = np.lexsort((own, -body.counts[~tree.targets[own]].astype(np.int64), home))
    some = np.sort(order[np.arange(len(own)) - (np.cumsum(sizes) - sizes)[home] < MOST_BESIDE])
    own, home = own[some], home[some]
    place = np.full(len(tree.targets), -1)
    place[own] = np.arange(len(own))
    child, column, weight = (np.concatenate(parts) for parts in zip(*_positive(tree, nodes, place), strict=True))
    shape, common = (len(own), tree.width), body.common
    alone = unit(from_scipy(csr_matrix((weight, (child, column)), shape=shape)))
    starts = np.arange(len(own) + 1) * len(common.columns)
    shared = np.tile(np.float32(SHARE) * common.values.astype(np.float32), len(own))
    both = alone.to_scipy() + csr_matrix((shared, np.tile(common.columns, len(own)), starts), shape=shape)
    return ~tree.targets[own].astype(np.int64), home, unit(from_scipy(both))


def _positive(tree: Chunks, nodes: Longs, place: Longs) -> Iterator[tuple[Longs, Ints, Floats]]:
    """The positive weights of the children that have a place: for each node their places, columns and values."""
    for v in nodes.tolist():
        at = slice(tree.begins[v], tree.begins[v + 1])
        child = place[tree.starts[v] : tree.starts[v + 1]][tree.lanes[at]]
        some = np.flatnonzero((tree.values[at] > 0) & (child >= 0))
        names = slice(tree.firsts[v], tree.firsts[v + 1])
        columns = tree.columns[names][np.searchsorted(tree.spots[names], some, side="right") - 1]
        yield child[some], columns, tree.values[at][some].astype(np.float32) * tree.scales[v]


def rebuilt(tree: Chunks, group: Group, layer: Layer, k: int) -> Chunks:
    """The tree in which the changed children of a group of nodes have new weights; others keep theirs."""
    lanes = np.arange(len(group.labels)) - np.repeat(group.starts[:-1], np.diff(group.starts))
    fresh = np.flatnonzero(group.changed)
    relearned = np.zeros(len(tree.targets), bool)
    relearned[group.at[group.changed & group.old]] = True
    chunks = []
    for i, node in enumerate(group.nodes.tolist()):
        part = slice(layer.firsts[i], layer.firsts[i + 1])
        own = lanes[fresh[layer.starts[i] + layer.lanes[part]]]
        gone = relearned[tree.starts[node] : tree.starts[node + 1]]
        chunks.append(with_more(tree, node, More(layer.columns[part], own, layer.values[part]), gone))
    biases = np.where(group.old, tree.biases[group.at], np.float32(0))
    biases[fresh] = layer.biases
    children = Children(group.starts, ~group.labels.astype(np.int32), biases.astype(np.float32))
    return replace(spliced(tree, group.nodes, chunks, children), labels=k)


# Labels come and go


def renumbered(body: FittedLabels, numbers: Longs) -> FittedLabels:
    """The trees with other numbers of labels: label l becomes `numbers[l]`; below 0 it is removed."""
    kept = numbers >= 0
    order = np.argsort(numbers[kept])
    trees = tuple(_renumbered(tree, numbers, int(kept.sum())) for tree in body.labeled)
    return sorted_by(replace(body, counts=body.counts[kept][order]), trees)


def _renumbered(tree: Chunks, numbers: Longs, k: int) -> Chunks:
    leaves = tree.targets < 0
    targets = tree.targets.copy()
    targets[leaves] = ~numbers[~tree.targets[leaves]]
    gone = leaves & (numbers[np.where(leaves, ~tree.targets, 0)] < 0)
    tree = replace(tree, labels=k, digests=np.zeros(0, np.uint64))
    if not gone.any():
        return replace(tree, targets=targets)
    return _without(replace(tree, targets=targets), gone)


def _without(tree: Chunks, gone: Bools) -> Chunks:
    """The tree without these children."""
    owner = np.repeat(np.arange(len(tree.scales)), np.diff(tree.starts))
    lanes = np.cumsum(~gone) - 1
    nodes = np.repeat(np.arange(len(tree.scales)), np.diff(tree.begins))
    child = tree.starts[nodes] + tree.lanes
    stays = ~gone[child]
    ends = np.append(tree.begins[np.repeat(np.arange(len(tree.scales)), np.diff(tree.firsts))] + tree.spots, len(child))
    columns = np.repeat(tree.columns, np.diff(ends))
    starts = offsets_of(np.bincount(owner[~gone], minlength=len(tree.scales)))
    begins = offsets_of(np.bincount(nodes[stays], minlength=len(tree.scales)))
    own = lanes[child[stays]] - starts[nodes[stays]]
    layer = Layer(starts, begins, columns[stays], own, np.zeros(0, np.float32), tree.biases[~gone])
    counts, kept, spots = columns_of(layer)
    return replace(
        tree,
        starts=starts,
        targets=tree.targets[~gone],
        biases=tree.biases[~gone],
        firsts=counts,
        columns=kept,
        spots=spots,
        begins=begins,
        lanes=own.astype(tree.lanes.dtype),
        values=tree.values[stays],
    )
