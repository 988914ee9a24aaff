"""Nearest neighbors and nearest centroid: prediction from the nearest training rows or class centers.

`Neighbors` keeps the training rows. Its parts are a metric, a search (how near rows are found: `SEARCHES`), votes (the
weight of each neighbor: `VOTES`) and an optional learned projection (`PROJECTIONS`). `Centroid` keeps one center for
each class, and is linear. Scores measure closeness: larger is nearer.

To add a search: a frozen dataclass with `index(rows, metric, seed)`, whose index has `near(X, count)` and `state()`; a
`restore(state, rows, metric)` that checks every number it will follow; a row in `SEARCHES`, and the contract tests in
`tests/learners/neighbors/test_searches.py` run over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.learners.neighbors.centroid import Centroid as Centroid
    from linnaeus.learners.neighbors.centroid import FittedCentroid as FittedCentroid
    from linnaeus.learners.neighbors.components import Components as Components
    from linnaeus.learners.neighbors.exact import Exact as Exact
    from linnaeus.learners.neighbors.graph import Graph as Graph
    from linnaeus.learners.neighbors.hashing import Hyperplanes as Hyperplanes
    from linnaeus.learners.neighbors.hashing import MinHash as MinHash
    from linnaeus.learners.neighbors.learner import FittedNeighbors as FittedNeighbors
    from linnaeus.learners.neighbors.learner import Neighbors as Neighbors
    from linnaeus.learners.neighbors.trees import BallTree as BallTree
    from linnaeus.learners.neighbors.trees import KDTree as KDTree
    from linnaeus.learners.neighbors.votes import ByDistance as ByDistance
    from linnaeus.learners.neighbors.votes import Kernel as Kernel
    from linnaeus.learners.neighbors.votes import Plain as Plain


METRICS = ("cosine", "euclidean", "inner")
"""The metrics: cosine of the angle, Euclidean distance, inner product."""

SEARCHES = Table(
    "linnaeus.learners.neighbors",
    {
        "exact": "exact.Exact",
        "kdtree": "trees.KDTree",
        "balltree": "trees.BallTree",
        "graph": "graph.Graph",
        "hyperplanes": "hashing.Hyperplanes",
        "minhash": "hashing.MinHash",
    },
)
"""The searches for the nearest rows, by name."""

VOTES = Table(
    "linnaeus.learners.neighbors", {"plain": "votes.Plain", "distance": "votes.ByDistance", "kernel": "votes.Kernel"}
)
"""The weightings of the neighbors' votes, by name."""

PROJECTIONS = Table("linnaeus.learners.neighbors", {"components": "components.Components"})
"""The learned projections, by name."""


__getattr__, __dir__ = room(__name__)
