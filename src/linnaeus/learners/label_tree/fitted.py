"""`FittedLabels`: what a label tree has learned: the best labels of rows, and their chances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.errors import ModelFileError, UsageError, damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.base import FittedModel
from linnaeus.learners.label_tree.chunks import Chunks
from linnaeus.learners.label_tree.names import LabelNames
from linnaeus.learners.label_tree.packing import packed, unpacked
from linnaeus.protocols import RanksLabels, Rows
from linnaeus.store.states import field as entry
from linnaeus.store.states import pack_strings, tensor, unpack_strings
from linnaeus.types import Array, Arrays, Doubles, Floats, Ints, Json, Longs, State, offsets_of

MAPPED = 1 << 25
"""Bytes of weights from which they are stored as they lie in memory, so that a file can be mapped."""
DENSE = 1 << 24
"""Scores of all labels that are given at once."""
MOST_COMMON = 2048
"""Columns that are kept of the mean of all rows."""
LOWEST = -1e4
"""The score of a label that the search has not come to."""


class Common(NamedTuple):
    """What rows have in common: the direction of their mean, as columns and values; an update learns against it."""

    columns: Ints
    values: Floats

    @classmethod
    def of(cls, X: CSR, weights: Doubles) -> Common:
        """The largest values of the mean of these rows."""
        mean = X.tdot(weights)
        columns = np.sort(np.argsort(-np.abs(mean), kind="stable")[:MOST_COMMON])
        columns = columns[mean[columns] != 0]
        length = float(np.sqrt((mean[columns] ** 2).sum())) or 1.0
        return cls(columns.astype(np.int32), (mean[columns] / length).astype(np.float32))


@dataclass(frozen=True, eq=False)
class FittedLabels(FittedModel):
    """Trees of rankers over k labels, and a curve from scores to chances.

    `beam` nodes of a level are opened for each row. `counts` (k,) are the training rows of each label. Several trees
    rank by the mean of e^score. A label's chance is 1 / (1 + e^-(a s + b r + c)) for its score s and the logarithm r of
    the sum of e^s of the row's other labels; `curve` is (a, b, c), None where no rows were held out. `threshold` is the
    chance from which a label of a set is predicted, `depth` how many labels of a row are looked at. `nodes` are the
    names of the nodes of a taxonomy, that of the root is empty; `stops` (m, 3) are chances, and the share of wrong
    answers and of answers on held-out rows where one goes down the taxonomy as long as the chance is not lower.
    """

    provides: ClassVar[tuple[type, ...]] = (RanksLabels,)

    trees: tuple[Chunks, ...]
    names: LabelNames
    counts: Ints
    beam: int
    common: Common
    curve: tuple[float, float, float] | None = None
    threshold: float = 0.5
    depth: int = 10
    nodes: tuple[str, ...] = ()
    stops: Floats = field(default_factory=lambda: np.zeros((0, 3), np.float32))

    @property
    def k(self) -> int:
        """The number of labels."""
        return len(self.names)

    @property
    def width(self) -> int:
        """The number of features."""
        return self.trees[0].width

    def best(self, rows: CSR, count: int, beam: int | None = None) -> tuple[Ints, Floats]:
        """The best labels of each row, best first, and their scores (n, count); -1 where there are no more."""
        if rows.width != self.width:
            raise UsageError(f"The label tree has {self.width:,} features, but the rows have {rows.width:,}.")
        count = min(count, self.k)
        if len(self.trees) == 1:
            return self._ask(self.trees[0], rows, count, beam or self.beam)
        found = [self._ask(tree, rows, min(self.k, 2 * count), beam or self.beam) for tree in self.trees]
        return merged(found, count)

    def _ask(self, tree: Chunks, rows: CSR, count: int, beam: int) -> tuple[Ints, Floats]:
        try:
            return tree.best(rows, count, beam)
        except RuntimeError as error:
            raise ModelFileError(f"The label tree is damaged: {error}; restore the file from a copy.") from error

    def chances(self, scores: Floats) -> Doubles:
        """The chance of each of a row's best labels to be right (n, count), from their scores."""
        if self.curve is None:
            return uncalibrated(scores)
        return curved(evidence(scores), self.curve)

    def scores(self, X: Rows) -> Doubles:
        """Scores of all labels (n, k), by a beam as wide as the tree; for few labels only."""
        rows = X.to_csr()
        if len(rows) * self.k > DENSE:
            raise UsageError(f"Scores of all {self.k:,} labels of {len(rows):,} rows are too many; ask for the best.")
        S = np.full((len(rows), self.k), LOWEST)
        labels, scores = self.best(rows, self.k, beam=max(len(tree.scales) for tree in self.trees))
        row, at = np.nonzero(labels >= 0)
        S[row, labels[row, at]] = scores[row, at]
        return S

    def verify(self) -> None:
        """Check every node of every tree, and every name."""
        try:
            for tree in self.trees:
                tree.search.check()
        except (RuntimeError, ValueError) as error:
            raise damaged(str(error)) from error
        if self.names.others is None and (np.diff(self.names.offsets) < 0).any():
            raise damaged("the names of its labels do not fit their bytes")

    @cached_property
    def homes(self) -> tuple[Longs, Longs]:
        """The node of each label in the first tree, and the node above each node; -1 above the root."""
        tree = self.trees[0]
        owner = np.repeat(np.arange(len(tree.scales)), np.diff(tree.starts))
        leaves, homes, above = tree.targets < 0, np.zeros(self.k, np.int64), np.full(len(tree.scales), -1)
        homes[~tree.targets[leaves]] = owner[leaves]
        above[tree.targets[~leaves]] = owner[~leaves]
        return homes, above

    @cached_property
    def nbytes(self) -> int:
        """Bytes of the weights."""
        return sum(array.nbytes for tree in self.trees for array in _weights(tree).values())

    def state(self) -> State:
        """Trees, names, counts and the curve."""
        large = self.nbytes >= MAPPED
        manifest: dict[str, Json] = {
            "kind": "label_tree",
            "beam": self.beam,
            "depth": self.depth,
            "threshold": self.threshold,
            "curve": None if self.curve is None else list(self.curve),
            "trees": [{"width": tree.width, "share": tree.share, "mapped": large} for tree in self.trees],
        }
        tensors = {**self.names.tensors(), "counts": self.counts}
        tensors |= {"common.columns": self.common.columns, "common.values": self.common.values, "stops": self.stops}
        if self.nodes:
            tensors |= pack_strings("nodes", self.nodes)
        for number, tree in enumerate(self.trees):
            tensors |= {f"{number}.{name}": array for name, array in _tensors(tree, large).items()}
        return State(manifest, tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedLabels:
        """The same from its stored state; nodes of a mapped file are checked when they are first used."""
        names, counts = LabelNames.restored(state.tensors, state.guards), state.tensors.get("counts")
        if counts is None or counts.dtype != np.int32 or counts.shape != (len(names),):
            raise damaged("the rows of its labels are not counted")
        trees, curve = entry(state.manifest, "trees", list), state.manifest.get("curve")
        if not trees or (curve is not None and (len(curve) != 3 or not all(type(one) is float for one in curve))):
            raise damaged("it has no label tree, or no curve of chances")
        found = tuple(_tree(one, number, state.tensors, len(names)) for number, one in enumerate(trees))
        if len({tree.width for tree in found}) > 1:
            raise damaged("its label trees are of different features")
        beam, depth = entry(state.manifest, "beam", int), entry(state.manifest, "depth", int)
        if beam < 1 or depth < 1:
            raise damaged("its beam is no number of nodes")
        threshold = float(entry(state.manifest, "threshold", float))
        common = Common(tensor(state.tensors, "common.columns", np.int32), tensor(state.tensors, "common.values", np.float32))
        if len(common.columns) != len(common.values) or not _inside(common.columns, found[0].width):
            raise damaged("what its rows have in common does not fit its features")
        stops, nodes = state.tensors.get("stops"), ()
        if stops is None or stops.dtype != np.float32 or stops.ndim != 2 or stops.shape[1] != 3:
            raise damaged("where its label tree stops is missing")
        if "nodes.offsets" in state.tensors:
            nodes = tuple(unpack_strings("nodes", state.tensors))
            if len(nodes) != len(found[0].scales):
                raise damaged("the names of its nodes do not fit its label tree")
        more = {"nodes": nodes, "stops": stops}
        return cls(found, names, counts, beam, common, None if curve is None else tuple(curve), threshold, depth, **more)


WHEN_USED = ("targets", "biases", "columns", "spots", "lanes", "values")
"""Parts of a mapped tree that are checked node by node, by the digests of its nodes."""


def checked_later(manifest: Mapping[str, Json]) -> list[str]:
    """The tensors of a mapped tree that are checked when they are used; of a small one none."""
    trees = manifest.get("trees")
    numbers = range(len(trees)) if isinstance(trees, list) else range(0)
    mapped = [i for i in numbers if isinstance(trees[i], dict) and trees[i].get("mapped") is True]
    names = ["names.bytes", "names.offsets"] if mapped else []
    return [*names, *(f"{i}.{name}" for i in mapped for name in WHEN_USED)]


def _inside(columns: Ints, width: int) -> bool:
    """Whether these columns rise and are features."""
    return not len(columns) or bool(columns[0] >= 0 and columns[-1] < width and (np.diff(columns) > 0).all())


def _weights(tree: Chunks) -> Arrays:
    names = ("starts", "targets", "biases", "firsts", "columns", "spots", "begins", "lanes", "values", "scales")
    return {name: getattr(tree, name) for name in names}


def _tensors(tree: Chunks, large: bool) -> Arrays:
    tensors = _weights(tree)
    if large:
        return {**tensors, "digests": tree.search.digests()}
    columns = packed(tree.firsts, tensors.pop("columns"), tree.begins, tensors.pop("spots"), len(tree.lanes))
    return {**tensors, **columns}


KINDS: dict[str, tuple[type[np.generic], ...]] = {
    "starts": (np.int64,),
    "targets": (np.int32,),
    "biases": (np.float32,),
    "firsts": (np.int64,),
    "begins": (np.int64,),
    "lanes": (np.uint8, np.uint16),
    "values": (np.int8, np.int16),
    "scales": (np.float32,),
}


def _tree(about: Json, number: int, tensors: Mapping[str, Array], k: int) -> Chunks:
    """One tree of a file. A small one is checked as a whole; of a mapped one each node when it is first used."""
    width, share = entry(about, "width", int), float(entry(about, "share", float))
    own = {name.removeprefix(f"{number}."): a for name, a in tensors.items() if name.startswith(f"{number}.")}
    parts = {name: _vector(own, name) for name in KINDS}
    mapped = entry(about, "mapped", bool)
    if mapped:
        columns, spots = tensor(own, "columns", np.int32), tensor(own, "spots", np.uint32)
        digests = tensor(own, "digests", np.uint64)
    else:
        for name, size in (("firsts", None), ("begins", len(parts["lanes"]))):
            _check_rising(parts[name], size)
        columns, spots = unpacked(own, parts["firsts"], parts["begins"])
        digests = np.zeros(0, np.uint64)
    if not 0 <= width <= np.iinfo(np.int32).max or not 0 <= share <= 1:
        raise damaged("its label tree has an impossible size")
    tree = Chunks(**parts, columns=columns, spots=spots, labels=k, width=width, share=share, digests=digests)
    try:
        tree.search if mapped else tree.search.check()
    except (RuntimeError, ValueError) as error:
        raise damaged(str(error)) from error
    return tree


def _vector(tensors: Mapping[str, Array], name: str) -> Array:
    array = tensors.get(name)
    if array is None or array.ndim != 1 or array.dtype.type not in KINDS[name]:
        raise damaged(f"{name!r} of its label tree is missing, or of another type")
    return array


def _check_rising(offsets: Longs, size: int | None) -> None:
    wrong = not len(offsets) or offsets[0] != 0 or (np.diff(offsets) < 0).any()
    if wrong or (size is not None and offsets[-1] != size):
        raise damaged("the nodes of its label tree do not fit their arrays")


def merged(found: list[tuple[Ints, Floats]], count: int) -> tuple[Ints, Floats]:
    """The best labels by the mean of e^score over trees; a tree that does not find a label adds nothing for it."""
    labels = np.concatenate([part for part, _ in found], axis=1)
    shares = np.concatenate([np.exp(scores.astype(np.float64)) for _, scores in found], axis=1) / len(found)
    n = len(labels)
    row, at = np.nonzero(labels >= 0)
    k = int(labels.max(initial=0)) + 1
    keys, inverse = np.unique(row * k + labels[row, at], return_inverse=True)
    sums = np.bincount(inverse, shares[row, at], minlength=len(keys))
    owner, label = np.divmod(keys, k)
    order = np.lexsort((label, -sums, owner))
    begins = offsets_of(np.bincount(owner, minlength=n))
    place = np.arange(len(order)) - begins[owner[order]]
    some = place < count
    best, scores = np.full((n, count), -1, np.int32), np.full((n, count), -np.inf, np.float32)
    best[owner[order][some], place[some]] = label[order][some]
    with np.errstate(divide="ignore"):
        scores[owner[order][some], place[some]] = np.log(sums[order][some])
    return best, scores


# Chances


def evidence(scores: Floats) -> tuple[Doubles, Doubles]:
    """The score of each of a row's best labels, and the logarithm of the sum of e^s of the others."""
    S = np.maximum(scores.astype(np.float64), LOWEST)
    E = np.exp(S)
    with np.errstate(divide="ignore"):
        rest = np.log(np.maximum(E.sum(axis=1, keepdims=True) - E, 1e-12))
    return S, rest


def curved(parts: tuple[Doubles, Doubles], curve: tuple[float, float, float]) -> Doubles:
    """Chances by a curve."""
    S, rest = parts
    a, b, c = curve
    return 1.0 / (1.0 + np.exp(-np.clip(a * S + b * rest + c, -500, 500)))


def uncalibrated(scores: Floats) -> Doubles:
    """Shares of e^score among a row's best labels."""
    E = np.exp(np.maximum(scores.astype(np.float64), LOWEST))
    return E / np.maximum(E.sum(axis=1, keepdims=True), 1e-300)


ROUNDS = 50
RIDGE = 1e-3


def learn_curve(scores: Floats, right: Array, weights: Doubles) -> tuple[float, float, float]:
    """The curve under which `right`, whether each of the best labels of held-out rows is true, is most likely.

    Logistic regression by Newton's method, with a slight penalty.
    """
    S, rest = evidence(scores)
    there = np.isfinite(scores)
    X = np.stack([S[there], rest[there], np.ones(int(there.sum()))], axis=1)
    y, w = right[there].astype(np.float64), np.repeat(weights[:, None], scores.shape[1], axis=1)[there]
    theta = np.array([1.0, 0.0, 0.0])
    for _ in range(ROUNDS):
        p = 1.0 / (1.0 + np.exp(-np.clip(X @ theta, -500, 500)))
        slope = X.T @ (w * (p - y)) + RIDGE * theta
        bend = (X * (w * p * (1 - p))[:, None]).T @ X + RIDGE * np.eye(3)
        step = np.linalg.solve(bend, slope)
        theta = theta - step
        if np.abs(step).max() < 1e-9:
            break
    a, b, c = theta.tolist()
    return a, b, c


def learn_threshold(chances: Doubles, right: Array, sizes: Longs) -> float:
    """The chance from which a label of a set is predicted: with it micro-F1 on held-out rows is best."""
    order = np.argsort(-chances.reshape(-1), kind="stable")
    hits = np.cumsum(right.reshape(-1)[order])
    scores = 2 * hits / (np.arange(1, len(order) + 1) + max(1, int(sizes.sum())))
    return float(chances.reshape(-1)[order][int(scores.argmax())])


