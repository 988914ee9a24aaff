"""Label trees of a given shape: a taxonomy of the user's, by paths or by parents, and Huffman's by frequency."""

from __future__ import annotations

import csv
import heapq
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from linnaeus.errors import DataError, LinnaeusWarning, UsageError
from linnaeus.learners.label_tree.outline import SHAPES, Outline, outline
from linnaeus.types import Ints, Longs

DEEPEST = 64
"""Levels of a taxonomy."""
WIDEST = 1 << 16
"""Children of a node."""

Steps = tuple[str, ...]
"""The names of the nodes above a label, from the top down."""


def is_separator(shape: str) -> bool:
    """Whether this stands between the parts of names: it has no letters and digits. Otherwise it names a file.

    >>> [is_separator(shape) for shape in ("/", " > ", "::", "topics.csv")]
    [True, True, True, False]
    """
    return not any(sign.isalnum() for sign in shape)


def by_separator(names: Sequence[str], separator: str) -> list[Steps]:
    """The nodes above labels whose names are paths.

    >>> by_separator(["pets/dogs/poodle", "cars"], "/")
    [('pets', 'pets/dogs'), ()]
    """
    found = []
    for name in names:
        parts = name.split(separator)
        found.append(tuple(separator.join(parts[:i]) for i in range(1, len(parts))))
    return found


def by_parents(names: Sequence[str], parents: Mapping[str, str]) -> list[Steps]:
    """The nodes above labels, by the parent of each label and node; one without a parent is at the top.

    >>> by_parents(["poodle", "van"], {"poodle": "dogs", "dogs": "pets"})
    [('pets', 'dogs'), ()]
    """
    found = []
    for name in names:
        steps: list[str] = []
        at = name
        while at in parents:
            at = parents[at]
            steps.append(at)
            if len(steps) > DEEPEST:
                raise DataError(f"The taxonomy leads from {name!r} up more than {DEEPEST} levels, or in a circle.")
        found.append(tuple(reversed(steps)))
    return found


def read_parents(path: str) -> dict[str, str]:
    """The parent of each name, from a file with two columns, child and parent, with commas (.csv) or tabs.

    A name with several parents keeps the first, so that the taxonomy is a tree; this is said in a warning.
    """
    parents: dict[str, str] = {}
    more = 0
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, delimiter="," if str(path).endswith(".csv") else "\t")
            for number, row in enumerate(rows, 1):
                if not row or (number == 1 and [part.strip().lower() for part in row] == ["child", "parent"]):
                    continue
                if len(row) != 2 or not row[0] or not row[1]:
                    raise DataError(f"{path}, line {number}: a taxonomy has two columns, child and parent.")
                more += parents.setdefault(row[0], row[1]) != row[1]
    except FileNotFoundError as error:
        raise UsageError(f"There is no file {path!r}; LabelTree(shape=...) is {SHAPES}.") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"Cannot read the taxonomy {path}: {error}.") from error
    if more:
        said = f"{more:,} rows of {path} give a name a second parent; the first one is kept, so that there is a tree"
        warnings.warn(said, LinnaeusWarning, stacklevel=2)
    return parents


def steps_above(shape: str, names: Sequence[str]) -> list[Steps]:
    """The nodes above labels in the taxonomy that `LabelTree(shape=...)` asks for."""
    if is_separator(shape):
        return by_separator(names, shape)
    return by_parents(names, read_parents(shape))


def below_themselves(names: Sequence[str], steps: Sequence[Steps], nodes: Iterable[str] = ()) -> list[Steps]:
    """The nodes above labels, where a label that is a node, too, stands below that node.

    >>> below_themselves(["pets", "pets/dogs"], [(), ("pets",)])
    [('pets',), ('pets',)]
    """
    inner = {step for above in steps for step in above}.union(nodes)
    return [(*above, name) if name in inner else above for name, above in zip(names, steps, strict=True)]


def by_frequency(counts: Longs, width: int) -> list[Steps]:
    """The nodes above labels in Huffman's tree: the rarest `width` labels or nodes are joined, again and again.

    >>> by_frequency(np.array([8, 1, 1, 1]), 2)
    [(), ('1', '0'), ('1', '0'), ('1',)]
    """
    k = len(counts)
    heap = [(count, number) for number, count in enumerate(counts.tolist())]
    heapq.heapify(heap)
    parents: dict[int, int] = {}
    node = k
    first = 2 + (k - 2) % (width - 1) if width > 2 and k > width else min(width, k)  # so that the root is full
    while len(heap) > 1:
        size = first if node == k else width
        joined = [heapq.heappop(heap) for _ in range(min(size, len(heap)))]
        parents.update((number, node) for _, number in joined)
        heapq.heappush(heap, (sum(count for count, _ in joined), node))
        node += 1
    return [_above(label, parents, k) for label in range(k)]


def _above(label: int, parents: Mapping[int, int], k: int) -> Steps:
    steps = []
    at = parents.get(label)
    while at is not None and at in parents:
        steps.append(str(at - k))
        at = parents[at]
    return tuple(reversed(steps))


def shaped(names: Sequence[str], steps: Sequence[Steps]) -> tuple[Outline, list[list[str]]]:
    """The outline of labels with these nodes above them, and the names of the nodes of each level below the root.

    All labels are equally deep: where one is nearer to the root, its last node is repeated.
    """
    own = below_themselves(names, steps)
    depth = max((len(above) for above in own), default=0)
    if depth > DEEPEST:
        raise DataError(f"The taxonomy has {depth} levels; at most {DEEPEST} are possible.")
    ends = [above[-1] if above else name for name, above in zip(names, own, strict=True)]
    padded = [above + (end,) * (depth - len(above)) for above, end in zip(own, ends, strict=True)]
    order = sorted(range(len(names)), key=lambda i: (padded[i], names[i]))
    groups, told = [], []
    for level in range(1, depth + 1):
        keys = [padded[i][:level] for i in order]
        cuts = [0] + [i for i in range(1, len(keys)) if keys[i] != keys[i - 1]] + [len(keys)]
        groups.append(np.array(cuts, np.int64))
        told.append([keys[cut][-1] for cut in cuts[:-1]])
    tree = outline(np.array(order, np.int32), groups)
    widest = max(int(np.diff(starts).max()) for starts, _ in tree.levels)
    if widest > WIDEST:
        raise DataError(f"A node of the taxonomy has {widest:,} children; at most {WIDEST:,} are possible.")
    return tree, told


def given(shape: str, names: Sequence[str], counts: Ints, width: int) -> tuple[Outline, list[list[str]]]:
    """The outline that `LabelTree(shape=...)` asks for."""
    if shape == "huffman":
        return shaped(names, by_frequency(counts.astype(np.int64), width))[0], []
    return shaped(names, steps_above(shape, names))
