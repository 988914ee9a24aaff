"""`FittedLabels`: what a label tree has learned: the best labels of rows, and their chances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, fields, replace
from functools import cached_property
from math import isfinite
from typing import ClassVar, NamedTuple

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.errors import ModelFileError, UsageError, damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.base import FittedModel
from linnaeus.learners.label_tree.chances import LOWEST, curved, evidence, uncalibrated
from linnaeus.learners.label_tree.chunks import Chunks
from linnaeus.learners.label_tree.names import LabelNames
from linnaeus.learners.label_tree.packing import packed, unpacked
from linnaeus.protocols import RanksLabels, Rows
from linnaeus.store.blocks import Guard
from linnaeus.store.states import field as entry
from linnaeus.store.states import pack_strings, tensor, unpack_strings
from linnaeus.types import Array, Arrays, Doubles, Floats, Ints, Json, Longs, State, offsets_of

MAPPED = 1 << 25
"""Bytes of weights from which they are stored as they lie in memory, so that a file can be mapped."""
DENSE = 1 << 24
"""Scores of all labels that are given at once."""
MOST_COMMON = 128
"""Columns that are kept of the mean of all rows."""
BORDER = 1.0
"""Is added to scores of all labels: 0 is then that of a label whose ranker says 0, on a path that costs nothing."""
LARGEST = 1 << 31
"""Numbers of labels, nodes and features are smaller."""
LARGEST_SCALE = 1e30
"""Scales of weights are smaller, so that no weight is too large for a float."""


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

    In the trees labels are numbered from frequent to rare, so that of equals the more frequent label is better;
    `numbers` says which label each of these is.

    `beam` nodes of a level are opened for each row. `counts` (k,) are the training rows of each label. Several trees
    rank by the mean of e^score. A label's chance is 1 / (1 + e^-(a s + b r + c)) for its score s and the logarithm r of
    the sum of e^s of the row's other labels; `curve` is (a, b, c), None where none was learned. `threshold` is the
    chance from which a label of a set is predicted, `depth` how many labels of a row are looked at. `nodes` are the
    names of the nodes of a taxonomy, that of the root is empty; `stops` (m, 3) are chances, and the share of wrong
    answers and of answers on held-out rows where one goes down the taxonomy as long as the chance is not lower.
    `guards` are those of a mapped file: they tell that it was cut while it is in use.
    """

    provides: ClassVar[tuple[type, ...]] = (RanksLabels,)

    trees: tuple[Chunks, ...]
    numbers: Ints
    names: LabelNames
    counts: Ints
    beam: int
    common: Common
    curve: tuple[float, float, float] | None = None
    threshold: float = 0.5
    depth: int = 10
    nodes: tuple[str, ...] = ()
    stops: Floats = field(default_factory=lambda: np.zeros((0, 3), np.float32))
    guards: tuple[Guard, ...] = ()

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
        self.ready()
        if rows.width != self.width:
            raise UsageError(f"The label tree has {self.width:,} features, but the rows have {rows.width:,}.")
        count = min(count, self.k)
        if len(self.trees) == 1:
            found = self._ask(self.trees[0], rows, count, beam or self.beam)
        else:
            parts = [self._ask(tree, rows, min(self.k, 2 * count), beam or self.beam) for tree in self.trees]
            found = merged(parts, count)
        labels, scores = found
        return np.where(labels >= 0, self.numbers[labels], -1).astype(np.int32), scores

    def ready(self) -> None:
        """Refuse a file that has been cut since it was opened: its end can no longer be read."""
        for guard in self.guards:
            guard.ready()

    def _ask(self, tree: Chunks, rows: CSR, count: int, beam: int) -> tuple[Ints, Floats]:
        with _checked():
            return tree.best(rows, count, beam)

    def sound(self, node: int) -> Chunks:
        """The first tree, with the labels' own numbers; what it has of this node has been checked."""
        nothing = np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)
        with _checked():
            self.trees[0].search.children(nothing, node)
        return self.labeled[0]

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
        S[row, labels[row, at]] = scores[row, at].astype(np.float64) + BORDER
        return S

    def verify(self) -> None:
        """Check every node of every tree, and every name."""
        self.ready()
        try:
            for tree in self.trees:
                tree.search.check()
        except (RuntimeError, ValueError) as error:
            raise damaged(str(error)) from error
        self.names.verify()
        self._check_labels()

    def _check_labels(self) -> None:
        """That each tree has a path to each label."""
        for tree in self.trees:
            check_paths(tree)
        if not np.array_equal(np.sort(self.numbers), np.arange(self.k)):
            raise damaged("the labels of its tree are not those of its names")

    def whole(self) -> FittedLabels:
        """The same, all of which has been checked, before all of it is used."""
        if any(len(tree.digests) for tree in self.trees):
            self.verify()
        return self

    def __getstate__(self) -> dict[str, object]:
        """Its fields for another process, without the file that they are mapped from."""
        state = {part.name: getattr(self.whole(), part.name) for part in fields(self)}
        return {**state, "guards": ()}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    @cached_property
    def labeled(self) -> tuple[Chunks, ...]:
        """The trees with the labels' own numbers; all of their paths can be followed."""
        if any(len(tree.digests) for tree in self.trees):
            self._check_labels()
        return tuple(relabeled(tree, self.numbers) for tree in self.trees)

    @cached_property
    def homes(self) -> tuple[Longs, Longs]:
        """The node of each label in the first tree, and the node above each node; -1 above the root."""
        tree = self.labeled[0]
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
        large = self.whole().nbytes >= MAPPED
        manifest: dict[str, Json] = {
            "kind": "label_tree",
            "beam": self.beam,
            "depth": self.depth,
            "threshold": self.threshold,
            "curve": None if self.curve is None else list(self.curve),
            "trees": [{"width": tree.width, "share": tree.share, "mapped": large} for tree in self.trees],
        }
        tensors = {**self.names.tensors(), "counts": self.counts, "numbers": self.numbers}
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
        if counts is None or counts.dtype != np.int32 or counts.shape != (len(names),) or counts.min() < 0:
            raise damaged("the rows of its labels are not counted")
        trees, curve = entry(state.manifest, "trees", list), state.manifest.get("curve")
        if not trees or (curve is not None and (len(curve) != 3 or not all(map(_finite, curve)))):
            raise damaged("it has no label tree, or no curve of chances")
        found = tuple(_tree(one, number, state.tensors, len(names)) for number, one in enumerate(trees))
        if len({tree.width for tree in found}) > 1:
            raise damaged("its label trees are of different features")
        beam, depth = entry(state.manifest, "beam", int), entry(state.manifest, "depth", int)
        if not _whole(beam) or not _whole(depth) or min(beam, depth) < 1:
            raise damaged("its beam is no number of nodes")
        threshold = entry(state.manifest, "threshold", float)
        if not _finite(threshold):
            raise damaged("its threshold is no chance")
        columns, values = (tensor(state.tensors, f"common.{name}", kind) for name, kind in KEPT.items())
        common = Common(columns, values)
        if len(common.columns) != len(common.values) or not _inside(common.columns, found[0].width):
            raise damaged("what its rows have in common does not fit its features")
        stops, nodes = state.tensors.get("stops"), list[str]()
        if stops is None or stops.dtype != np.float32 or stops.ndim != 2 or stops.shape[1] != 3:
            raise damaged("where its label tree stops is missing")
        if "nodes.offsets" in state.tensors:
            nodes = unpack_strings("nodes", state.tensors)
            if len(nodes) != len(found[0].scales):
                raise damaged("the names of its nodes do not fit its label tree")
        chances = None if curve is None else tuple(curve)
        guards = tuple(guard for name, guard in state.guards.items() if not name.startswith("names."))
        numbers = _numbers(state.tensors, len(names))
        more = chances, threshold, depth, tuple(nodes), stops, guards
        model = cls(found, numbers, names, counts, beam, common, *more)
        if not any(len(tree.digests) for tree in found):
            model._check_labels()
        return model


