"""The result of a learner of trees: float32 weights of arcs and relations, and how they parse sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.data.sentences import Sentences
from linnaeus.errors import damaged
from linnaeus.features.arcs.table import ArcCodes, ArcTable, Tree
from linnaeus.frozen import dataclass
from linnaeus.learners.base import FittedModel
from linnaeus.outputs.trees import ProjectiveTree, SpanningTree
from linnaeus.types import Doubles, Floats, Ints, Longs, State

if TYPE_CHECKING:
    from linnaeus.features.arcs.fitted import FittedArcs

KIND = "dependencies"
PARTS = ("first", "second", "relations")
LARGEST_WEIGHT = 1e12
"""Sums over the features and arcs of a sentence stay below 2^61, where the numbers of `wide.hpp` end."""
BATCH = 4096
"""Tokens of the sentences that are worked on together: scores of all their arcs are in memory."""
SPACES = {"projective": (0, ProjectiveTree()), "spanning": (1, SpanningTree())}
"""Spaces of trees with their numbers in the kernels: without crossing arcs, and with them."""


@dataclass(frozen=True, eq=False)
class TreeWeights(FittedModel):
    """Weights of the arcs in the first pass (d,) and in the second (d,), or none; those of relations (d, k).

    A second pass sees the tree and the relations that the first one found. Relations are found for the last tree, one
    by one. `space` is "projective" or "spanning".
    """

    first: Floats
    second: Floats
    relations: Floats
    space: str = "projective"

    @property
    def k(self) -> int:
        """The number of relations."""
        return int(self.relations.shape[1])

    def fits(self, features: FittedArcs, k: int) -> bool:
        """Whether these are weights of these features and so many relations."""
        second = features.second.width if features.second.templates else 0
        widths = (len(self.first), len(self.second), self.relations.shape)
        return k > 0 and widths == (features.first.width, second, (features.relations.width, k))

    def parse(self, features: FittedArcs, sentences: Sentences) -> Tree:
        """The heads and the relations of all tokens."""
        return joined(self._parsed(features, part) for part in batches(sentences))

    def _parsed(self, features: FittedArcs, sentences: Sentences) -> Tree:
        coded, scores = self._scored(features, sentences)
        return self._related(features, sentences, self._trees(coded, scores))

    def scores(self, features: FittedArcs, sentences: Sentences) -> Doubles:
        """The score of each arc in the last pass, n (n+1) for a sentence of n tokens, token after token."""
        found = [self._scored(features, part)[1] for part in batches(sentences)]
        return np.concatenate([np.zeros(0), *found])

    def marginals(self, features: FittedArcs, sentences: Sentences) -> Doubles:
        """The probability of each arc in the last pass, in the same order."""
        space, found = SPACES[self.space][1], []
        for part in batches(sentences):
            coded, scores = self._scored(features, part)
            found.append(space.marginals(scores[:, None], coded.arc_offsets)[:, 0])
        return np.concatenate([np.zeros(0), *found])

    def guide(self, features: FittedArcs, sentences: Sentences) -> Tree | None:
        """The tree and relations of the first pass, which the second one sees; None where there is one pass only."""
        if not len(self.second):
            return None
        coded = features.first.coded(sentences)
        heads = self._trees(coded, features.first.scores(coded, self.first))
        return self._related(features, sentences, heads)

    def guides(self, features: FittedArcs, sentences: Sentences) -> Tree:
        """The same for any number of sentences; there must be two passes."""
        return joined(tree for part in batches(sentences) if (tree := self.guide(features, part)) is not None)

    def relation_scores(self, features: FittedArcs, sentences: Sentences, heads: Ints) -> Doubles:
        """The score of each relation (m, k) of each token, in a tree that is known."""
        coded = features.relations.coded(sentences, Tree(heads))
        return relation_scores(features.relations, coded, heads, self.relations)

    def last_pass(self, features: FittedArcs, sentences: Sentences) -> tuple[ArcTable, Floats, Tree | None]:
        """The features and weights of the last pass, and the tree that it sees."""
        guide = self.guide(features, sentences)
        return (features.first, self.first, None) if guide is None else (features.second, self.second, guide)

    def widened(self, at: Longs, k: int) -> TreeWeights:
        """The same weights among k relations, of which those known so far are the ones `at`; others have zeros."""
        relations = np.zeros((len(self.relations), k), np.float32)
        relations[:, at] = self.relations
        return replace(self, relations=relations)

    def _scored(self, features: FittedArcs, sentences: Sentences) -> tuple[ArcCodes, Doubles]:
        """Codes and scores of the last pass."""
        table, W, guide = self.last_pass(features, sentences)
        coded = table.coded(sentences, guide)
        return coded, table.scores(coded, W)

    def _trees(self, coded: ArcCodes, scores: Doubles) -> Ints:
        return SPACES[self.space][1].decode(scores[:, None], coded.arc_offsets)

    def _related(self, features: FittedArcs, sentences: Sentences, heads: Ints) -> Tree:
        return Tree(heads, self.relation_scores(features, sentences, heads).argmax(axis=1).astype(np.int32))

    def state(self) -> State:
        """Manifest and tensors."""
        tensors = {"first": self.first, "second": self.second, "relations": self.relations}
        return State({"kind": KIND, "space": self.space}, tensors)

    @classmethod
    def from_state(cls, state: State) -> TreeWeights:
        """The weights again; those that a kernel could not take are refused."""
        if state.manifest.get("kind") != KIND or state.manifest.get("space") not in SPACES:
            raise damaged("its space of trees is unknown")
        parts = {name: _checked(state, name, 2 if name == "relations" else 1) for name in PARTS}
        return cls(**parts, space=str(state.manifest["space"]))


def _checked(state: State, name: str, dims: int) -> Floats:
    """The weights of this name."""
    part = state.tensors.get(name)
    if part is None or part.dtype != np.float32 or part.ndim != dims:
        raise damaged(f"its weights {name!r} are not a table of float32")
    if not np.isfinite(part).all():
        raise damaged("a weight is not a number")
    if part.size and max(part.max(), -part.min()) > LARGEST_WEIGHT:
        raise damaged(f"a weight is larger than {LARGEST_WEIGHT:g}, and scores of trees would overflow")
    return np.ascontiguousarray(part)


def batches(sentences: Sentences) -> Iterator[Sentences]:
    """Sentences in pieces, whose arcs fit into memory."""
    return sentences.batches(BATCH)


def relation_scores(table: ArcTable, coded: ArcCodes, heads: Ints, W: Floats) -> Doubles:
    """The score of each relation (m, k) of the arcs of these heads."""
    indptr, indices = table.columns_of(coded, heads)
    found = np.empty((len(indptr) - 1, W.shape[1]))
    rows = indptr, indices, np.ones(len(indices), np.float32)
    kernels.rows_dot(rows, W, found, kernels.thread_count())
    return found


def joined(trees: Iterable[Tree]) -> Tree:
    """The trees of all pieces, one after the other."""
    parts, empty = list(trees), np.zeros(0, np.int32)
    heads = np.concatenate([empty, *(tree.heads for tree in parts)])
    return Tree(heads, np.concatenate([empty, *(relations_of(tree) for tree in parts)]))


def relations_of(tree: Tree) -> Ints:
    """The relations of a tree that has them."""
    assert tree.relations is not None
    return tree.relations
