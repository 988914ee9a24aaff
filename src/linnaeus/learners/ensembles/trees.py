"""Decision trees as flat arrays, checked when they are loaded; and those of scikit-learn converted into such arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import CSR, Dense
from linnaeus.arrays.csr import only
from linnaeus.errors import DataError, UsageError, damaged, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.base import RowLearner, counted, values_of
from linnaeus.protocols import Rows
from linnaeus.types import Doubles, Floats, Ints, Lesson, Longs, State

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix
    from sklearn.tree._tree import Tree


WALKS = 1 << 20
"""Rows times trees in one kernel call, so that a program can be interrupted between two calls."""

KINDS = {
    "starts": np.int64,
    "slots": np.int32,
    "feature": np.int32,
    "threshold": np.float32,
    "left": np.int32,
    "right": np.int32,
    "values": np.float32,
}
"""The stored arrays."""


@dataclass(frozen=True, eq=False)
class Trees:
    """T trees over `width` features. The nodes of tree t are `starts[t]` to `starts[t+1]`; the first is its root.

    At an inner node a row goes to `left` where x[`feature`] <= `threshold`, both float32, else to `right`; children
    have larger numbers than their parents. A leaf has the feature -1, and in `left` its row of `values` (m, q), which
    are added to the q score columns from `slots[t]` on. Leaves with equal values share a row.

    >>> stump = Trees(
    ...     width=1,
    ...     starts=np.array([0, 3]),
    ...     slots=np.zeros(1, np.int32),
    ...     feature=np.array([0, -1, -1], np.int32),
    ...     threshold=np.array([0.5, 0, 0], np.float32),
    ...     left=np.array([1, 0, 1], np.int32),
    ...     right=np.array([2, 0, 0], np.int32),
    ...     values=np.array([[-1.0], [1.0]], np.float32),
    ... )
    >>> stump.add(Dense(np.array([[0.0], [1.0]])), np.zeros((2, 1))).tolist()
    [[-1.0], [1.0]]
    """

    width: int
    starts: Longs
    slots: Ints
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.slots)

    @cached_property
    def _asked(self) -> tuple[Ints, Ints]:
        """The features that some node tests, in order, and the features of the nodes as positions among these."""
        columns = np.unique(self.feature[self.feature >= 0])
        places = np.searchsorted(columns, self.feature).astype(np.int32)
        return columns, np.where(self.feature < 0, self.feature, places).astype(np.int32)

    def add(self, X: Rows, out: Doubles) -> Doubles:
        """Add the leaf values of each row to `out` (n, k), tree by tree."""
        if X.shape[1] != self.width:
            raise UsageError(f"These trees have {self.width} features, but the rows have {X.shape[1]}.")
        columns, feature = self._asked
        rows = only(X.to_csr(), columns)
        arrays = self.starts, self.slots, feature, self.threshold, self.left, self.right
        step = max(1, WALKS // max(1, len(self)))
        for at in range(0, len(out), step):
            part = rows.rows_slice(at, at + step).arrays
            kernels.walk_trees(part, arrays, self.values, rows.width, out[at : at + step], kernels.thread_count())
        return out

    def state(self) -> State:
        """The arrays."""
        return State({"width": self.width}, {name: getattr(self, name) for name in KINDS})

    @classmethod
    def from_state(cls, state: State, k: int) -> Trees:
        """Restore the trees, for k score columns; arrays with invalid or cyclic links are refused."""
        arrays: dict[str, Any] = {name: state.tensors.get(name) for name in KINDS}
        for name, kind in KINDS.items():
            axes = 2 if name == "values" else 1
            if arrays[name] is None or arrays[name].dtype != kind or arrays[name].ndim != axes:
                raise damaged(f"the array {name} of its trees is missing or has the wrong type")
        width = state.manifest["width"]
        if not isinstance(width, int) or not 0 <= width < 2**31:
            raise damaged("the number of features of its trees is missing")
        found = cls(width, **{name: np.ascontiguousarray(array) for name, array in arrays.items()})
        _check(found, k)
        return found


def _check(trees: Trees, k: int) -> None:
    starts, nodes = trees.starts, len(trees.feature)
    if any(len(array) != nodes for array in (trees.threshold, trees.left, trees.right)):
        raise damaged("the shapes of the node arrays of its trees do not match")
    if len(starts) != len(trees.slots) + 1 or starts[0] != 0 or starts[-1] != nodes or (np.diff(starts) <= 0).any():
        raise damaged("the node ranges of its trees are not contiguous")
    if len(trees) and (trees.slots.min() < 0 or int(trees.slots.max()) + trees.values.shape[1] > k):
        raise damaged("its trees do not match its classes")
    inner = np.flatnonzero(trees.feature >= 0)
    ends = np.repeat(starts[1:], np.diff(starts))[inner]
    if nodes and (trees.feature.min() < -1 or trees.feature.max() >= trees.width):
        raise damaged("its trees test features that do not exist")
    for children in (trees.left[inner], trees.right[inner]):
        if ((children <= inner) | (children >= ends)).any():
            raise damaged("a node of its trees comes before its parent")
    leaves = trees.left[trees.feature < 0]
    if len(leaves) and not 0 <= leaves.min() <= leaves.max() < len(trees.values):
        raise damaged("a leaf of its trees has no values")
    if not np.isfinite(trees.threshold).all() or not np.isfinite(trees.values).all():
        raise damaged("a number of its trees is not finite")


LARGEST = float(np.finfo(np.float32).max)


class TreeLearner(RowLearner):
    """A learner of trees or stumps; its whole numbers (`trees`, `rounds`, `depth`, `leaf`) are at least 1."""

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets", "numbers")

    def __post_init__(self) -> None:
        for name in ("trees", "rounds", "depth", "leaf"):
            if vars(self).get(name) is not None:  # None means no limit
                expect(name, vars(self)[name], int, 1)


def weighty(lesson: Lesson) -> Lesson:
    """The lesson without rows of weight zero."""
    if not lesson.X.shape[1]:
        raise DataError("The rows have no features; give rows with at least one column.")
    return counted(lesson)


def foreign(X: CSR | Dense) -> Floats | csr_matrix:
    """Rows in the form of scikit-learn's trees: float32, dense, or sparse with 32-bit offsets."""
    values = values_of(X)
    if values.dtype != np.float32 and values.size and max(-values.min(), values.max()) > LARGEST:
        raise DataError("A feature value is beyond the range of float32, which trees use; scale it down.")
    if not isinstance(X, CSR):
        return X.values.astype(np.float32, copy=False)
    if X.nnz > np.iinfo(np.int32).max:
        raise DataError("scikit-learn's trees take at most 2^31 stored values; use fewer rows or features.")
    return X.to_scipy().astype(np.float32, copy=False)