@contextmanager
def _checked() -> Iterator[None]:
    """Say what to do where a search finds a damaged node."""
    try:
        yield
    except RuntimeError as error:
        raise ModelFileError(f"The label tree is damaged: {error}; restore the file from a copy.") from error


KEPT: dict[str, type[np.generic]] = {"columns": np.int32, "values": np.float32}
"""The parts of what rows have in common."""
WHEN_USED = ("columns", "spots", "lanes", "values")
"""Parts of a mapped tree that are checked node by node, by the digests of its nodes."""


def checked_later(manifest: Mapping[str, Json]) -> list[str]:
    """The tensors of a mapped tree that are checked when they are used; of a small one none."""
    trees = manifest.get("trees")
    numbers = range(len(trees)) if isinstance(trees, list) else range(0)
    mapped = [i for i in numbers if isinstance(trees[i], dict) and trees[i].get("mapped") is True]  # type: ignore[index]
    names = ["names.bytes", "names.offsets"] if mapped else []
    return [*names, *(f"{i}.{name}" for i in mapped for name in WHEN_USED)]


def _finite(value: Json) -> bool:
    return type(value) is float and isfinite(value)


def _whole(value: Json) -> bool:
    return type(value) is int and 0 <= value < LARGEST


def _numbers(tensors: Mapping[str, Array], k: int) -> Ints:
    """Which label each number of a tree is: all of them, each once."""
    numbers = tensor(tensors, "numbers", np.int32)
    if len(numbers) != k or numbers.min(initial=0) < 0 or numbers.max(initial=0) >= k:
        raise damaged("the labels of its tree are not those of its names")
    return numbers


