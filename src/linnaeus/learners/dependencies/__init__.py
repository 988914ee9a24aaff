"""Dependency parsers: the tree of a sentence is scored by its arcs and searched as a whole; then its relations.

    learner   Dependencies: how they are learned;  runs   the parts of a training, epoch by epoch
    weights   what is learned, and how it finds trees and relations

To add a learner of trees: a frozen dataclass with `learn_trees(bank, seed, told, kept)` that gives `TreeWeights`, and a
row in `TREE_LEARNERS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.learners.dependencies.learner import Dependencies as Dependencies
    from linnaeus.learners.dependencies.learner import Treebank as Treebank
    from linnaeus.learners.dependencies.weights import TreeWeights as TreeWeights

TREE_LEARNERS = Table(__name__, {"dependencies": "learner.Dependencies"})
"""Every learner of parsers."""

__getattr__, __dir__ = room(__name__)
