"""A label tree after more rows: labels are added, removed or learned again, and the other labels stay as they are.

The texts that a tree was learned from are not in the model. A label that it knows is represented by one row: the
direction of its positive weights, which counts as many rows as the label had. A new label goes to the node whose labels
its rows are most like, and is learned there against the rows of the labels beside it; so is a known label that has new
rows. All other weights stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.arrays.csr import vstack
from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.learners.label_tree.chunks import MOST_LANES, SMALL_LANES, Chunks, Layer, columns_of
from linnaeus.learners.label_tree.fitted import FittedLabels, by_frequency, ranks_of, relabeled
from linnaeus.learners.label_tree.training import learned
from linnaeus.types import Array, Bools, Doubles, Floats, Ints, LabelSets, Longs, groups, offsets_of

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
    """New rows, their labels and costs. Labels from `known` on are new."""

    X: CSR
    y: LabelSets
    weights: Doubles
    known: int
    k: int

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
    trees = tuple(_extended(learner, body, tree, news) for tree in body.labeled)
    return sorted_by(replace(body, counts=after), trees)


def sorted_by(body: FittedLabels, trees: Sequence[Chunks]) -> FittedLabels:
    """The model with these trees, whose labels are numbered from frequent to rare in it."""
    numbers = by_frequency(body.counts)
    return replace(body, numbers=numbers, trees=tuple(relabeled(tree, ranks_of(numbers)) for tree in trees))


def _extended(learner: LabelTree, body: FittedLabels, tree: Chunks, news: News) -> Chunks:
    nodes = nodes_of(tree)
    best, scores = tree.best(news.X, min(NEAR, tree.labels), body.beam)
    led = np.where(best >= 0, nodes[best], -1)
    places = np.concatenate([nodes, _placed(news, led, scores)])
    group = Group.of(tree, np.unique(places[news.y.labels]), places, news)
    most = int(np.diff(group.starts).max())
    if most > MOST_LANES:
        raise UsageError(
            f"A node of the label tree would have {most:,} labels, too many; train a new model on all rows."
        )
    layer = _relearned(learner, body, tree, news, group, led)
    changed = np.zeros(news.k, bool)
    changed[news.y.labels] = True
    return signposted(rebuilt(tree, group, layer, changed, news.k), body, news)


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
    owner, column, lane, weight = entries(tree, nodes)
    sizes = [len(columns) for _, _, columns, _ in told]
    most = int(np.diff(tree.starts).max())

    def key(owners: Array, columns: Array, lanes: Array) -> Longs:
        return (owners.astype(np.int64) * tree.width + columns) * most + lanes

    owners = np.repeat(np.searchsorted(nodes, [node for node, _, _, _ in told]), sizes)
    lanes = np.repeat([child for _, child, _, _ in told], sizes)
    more, at = np.unique(
        key(owners, np.concatenate([columns for _, _, columns, _ in told]), lanes), return_inverse=True
    )
    sums = np.bincount(at, np.concatenate([values for _, _, _, values in told])).astype(np.float32)
    known = key(owner, column, lane)
    place = np.searchsorted(known, more)
    there = place < len(known)
    there[there] = known[place[there]] == more[there]
    weight[place[there]] += sums[there]
    keys: Longs = np.insert(known, place[~there], more[~there])
    weights: Floats = np.insert(weight, place[~there], sums[~there])
    columns, lanes = np.divmod(keys, most)
    owners, columns = np.divmod(columns, tree.width)
    starts = offsets_of(np.diff(tree.starts)[nodes])
    inside = np.repeat(tree.starts[nodes] - starts[:-1], np.diff(starts)) + np.arange(starts[-1])
    begins = offsets_of(np.bincount(owners, minlength=len(nodes)))
    parts = Layer(starts, begins, columns.astype(np.int32), lanes, weights, tree.biases[inside])
    return _spliced(tree, nodes, parts, tree.targets[inside])


def nodes_of(tree: Chunks) -> Longs:
    """The node of each label: the first, where it has several."""
    owner = np.repeat(np.arange(len(tree.scales)), np.diff(tree.starts))
    leaves = np.flatnonzero(tree.targets < 0)[::-1]
    found = np.zeros(tree.labels, np.int64)
    found[~tree.targets[leaves]] = owner[leaves]
    return found


def _placed(news: News, led: Longs, scores: Floats) -> Longs:
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

    `old` says which children the tree has already, and `at` which child of the tree each of these is.
    """

    nodes: Longs
    starts: Longs
    labels: Longs
    old: Bools
    at: Longs

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
        return cls(nodes, offsets_of(np.bincount(owner, minlength=len(nodes))), labels, old, at)