def by_frequency(counts: Ints) -> Ints:
    """The labels from frequent to rare; of equals the lower number."""
    return np.argsort(-counts.astype(np.int64), kind="stable").astype(np.int32)


def relabeled(tree: Chunks, numbers: Ints) -> Chunks:
    """The tree in which label l is called `numbers[l]`."""
    leaves = tree.targets < 0
    targets = tree.targets.copy()
    targets[leaves] = ~numbers[~tree.targets[leaves]]
    return replace(tree, targets=targets)


def ranks_of(numbers: Ints) -> Ints:
    """The place of each label among these."""
    ranks = np.empty(len(numbers), np.int32)
    ranks[numbers] = np.arange(len(numbers), dtype=np.int32)
    return ranks


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


def _tree(about: Mapping[str, Json], number: int, tensors: Mapping[str, Array], k: int) -> Chunks:
    """One tree of a file. A small one is checked as a whole; of a mapped one each node when it is first used."""
    width, share = about["width"], float(entry(about, "share", float))
    own = {name.removeprefix(f"{number}."): a for name, a in tensors.items() if name.startswith(f"{number}.")}
    parts = {name: _vector(own, name) for name in KINDS}
    mapped = entry(about, "mapped", bool)
    _check_rising(parts["starts"], len(parts["targets"]))
    if mapped:
        columns, spots = tensor(own, "columns", np.int32), tensor(own, "spots", np.uint32)
        digests = tensor(own, "digests", np.uint64)
    else:
        for name, size in (("firsts", None), ("begins", len(parts["lanes"]))):
            _check_rising(parts[name], size)
        columns, spots = unpacked(own, parts["firsts"], parts["begins"])
        digests = np.zeros(0, np.uint64)
    if not _whole(width) or not 0 <= share <= 1 or not (np.abs(parts["scales"]) < LARGEST_SCALE).all():
        raise damaged("its label tree has an impossible size")
    tree = Chunks(**parts, columns=columns, spots=spots, labels=k, width=width, share=share, digests=digests)
    try:
        tree.search if mapped else tree.search.check()
    except (RuntimeError, ValueError) as error:
        raise damaged(str(error)) from error
    return tree


def check_paths(tree: Chunks) -> None:
    """That each node but the root has one parent, before it, and each label one place; no node has both below it."""
    sizes, inner = np.diff(tree.starts), tree.targets >= 0
    owner = np.repeat(np.arange(len(sizes)), sizes)
    nodes, labels = tree.targets[inner], ~tree.targets[~inner]
    outside = not np.array_equal(nodes, np.arange(1, len(sizes))) or bool((nodes <= owner[inner]).any())
    outside = outside or len(labels) != tree.labels or bool(labels.max() >= tree.labels)
    if outside or (np.bincount(labels, minlength=tree.labels) != 1).any():
        raise damaged("a child of its label tree leads outside of it, or back")
    below = np.bincount(owner[inner], minlength=len(sizes))
    if ((below > 0) & (below < sizes)).any():
        raise damaged("a node of its label tree leads to labels and to nodes")


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
