"""Rows that are held out together: a text in the training part tells the answer to its copy in the held-out part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Longs

SHARE = 0.1
"""A text with more than this share of the rows of a part may be spread over the parts."""
FEW, SMALL = 20, 0.1
"""But not one with so few rows, as long as they are no larger share than this of all rows."""
MANY = 0.1
"""The share of rows that have a text in common with another, from which texts that occur once are judged apart."""


def kept_together(keys: NDArray[Any] | None, groups: Longs | None, part: float) -> Longs | None:
    """A group for each row: rows with equal keys, and rows of one given group, are in the same one; None: all differ.

    `part` is how many rows are held out at a time. Keys of very many rows ("yes" in dialogs) join nothing: new data
    will hold these texts too, and one part could not take them. Where keys would join given groups to more than a part,
    the most frequent ones join nothing either.

    >>> kept_together(np.array([7, 8, 7, 9]), None, part=20).tolist()
    [0, 1, 0, 2]
    >>> kept_together(np.array([7, 8, 7, 9]), np.array([0, 0, 1, 2]), part=20).tolist()
    [0, 0, 0, 1]
    """
    if keys is None:
        return groups
    _, text, counts = np.unique(keys, return_inverse=True, return_counts=True)
    most = max(part * SHARE, min(FEW, len(keys) * SMALL))
    if groups is None:
        joins = _joins(text, counts, most)
        return _numbered(np.where(joins, text, len(counts) + np.arange(len(text)))) if joins.any() else None
    owner = np.unique(groups, return_inverse=True)[1]
    bound = max(part, float(np.bincount(owner).max()))
    while (joins := _joins(text, counts, most)).any():
        found = _components(owner, text, joins)
        if np.bincount(found).max() <= bound:
            return _numbered(found)
        most /= 2
    return groups


def repeated(keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether another row has the key of this one.

    >>> repeated(np.array([7, 8, 7])).tolist()
    [True, False, True]
    """
    _, text, counts = np.unique(keys, return_inverse=True, return_counts=True)
    several: NDArray[np.bool_] = counts[text] > 1
    return several


def _joins(text: Longs, counts: Longs, most: float) -> NDArray[np.bool_]:
    """Whether the key of a row joins it with others."""
    joins: NDArray[np.bool_] = ((counts > 1) & (counts <= most))[text]
    return joins


def _components(owner: Longs, text: Longs, joins: NDArray[np.bool_]) -> Longs:
    """The component of each row, where groups and the keys that join them are the nodes."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    nodes = int(owner.max()) + 1
    size = nodes + int(text.max()) + 1
    edges = (owner[joins], nodes + text[joins])
    graph = coo_matrix((np.ones(int(joins.sum()), np.int8), edges), shape=(size, size))
    return connected_components(graph, directed=False)[1][owner].astype(np.int64)


def _numbered(values: Longs) -> Longs:
    """Numbers from 0, in the order in which the values first occur."""
    _, first, codes = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[codes]
