"""Training a label tree, level by level from the root down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus import kernels
from linnaeus.arrays import CSR
from linnaeus.erm.progress import Phase
from linnaeus.errors import DataError
from linnaeus.learners.label_tree.chunks import Chunks, Layer, join
from linnaeus.learners.label_tree.outline import USUAL_LEAF, Outline, clustered, means
from linnaeus.learners.label_tree.taxonomy import given
from linnaeus.types import Doubles, Ints, LabelSets, Lesson, Longs

if TYPE_CHECKING:
    from linnaeus.learners.label_tree.learner import LabelTree


def grow(learner: LabelTree, lesson: Lesson, seed: int) -> tuple[Chunks, list[str]]:
    """The tree of all rows, learned level by level, and the names of its nodes if they have any."""
    X = lesson.X.to_csr()
    tree, nodes = shape(learner, lesson, X, seed)
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
    return join(layers, tree.order, facts), nodes


def shape(learner: LabelTree, lesson: Lesson, X: CSR, seed: int) -> tuple[Outline, list[str]]:
    """The outline of the tree, and the names of its nodes, from the root on; empty where they have none."""
    if learner.shape == "similar":
        vectors = means(X, lesson.y, lesson.k, lesson.weights)
        return clustered(vectors, learner.leaf_of(lesson.k), learner.width, seed), []
    labels = lesson.y.labels if isinstance(lesson.y, LabelSets) else lesson.y
    names = [str(name) for name in (range(lesson.k) if lesson.labels is None else lesson.labels.tolist())]
    counts = np.bincount(labels, minlength=lesson.k).astype(np.int32)
    tree, told = given(learner.shape, names, counts, learner.leaf or USUAL_LEAF)
    return tree, ["", *(name for level in told for name in level)] if told else []


def learned(
    learner: LabelTree, X: CSR, costs: Doubles, truth: tuple[Longs, Ints], level: tuple[Longs, Longs], led: Ints
) -> Layer:
    """The rankers of one level."""
    kernel = kernels.label_learn_squared_hinge
    by = (learner.least, learner.tol, learner.prior, learner.epochs)
    arrays = X.indptr, X.indices[: X.nnz], np.ascontiguousarray(X.data[: X.nnz], np.float32)
    try:
        return Layer(level[0], *kernel(arrays, X.width, costs, truth, level, led, by, kernels.thread_count()))
    except (ValueError, OverflowError) as error:
        raise DataError(f"A label tree cannot be learned: {str(error).removeprefix('label_learn: ')}.") from error


def _tell(lesson: Lesson, share: float, note: str) -> None:
    if lesson.run is not None and lesson.run.progress is not None:
        lesson.run.progress(Phase("training", share, note))