def _relearned(learner: LabelTree, body: FittedLabels, tree: Chunks, news: News, group: Group, led: Longs) -> Layer:
    """The rankers of all children of these nodes, learned from the new rows and a row for each known label there."""
    labels, stands = directions(tree, body, group.nodes)
    place = np.full(news.k, -1)
    place[group.labels] = np.arange(len(group.labels))
    owners = np.concatenate([news.owners, len(news.y) + np.arange(len(labels))])
    places = place[np.concatenate([news.y.labels, labels])]
    inside = places >= 0
    order = np.lexsort((places[inside], owners[inside]))
    offsets = offsets_of(np.bincount(owners[inside], minlength=len(news.y) + len(labels)))
    truth = offsets, places[inside][order].astype(np.int32)
    costs = np.concatenate([news.weights, np.clip(body.counts[labels], 1, MOST_ROWS)]) / learner.strength
    at = np.searchsorted(group.nodes, led).clip(0, len(group.nodes) - 1)
    ours = np.where(group.nodes[at] == led, at, -1)
    reach = np.concatenate([ours, np.full((len(labels), led.shape[1]), -1)]).astype(np.int32)
    level = group.starts, np.arange(len(group.labels) + 1, dtype=np.int64)
    layer = learned(learner, vstack([_floats(news.X), stands]), costs, truth, level, reach)
    return replace(layer, biases=layer.biases - CAUTION)


def _floats(X: CSR) -> CSR:
    return CSR(X.indptr, X.indices, np.asarray(X.data, np.float32), X.width)


def directions(tree: Chunks, body: FittedLabels, nodes: Longs) -> tuple[Longs, CSR]:
    """The most frequent labels of these nodes, and a row for each (c, d): its own part, and what all have in common."""
    owner, column, lane, weight = entries(tree, nodes)
    sizes = np.diff(tree.starts)[nodes]
    _, own, _ = groups(tree.starts, nodes)
    home = np.repeat(np.arange(len(nodes)), sizes)
    order = np.lexsort((own, -body.counts[~tree.targets[own]].astype(np.int64), home))
    own = np.sort(own[order[np.arange(len(own)) - (np.cumsum(sizes) - sizes)[home] < MOST_BESIDE]])
    place = np.full(len(tree.targets), -1)
    place[own] = np.arange(len(own))
    child = place[tree.starts[nodes][owner] + lane]
    some = (weight > 0) & (child >= 0)
    rows = _unit(child[some], column[some], weight[some], (len(own), tree.width))
    count = len(body.common.columns)
    everyone = np.repeat(np.arange(len(own)), count)
    shared = np.tile(body.common.columns, len(own)), np.tile(SHARE * body.common.values, len(own))
    return ~tree.targets[own].astype(np.int64), _unit(
        np.concatenate([np.repeat(np.arange(len(own)), np.diff(rows.indptr)), everyone]),
        np.concatenate([rows.indices, shared[0]]),
        np.concatenate([rows.data, shared[1]]),
        (len(own), tree.width),
    )


def _unit(rows: Longs, columns: Ints, values: Floats, shape: tuple[int, int]) -> CSR:
    """Rows of length 1 of the sums of these values."""
    keys, at = np.unique(rows.astype(np.int64) * shape[1] + columns, return_inverse=True)
    sums = np.bincount(at, values.astype(np.float64), minlength=len(keys))
    owner = keys // shape[1]
    lengths = np.sqrt(np.maximum(np.bincount(owner, sums**2, minlength=shape[0]), 1e-30))
    indptr = offsets_of(np.bincount(owner, minlength=shape[0]))
    return CSR(indptr, (keys % shape[1]).astype(np.int32), (sums / lengths[owner]).astype(np.float32), shape[1])


def entries(tree: Chunks, nodes: Longs) -> tuple[Longs, Ints, Array, Floats]:
    """All weights of these nodes: which of the nodes, the column, the child counted from 0, and the weight."""
    parts = []
    for i, v in enumerate(nodes.tolist()):
        first, last, begin, end = tree.firsts[v], tree.firsts[v + 1], tree.begins[v], tree.begins[v + 1]
        sizes = np.diff(np.append(tree.spots[first:last].astype(np.int64), end - begin))
        columns = np.repeat(tree.columns[first:last], sizes)
        weights = tree.values[begin:end].astype(np.float32) * tree.scales[v]
        parts.append((np.full(len(columns), i), columns, tree.lanes[begin:end].astype(np.int64), weights))
    return tuple(np.concatenate([part[i] for part in parts]) for i in range(4))  # type: ignore[return-value]


