"""Training a label tree, level by level from the root down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import CSR
from linnaeus.erm.progress import Phase
from linnaeus.learners.label_tree.chunks import Chunks, Layer, join
from linnaeus.learners.label_tree.outline import clustered, means
from linnaeus.types import Doubles, Ints, Lesson, Longs

if TYPE_CHECKING:
    from linnaeus.learners.label_tree.learner import LabelTree


def grow(learner: LabelTree, lesson: Lesson, seed: int) -> Chunks:
    """The tree of all rows: clustered, then learned level by level."""
    X = lesson.X.to_csr()
    tree = clustered(means(X, lesson.y, lesson.k, lesson.weights), learner.leaf, learner.width, seed)
    layers: list[Layer] = []
    facts = X.width, learner.share, learner.bits
    truth = tree.places(lesson.y)
    costs = lesson.weights / learner.strength
    led = np.empty((len(X), 0), np.int32)
    for number, level in enumerate(tree.levels):
        _tell(lesson, number / len(tree.levels), f"level {number + 1} of {len(tree.levels)}")
        if number:
            led, _ = join(layers, tree.order, facts, partial=True).best(X, learner.led, learner.beam)
        layers.append(learned(learner, X, costs, truth, level, led))
    return join(layers, tree.order, facts)


def learned(
    learner: LabelTree, X: CSR, costs: Doubles, truth: tuple[Longs, Ints], level: tuple[Longs, Longs], led: Ints
) -> Layer:
    """The rankers of one level."""
    kernel = kernels.label_learn_squared_hinge
    by = (learner.least, learner.tol, learner.prior, learner.epochs)
    arrays = X.indptr, X.indices[: X.nnz], np.ascontiguousarray(X.data[: X.nnz], np.float32)
    return Layer(level[0], *kernel(arrays, X.width, costs, truth, level, led, by, kernels.thread_count()))


def _tell(lesson: Lesson, share: float, note: str) -> None:
    if lesson.run is not None and lesson.run.progress is not None:
        lesson.run.progress(Phase("training", share, note))