def stakes(lesson: Lesson) -> Doubles | None:
    """The row weights, or None if they are all equal."""
    return None if (lesson.weights == 1).all() else lesson.weights


def planted(grown: Sequence[Tree], leaves: Sequence[Doubles], slots: Sequence[int], width: int) -> Trees:
    """Convert scikit-learn's `tree_` objects with their node values (nodes, q), for columns from `slots` on.

    Nodes are numbered as in scikit-learn, parents first, tree after tree; equal values of leaves are stored once.
    """
    sizes = [tree.node_count for tree in grown]
    starts = np.cumsum([0, *sizes])
    shifts = np.repeat(starts[:-1], sizes)
    left, right, feature, threshold = (
        np.concatenate([getattr(tree, name) for tree in grown])
        for name in ("children_left", "children_right", "feature", "threshold")
    )
    inner = left >= 0
    worth = [_leaf_values(*parts) for parts in zip(grown, leaves, strict=True)]
    firsts = np.cumsum([0, *(len(values) for values, _ in worth)])
    values, rows = np.unique(np.concatenate([values for values, _ in worth]), axis=0, return_inverse=True)
    left = left + shifts
    left[~inner] = np.concatenate([rows[first + own] for first, (_, own) in zip(firsts, worth, strict=False)])
    return Trees(
        width,
        starts,
        np.array(slots, np.int32),
        np.where(inner, feature, -1).astype(np.int32),
        np.where(inner, rounded_down(threshold), np.float32(0)),
        left.astype(np.int32),
        np.where(inner, right + shifts, 0).astype(np.int32),
        values,
    )


def _leaf_values(tree: Tree, worth: Doubles) -> tuple[Floats, NDArray[np.intp]]:
    """The different values of the leaves of a tree (m, q), and the row of each leaf among them."""
    with np.errstate(over="ignore"):
        values = worth[tree.children_left < 0].astype(np.float32)
    if not np.isfinite(values).all():
        raise DataError("The target values are beyond the range of float32, which leaves use; scale them down.")
    return np.unique(values + np.float32(0), axis=0, return_inverse=True)  # + 0: no minus zero


def rounded_down(thresholds: Doubles) -> Floats:
    """The largest float32 that is not above the threshold, so that comparisons of float32 values do not change.

    >>> np.array([0.1]).astype(np.float32).tolist(), rounded_down(np.array([0.1])).tolist()
    ([0.10000000149011612], [0.09999999403953552])
    """
    short = thresholds.astype(np.float32)
    return np.where(short > thresholds, np.nextafter(short, np.float32(-np.inf)), short)
