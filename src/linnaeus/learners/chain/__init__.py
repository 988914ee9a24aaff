"""Chains: the tags of a sentence are scored and searched together.

    learner      Chain, Greedy, BatchChain
    weights      what they learn
    transitions  how tags follow each other, and the search for the best ones

To add a learner of tags: a frozen dataclass with `learn_tags(lesson)` that gives `ChainWeights`, or another fitted
tagger (`protocols.FittedTagger`) with its own scores of tokens and `Transitions`; a row in `TAG_LEARNERS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.learners.chain.learner import BatchChain as BatchChain
    from linnaeus.learners.chain.learner import Chain as Chain
    from linnaeus.learners.chain.learner import Greedy as Greedy

TAG_LEARNERS = Table(
    __name__, {"chain": "learner.Chain", "batch_chain": "learner.BatchChain", "greedy": "learner.Greedy"}
)
"""Every learner of taggers."""

__getattr__, __dir__ = room(__name__)
