"""Dependency parsing: the best trees of a sentence, with arcs that may cross and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.gallery.drawing import picture
from linnaeus.outputs import ProjectiveTree, SpanningTree
from linnaeus.render.picture import Panel, Tree

if TYPE_CHECKING:
    from linnaeus.types import Doubles, Ints

WORDS = ("I", "saw", "a", "dog", "yesterday", "that", "barked")

SCORES = {
    ("I", "saw"): 9,
    ("saw", ""): 9,
    ("a", "dog"): 9,
    ("dog", "saw"): 8,
    ("yesterday", "saw"): 7,
    ("that", "barked"): 9,
    ("barked", "dog"): 7,
    ("barked", "saw"): 4,
    ("barked", "yesterday"): 2,
    ("yesterday", "dog"): 2,
    ("yesterday", "barked"): 3,
    ("dog", ""): 3,
    ("barked", ""): 2,
}
"""Scores of arcs by dependent and head, set by hand; an empty head is the root, and all other arcs have the score 0."""


def scores() -> Doubles:
    """The scores (n, n+1) by token and head."""
    S, heads = np.zeros((len(WORDS), len(WORDS) + 1)), ("", *WORDS)
    for (word, head), score in SCORES.items():
        S[WORDS.index(word), heads.index(head)] = score
    return S


@picture(columns=2)
def best_trees() -> list[Panel]:
    """The best trees of a sentence.

    Each arc from a head to its dependent has a score, set by hand, and a tree is worth their sum. To the left, the best
    of all trees: the arc from "dog" to "barked" crosses the one from "saw" to "yesterday". To the right, the best tree
    without crossing arcs: "barked" needs another head, and the sum is smaller. A spanning tree algorithm finds the
    first, dynamic programming over stretches of the sentence the second.
    """
    S = scores()
    spanning, projective = (space.decode(S.reshape(-1, 1)) for space in (SpanningTree(), ProjectiveTree()))
    return [
        _panel(S, spanning, projective, "of all trees"),
        _panel(S, projective, spanning, "without crossing arcs"),
    ]


def _panel(S: Doubles, heads: Ints, others: Ints, kind: str) -> Panel:
    """A tree with its scores; the arcs that the other tree does not have stand out."""
    worth = S[np.arange(len(heads)), heads]
    marked = set(np.flatnonzero(heads != others).tolist())
    tree = Tree(WORDS, heads.tolist(), [f"{score:g}" for score in worth], marked, "an arc of this tree only")
    return Panel([tree], f"the best {kind}: {worth.sum():g}")
