"""Small label trees, rows and levels to learn, for the tests of label trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

KINDS = {
    "LabelSearch8": (np.uint8, np.int8),
    "LabelSearch16": (np.uint8, np.int16),
    "LabelSearchWide8": (np.uint16, np.int8),
    "LabelSearchWide16": (np.uint16, np.int16),
}


def offsets_of(sizes):
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def joined(parts, kind):
    return np.concatenate([np.zeros(0), *parts]).astype(kind)


def make_rows(rng, n, d):
    """Rows with ascending columns, some of them empty; of whole numbers, so that there are ties, or of any."""
    sizes = np.minimum(rng.integers(0, 7, n), d)
    columns = joined([np.sort(rng.permutation(d)[:size]) for size in sizes], np.int32)
    values = rng.integers(-2, 3, sizes.sum()) if rng.random() < 0.5 else rng.normal(size=sizes.sum())
    return offsets_of(sizes), columns, values.astype(np.float32)


class Problem(NamedTuple):
    """What `label_learn_squared_hinge` gets, all but how it is to learn."""

    rows: tuple
    width: int
    costs: np.ndarray
    truth: tuple
    level: tuple
    led: np.ndarray


def make_problem(rng, n, d, k):
    """Rows with no, one or more labels, also several times; led to nodes that are theirs, to others, and nowhere."""
    m = int(rng.integers(1, 4))
    children = m + int(rng.choice([0, 2, 20, 40]))
    level = tuple(
        np.concatenate([[0], np.sort(rng.integers(0, end + 1, count - 1)), [end]]).astype(np.int64)
        for end, count in ((children, m), (k, children))
    )
    labels = [np.sort(rng.integers(0, k, rng.integers(0, 4))) for _ in range(n)]
    truth = offsets_of([len(some) for some in labels]), joined(labels, np.int32)
    led = rng.integers(-1, m, (n, rng.integers(0, 3))).astype(np.int32)
    return Problem(make_rows(rng, n, d), d, rng.choice([0.0, 0.3, 1.0, 7.0], n), truth, level, led)


class Tree(NamedTuple):
    """What a search gets; `facts` are labels, width and share."""

    children: tuple
    columns: tuple
    values: tuple
    digests: np.ndarray
    facts: tuple


def make_tree(rng, m, k, d, kind="LabelSearch8"):
    """A tree of m nodes and k labels below any of them, in any order; some chunks are empty, some columns too."""
    parents = [int(rng.integers(0, v)) for v in range(1, m)]
    below = [np.array([u + 1 for u, parent in enumerate(parents) if parent == v], np.int64) for v in range(m)]
    places = rng.integers(0, m, k)
    targets = []
    for v in range(m):
        every = np.concatenate([below[v], ~np.flatnonzero(places == v)])
        nodes = rng.permutation(len(every)) < len(below[v])
        mixed = np.empty(len(every), np.int64)
        mixed[nodes], mixed[~nodes] = below[v], rng.permutation(every[len(below[v]) :])
        targets.append(mixed)
    starts = offsets_of([len(some) for some in targets])
    biases = rng.choice([-1.0, 0.0, 0.5, 2.0], starts[-1]) if rng.random() < 0.5 else rng.normal(size=starts[-1])
    lanes, values = KINDS[kind]
    names, spots, which, numbers = [], [], [], []
    for some in targets:
        count = int(rng.integers(0, d + 1)) if len(some) and rng.random() < 0.8 else 0
        sizes = rng.integers(0, 5, count)
        names.append(np.sort(rng.permutation(d)[:count]))
        spots.append(offsets_of(sizes)[:-1])
        which.append(rng.integers(0, max(1, len(some)), sizes.sum()))
        numbers.append(rng.integers(np.iinfo(values).min, np.iinfo(values).max + 1, sizes.sum()))
    scales = rng.choice([0.0, 1.0, 1 / 127, 0.003], m).astype(np.float32)
    columns = offsets_of([len(some) for some in names]), joined(names, np.int32), joined(spots, np.uint32)
    chunks = offsets_of([len(some) for some in which]), joined(which, lanes), joined(numbers, values), scales
    share = float(rng.choice([0.0, 0.25, 1.0]))
    return Tree(
        (starts, np.concatenate(targets).astype(np.int32), biases.astype(np.float32)),
        columns,
        chunks,
        np.zeros(0, np.uint64),
        (k, d, share),
    )
