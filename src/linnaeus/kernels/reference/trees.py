"""Twin of trees.cpp: rows through decision trees."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from linnaeus.kernels.reference.rows import Rows, outside, refuse, stored
from linnaeus.types import Doubles, Floats, Ints, Longs

Trees: TypeAlias = tuple[Longs, Ints, Ints, Floats, Ints, Ints]
"""Where each tree starts, the first column of its values; feature, threshold, left and right of each node."""


CELLS = 1 << 22
"""Numbers of a dense block of rows."""


def walk_trees(rows: Rows, trees: Trees, values: Floats, width: int, out: Doubles, _threads: int) -> None:
    """Add to `out` (n, k) the values of the leaves that each row comes to, tree by tree.

    A row goes left where x[feature] <= threshold, else right; a leaf has the feature -1, and its values in row `left`.
    """
    row, columns, data = stored(rows, "walk_trees")
    if not 0 <= width <= 2**31 or len(out) != max(len(rows[0]) - 1, 0):
        raise ValueError("walk_trees: the result does not fit the rows")
    _check(trees, values, out.shape[1])
    refuse(outside(columns, width), "walk_trees: a column is outside the rows")
    step = max(1, CELLS // max(1, width))
    with np.errstate(over="ignore"):
        short = data.astype(np.float32)
    for start in range(0, len(out), step):
        here = slice(*np.searchsorted(row, [start, start + step]))
        X = np.zeros((min(step, len(out) - start), width), np.float32)
        X[row[here] - start, columns[here]] = short[here]
        for t, slot in enumerate(trees[1]):
            out[start : start + step, slot : slot + values.shape[1]] += values[_leaves(trees, t, X, len(values))]


def _leaves(trees: Trees, t: int, X: Floats, leaves: int) -> Ints:
    """The row of the values that each row of X comes to in tree t."""
    starts, _, feature, threshold, left, right = trees
    at = np.full(len(X), starts[t])
    while (going := np.flatnonzero(feature[at] >= 0)).size:
        here = at[going]
        refuse((feature[here] >= X.shape[1]).any(), "walk_trees: a feature is outside the rows")
        below = X[going, feature[here]] <= threshold[here]
        following = np.where(below, left[here], right[here])
        if ((following <= here) | (following >= starts[t + 1])).any():
            raise ValueError("walk_trees: a child is not behind its parent")
        at[going] = following
    found: Ints = left[at]
    refuse(outside(found, leaves), "walk_trees: a leaf has no values")
    return found


def _check(trees: Trees, values: Floats, k: int) -> None:
    starts, slots, *nodes = trees
    fits = len(starts) == len(slots) + 1 and len({len(array) for array in nodes}) == 1
    fits = fits and starts[0] == 0 and starts[-1] == len(nodes[0]) and bool((np.diff(starts) > 0).all())
    if not fits or (slots < 0).any() or (slots.astype(np.int64) + values.shape[1] > k).any():
        raise ValueError("walk_trees: the trees do not fit together")