def rebuilt(tree: Chunks, group: Group, layer: Layer, changed: Bools, k: int) -> Chunks:
    """The tree in which children of a group of nodes whose label has changed have new weights; others keep theirs."""
    lanes = np.arange(len(group.labels)) - np.repeat(group.starts[:-1], np.diff(group.starts))
    owner, column, lane, weight = entries(tree, group.nodes)
    place = np.full(len(tree.targets), -1)
    place[group.at[group.old]] = np.flatnonzero(group.old)
    child = place[tree.starts[group.nodes][owner] + lane]
    kept = ~changed[group.labels[child]]
    fresh_owner = np.repeat(np.arange(len(group.nodes)), np.diff(layer.firsts))
    fresh_child = layer.starts[fresh_owner] + layer.lanes
    fresh = changed[group.labels[fresh_child]]
    every = np.concatenate([child[kept], fresh_child[fresh]])
    owners = np.concatenate([owner[kept], fresh_owner[fresh]])
    columns = np.concatenate([column[kept], layer.columns[fresh]])
    order = np.lexsort((every, columns, owners))
    biases = np.where(changed[group.labels] | ~group.old, layer.biases, tree.biases[group.at])
    begins = offsets_of(np.bincount(owners, minlength=len(group.nodes)))
    values = np.concatenate([weight[kept], layer.values[fresh]])[order]
    parts = Layer(group.starts, begins, columns[order], lanes[every][order], values, biases.astype(np.float32))
    return replace(_spliced(tree, group.nodes, parts, ~group.labels.astype(np.int32)), labels=k)


def _spliced(tree: Chunks, nodes: Longs, parts: Layer, targets: Ints) -> Chunks:
    """The tree in which these nodes have other children and weights."""
    values, scales = _rescaled(tree, nodes, parts)
    counts, columns, spots = columns_of(parts)
    most = max(int(np.diff(tree.starts).max()), int(np.diff(parts.starts).max()))
    kind = tree.lanes.dtype if most <= SMALL_LANES else np.dtype(np.uint16)

    def splice(offsets: Longs, array: Array, own: Longs, fresh: Array) -> Array:
        return _woven(nodes, (offsets, array), (own, fresh))

    all_scales = tree.scales.copy()
    all_scales[nodes] = scales
    return replace(
        tree,
        starts=_lengthened(tree.starts, nodes, parts.starts),
        targets=splice(tree.starts, tree.targets, parts.starts, targets),
        biases=splice(tree.starts, tree.biases, parts.starts, parts.biases),
        firsts=_lengthened(tree.firsts, nodes, counts),
        columns=splice(tree.firsts, tree.columns, counts, columns),
        spots=splice(tree.firsts, tree.spots, counts, spots),
        begins=_lengthened(tree.begins, nodes, parts.firsts),
        lanes=splice(tree.begins, tree.lanes.astype(kind), parts.firsts, parts.lanes.astype(kind)),
        values=splice(tree.begins, tree.values, parts.firsts, values),
        scales=all_scales,
        digests=np.zeros(0, np.uint64),
    )


def _rescaled(tree: Chunks, nodes: Longs, parts: Layer) -> tuple[Array, Floats]:
    """Weights as whole numbers; a node keeps its scale if its weights fit, so that those that stay are the same."""
    most = np.iinfo(tree.values.dtype).max
    sizes = np.diff(parts.firsts)
    largest = np.zeros(len(sizes), np.float32)
    some = np.flatnonzero(sizes)
    if len(some):
        largest[some] = np.maximum.reduceat(np.abs(parts.values), parts.firsts[some])
    scales = np.maximum(tree.scales[nodes], largest / np.float32(most)).astype(np.float32)
    numbers = np.rint(parts.values / np.repeat(scales, sizes)).clip(-most, most)
    return numbers.astype(tree.values.dtype), scales


def _woven(nodes: Longs, old: tuple[Longs, Array], new: tuple[Longs, Array]) -> Array:
    """The parts of an array by node, of which some nodes have new ones."""
    (offsets, array), (own, fresh) = old, new
    parts: list[Array] = []
    at = 0
    for i, v in enumerate(nodes.tolist()):
        parts += [array[at : offsets[v]], fresh[own[i] : own[i + 1]]]
        at = int(offsets[v + 1])
    return np.concatenate([*parts, array[at:]])


def _lengthened(offsets: Longs, nodes: Longs, own: Longs) -> Longs:
    sizes = np.diff(offsets)
    sizes[nodes] = np.diff(own)
    return offsets_of(sizes)


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
