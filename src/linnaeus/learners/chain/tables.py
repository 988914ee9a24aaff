"""Pieces of taggers by their plain names, each imported when it is first asked for."""

from __future__ import annotations

from linnaeus.lazy import Table

TAG_LEARNERS = Table(
    "linnaeus.learners.chain",
    {"chain": "learner.Chain", "batch_chain": "learner.BatchChain", "greedy": "learner.Greedy"},
)
"""Every learner of taggers."""

TEMPLATES = Table(
    "linnaeus.features.tokens",
    {
        "templates": "templates.Templates",
        "window": "templates.Window",
        "pair": "templates.Pair",
        "part": "templates.Part",
        "clusters": "clusters.Clusters",
        "gazetteer": "gazetteer.Gazetteer",
    },
)
"""The pieces of templates, and of the columns they look at."""
