"""Rows through decision trees: the kernel against its twin, and arrays that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import reference

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])


def grow(rng, depth, width, start, leaves):
    """The nodes of a random tree, parents first: feature, threshold, left, right."""
    nodes = []

    def add(left_over):
        at = len(nodes)
        nodes.append(None)
        if left_over == 0 or rng.random() < 0.2:
            nodes[at] = (-1, 0.0, int(rng.integers(leaves)), 0)
        else:
            feature, threshold = int(rng.integers(width)), float(rng.choice([-1, 0, 0.5, 1]))
            first = add(left_over - 1)
            nodes[at] = (feature, threshold, start + first, start + add(left_over - 1))
        return at

    add(depth)
    return nodes


def make(seed, count=4, width=6, shape=(5, 2), k=3):
    """Trees that fit: the tuple that the kernel takes, and the values of leaves."""
    rng = np.random.default_rng(seed)
    starts, nodes = [0], []
    for _ in range(count):
        nodes += grow(rng, 5, width, len(nodes), shape[0])
        starts.append(len(nodes))
    feature, threshold, left, right = zip(*nodes, strict=True) if nodes else ((), (), (), ())
    slots = rng.integers(0, k - shape[1] + 1, count)
    arrays = [np.array(part, np.int32) for part in (slots, feature, left, right)]
    trees = np.array(starts, np.int64), arrays[0], arrays[1], np.array(threshold, np.float32), arrays[2], arrays[3]
    return trees, rng.normal(size=shape).astype(np.float32)


def sparse(seed, n, width, dtype):
    rng = np.random.default_rng(seed)
    X = rng.choice([-1.0, 0, 0, 0, 0.5, 1, 2], (n, width))
    row, column = np.nonzero(X)
    indptr = np.searchsorted(row, np.arange(n + 1)).astype(np.int64)
    return (indptr, column.astype(np.int32), X[row, column].astype(dtype)), X


def by_hand(X, trees, values, k):
    """Row by row, node by node."""
    starts, slots, feature, threshold, left, right = trees
    out = np.zeros((len(X), k))
    for i, x in enumerate(X):
        for t, slot in enumerate(slots):
            at = starts[t]
            while feature[at] >= 0:
                at = left[at] if x[feature[at]] <= threshold[at] else right[at]
            out[i, slot : slot + values.shape[1]] += values[left[at]]
    return out


@given(st.integers(0, 10_000), st.integers(0, 9), st.sampled_from([np.float32, np.float64]), st.integers(1, 4))
def test_the_kernel_has_the_bits_of_its_twin_and_of_a_walk_by_hand(seed, n, dtype, threads):
    (trees, values), (rows, X) = make(seed, count=seed % 6), sparse(seed, n, 6, dtype)
    ours, theirs = np.zeros((n, 3)), np.zeros((n, 3))
    kernels.walk_trees(rows, trees, values, 6, ours, threads)
    reference.walk_trees(rows, trees, values, 6, theirs, 1)
    assert ours.tobytes() == theirs.tobytes() == by_hand(X, trees, values, 3).tobytes()


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_many_rows_have_the_same_bits_for_any_number_of_threads(threads):
    (trees, values), (rows, _) = make(3, count=60), sparse(5, 5000, 6, np.float32)
    ours, theirs = np.ones((5000, 3)), np.ones((5000, 3))
    kernels.walk_trees(rows, trees, values, 6, ours, threads)
    reference.walk_trees(rows, trees, values, 6, theirs, 1)
    assert ours.tobytes() == theirs.tobytes()


@each_side
def test_a_value_on_the_threshold_goes_left_as_a_float32(side):
    trees = (
        np.array([0, 3]),
        np.array([0], np.int32),
        np.array([0, -1, -1], np.int32),
        np.array([np.float32(0.1), 0, 0], np.float32),
        np.array([1, 0, 1], np.int32),
        np.array([2, 0, 0], np.int32),
    )
    rows = np.arange(3), np.zeros(2, np.int32), np.array([0.1, np.nextafter(np.float32(0.1), np.float32(1))])
    out = np.zeros((2, 1))
    side.walk_trees(rows, trees, np.array([[1], [2]], np.float32), 1, out, 1)
    assert out.tolist() == [[1], [2]]


def changed(trees, part, at, value):
    arrays = [array.copy() for array in trees]
    arrays[part][at] = value
    return tuple(arrays)


@each_side
@pytest.mark.parametrize(
    ("part", "at", "value", "sentence"),
    [
        (0, 0, 1, "fit together"),
        (0, 1, 0, "fit together"),
        (0, -1, 99, "fit together"),
        (1, 0, -1, "fit together"),
        (1, 0, 2, "fit together"),
        (2, 0, 9, "feature"),
        (4, 0, 0, "child"),
        (4, 0, 99, "child"),
        (4, 0, -1, "child"),
        (4, 1, 7, "leaf"),
        (4, 1, -1, "leaf"),
    ],
)
def test_trees_that_lead_astray_are_refused(side, part, at, value, sentence):
    trees = (
        np.array([0, 3]),
        np.array([0], np.int32),
        np.array([0, -1, -1], np.int32),
        np.array([0.5, 0, 0], np.float32),
        np.array([1, 0, 1], np.int32),
        np.array([2, 0, 0], np.int32),
    )
    rows = np.array([0, 0]), np.zeros(0, np.int32), np.zeros(0, np.float32)
    with pytest.raises(ValueError, match=sentence):
        side.walk_trees(rows, changed(trees, part, at, value), np.ones((2, 2), np.float32), 3, np.zeros((1, 3)), 1)


@each_side
def test_rows_that_do_not_fit_are_refused(side):
    trees, values = make(0)
    rows = np.array([0, 1]), np.array([6], np.int32), np.ones(1, np.float32)
    with pytest.raises(ValueError, match="column"):
        side.walk_trees(rows, trees, values, 6, np.zeros((1, 3)), 1)
    with pytest.raises(ValueError, match="result"):
        side.walk_trees(rows, trees, values, 7, np.zeros((2, 3)), 1)
    with pytest.raises(ValueError, match="fit together"):
        side.walk_trees(rows, (*trees[:3], trees[3][:-1], *trees[4:]), values, 7, np.zeros((1, 3)), 1)
