"""`LabelTree`: a tree of linear rankers over very many labels, as a learner of rows."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus.errors import UsageError, expect, expect_within
from linnaeus.frozen import dataclass
from linnaeus.learners.base import RowLearner, counted
from linnaeus.learners.label_tree.chunks import MOST_LANES
from linnaeus.learners.label_tree.fitted import Common, FittedLabels, by_frequency, ranks_of, relabeled
from linnaeus.learners.label_tree.names import LabelNames
from linnaeus.learners.label_tree.outline import FLAT, SHAPES, USUAL_LEAF
from linnaeus.protocols import LearnsRows
from linnaeus.types import LabelSets, Lesson

COUNTS = {
    "leaf": (0, MOST_LANES),
    "width": (2, MOST_LANES),
    "beam": (1, 1 << 30),
    "led": (1, 1 << 30),
    "epochs": (1, 1 << 30),
    "trees": (1, 100),
}
"""Fields that are whole numbers, and between which ones they lie."""
INTERVALS = {"strength": "[1e-9, 1e9]", "prior": "[0, 1e9]", "share": "[0, 1]", "least": "[0, 1e9]", "tol": "(0, 1e9]"}
"""Fields that are numbers."""


@dataclass(frozen=True, kw_only=True)
class LabelTree(RowLearner):
    """Linear rankers in the nodes of a tree whose leaves are labels; a row goes down in a beam (Parabel, PECOS).

    The `shape` of the tree is "similar": labels are vectors, the means of their rows, and are clustered by balanced
    2-means into groups of about `leaf`; a node has at most `width` nodes below it. With `leaf` as large as the number
    of labels the tree is flat: one ranker for each label; 0: flat up to 1,000 labels, else groups of 64. Each
    child of a node is a binary problem with the squared hinge loss and the penalty strength/2 |w - prior z|^2, z the
    direction of the mean of its rows, over the rows that have a label below the node and those that the level above
    leads there (`led` nodes for each row). Weights below `least` are dropped; the others have 8 or 16 `bits`. In
    prediction `beam` nodes of a level are opened; an inner node counts `share` of a label in the score of a path.
    Several `trees`, from different clusterings, rank by their mean.

    Another shape is a taxonomy: a separator such as "/" or " > ", if the names of labels are paths, or the name of a
    file with the columns child and parent; what has letters or digits is a file. "huffman" puts rare labels deeper
    than frequent ones.

    >>> from linnaeus.arrays import as_rows
    >>> X, y = as_rows([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 3.0]]).to_csr(), np.array([0, 1, 0, 1])
    >>> found = LabelTree().learn(Lesson(X, y, np.ones(4), 2))
    >>> found.best(X, 1)[0].ravel().tolist()
    [0, 1, 0, 1]
    """

    answers: ClassVar[tuple[str, ...]] = ("classes", "sets")
    provides: ClassVar[tuple[type, ...]] = (LearnsRows,)
    tuned: ClassVar[str | None] = "strength"

    shape: str = "similar"
    strength: float = 1.0
    prior: float = 1.0
    leaf: int = 0
    width: int = 256
    beam: int = 10
    led: int = 4
    share: float = 0.5
    least: float = 0.14
    bits: int = 8
    tol: float = 0.3
    epochs: int = 10
    trees: int = 1

    def __post_init__(self) -> None:
        for name, (least, most) in COUNTS.items():
            expect(f"LabelTree({name}=...)", getattr(self, name), int, least, most)
        for name, interval in INTERVALS.items():
            expect_within(f"LabelTree({name}=...)", getattr(self, name), float, interval)
        expect("LabelTree(shape=...)", self.shape, str)
        if not self.shape or (self.trees > 1 and self.shape != "similar"):
            raise UsageError(f'LabelTree(shape=...) is {SHAPES}; several trees are "similar".')
        if self.bits not in (8, 16):
            raise UsageError(f"LabelTree(bits=...) is 8 or 16, not {self.bits}.")

    def leaf_of(self, k: int) -> int:
        """The size of a group of so many labels in all."""
        return self.leaf or (FLAT if k <= FLAT else USUAL_LEAF)

    def learn(self, lesson: Lesson) -> FittedLabels:
        """Learn from rows and their labels, which are numbers."""
        from linnaeus.learners.label_tree.training import grow

        lesson = counted(lesson)
        labels = lesson.y.labels if isinstance(lesson.y, LabelSets) else lesson.y
        counts = np.bincount(labels, minlength=lesson.k).astype(np.int32)
        labels = np.arange(lesson.k) if lesson.labels is None else lesson.labels
        grown = [grow(self, lesson, lesson.seed + number) for number in range(self.trees)]
        common = Common.of(lesson.X.to_csr(), lesson.weights)
        numbers = by_frequency(counts)
        trees = tuple(relabeled(tree, ranks_of(numbers)) for tree, _ in grown)
        names, nodes = LabelNames.of(labels), tuple(grown[0][1])
        return FittedLabels(trees, numbers, names, counts, self.beam, common, nodes=nodes)
