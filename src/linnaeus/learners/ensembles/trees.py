"""Decision trees as flat arrays: storage, checks and evaluation."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import Dense
from linnaeus.arrays.present import only
from linnaeus.errors import UsageError, damaged
from linnaeus.frozen import dataclass
from linnaeus.types import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Floats, Ints, Longs

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
        given: Any = X.to_csr() if isinstance(X, Dense) else X
        rows = only(given, columns)
        arrays = self.starts, self.slots, feature, self.threshold, self.left, self.right
        step = max(1, WALKS // max(1, len(self)))
        for at in range(0, len(out), step):
            part: Any = rows.rows_slice(at, at + step)
            some = out[at : at + step]
            kernels.walk_trees(part.arrays, arrays, self.values, rows.width, some, kernels.thread_count())
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


def join(parts: list[Trees]) -> Trees:
    """Concatenate the trees of all parts, over the same features; equal values are stored once."""
    first = parts[0]
    starts = np.cumsum([0] + [int(part.starts[-1]) for part in parts])
    values, rows = np.unique(np.concatenate([part.values for part in parts]), axis=0, return_inverse=True)
    lines = np.cumsum([0] + [len(part.values) for part in parts])
    left = [_moved(part, starts[i], rows[lines[i] :]) for i, part in enumerate(parts)]
    return Trees(
        first.width,
        np.concatenate([[0], *(part.starts[1:] + start for part, start in zip(parts, starts, strict=False))]),
        np.concatenate([part.slots for part in parts]),
        np.concatenate([part.feature for part in parts]),
        np.concatenate([part.threshold for part in parts]),
        np.concatenate(left),
        np.concatenate([np.where(p.feature < 0, 0, p.right + s) for p, s in zip(parts, starts, strict=False)]).astype(
            np.int32
        ),
        values,
    )


def _moved(part: Trees, start: int, rows: NDArray[np.intp]) -> Ints:
    """`left` with nodes shifted by `start`, and leaves pointing to these rows of values."""
    found = part.left + start
    leaves = part.feature < 0
    found[leaves] = rows[part.left[leaves]]
    return found.astype(np.int32)
