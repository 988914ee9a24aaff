"""`LabelTree`: a tree of linear rankers over very many labels, as a learner of rows."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linnaeus.errors import UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.learners.base import RowLearner, counted
from linnaeus.learners.label_tree.fitted import Common, FittedLabels
from linnaeus.learners.label_tree.names import LabelNames
from linnaeus.protocols import LearnsRows
from linnaeus.types import LabelSets, Lesson

LEAST = {"leaf": 1, "width": 2, "beam": 1, "led": 1, "epochs": 1, "trees": 1}
NUMBERS = {"prior": True, "share": True, "least": True, "strength": False, "tol": False}
"""Fields that are numbers, and whether they may be zero."""


@dataclass(frozen=True, kw_only=True)
class LabelTree(RowLearner):
    """Linear rankers in the nodes of a tree whose leaves are labels; a row goes down in a beam (Parabel, PECOS).

    The `shape` of the tree is "similar": labels are vectors, the means of their rows, and are clustered by balanced 2-means into groups of about `leaf`; a
    node has at most `width` nodes below it. With `leaf` as large as the number of labels the tree is flat: one ranker
    for each label. Each child of a node is a binary problem with the squared hinge loss and the penalty
    strength/2 |w - prior z|^2, z the direction of the mean of its rows, over the rows that have a label below the node
    and those that the level above leads there (`led` nodes for each row). Weights below `least` are dropped; the others
    have 8 or 16 `bits`. In prediction `beam` nodes of a level are opened; an inner node counts `share` of a label in
    the score of a path. Several `trees`, from different clusterings, rank by their mean.

    Another shape is a taxonomy: a separator such as "/", if the names of labels are paths, or the name of a file with
    the columns child and parent. "huffman" puts rare labels deeper than frequent ones.

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
    leaf: int = 64
    width: int = 256
    beam: int = 10
    led: int = 8
    share: float = 0.25
    least: float = 0.1
    bits: int = 8
    tol: float = 0.1
    epochs: int = 20
    trees: int = 1

    def __post_init__(self) -> None:
        expect("LabelTree(shape=...)", self.shape, str)
        if not self.shape or (self.trees > 1 and self.shape != "similar"):
            raise UsageError('LabelTree(shape=...) is "similar", "huffman", a separator or a file; several trees are "similar".')
        for name, least in LEAST.items():
            expect(f"LabelTree({name}=...)", getattr(self, name), int, least=least)
        for name, zero in NUMBERS.items():
            value = getattr(self, name)
            expect(f"LabelTree({name}=...)", value, float)
            if not (0 <= value < np.inf and (value > 0 or zero)):
                raise UsageError(f"LabelTree({name}=...) is a {'' if zero else 'positive '}number, not {value}.")
        if self.share > 1:
            raise UsageError(f"LabelTree(share=...) is at most 1, not {self.share}.")
        if self.bits not in (8, 16):
            raise UsageError(f"LabelTree(bits=...) is 8 or 16, not {self.bits}.")

    def learn(self, lesson: Lesson) -> FittedLabels:
        """Learn from rows and their labels, which are numbers."""
        from linnaeus.learners.label_tree.training import grow

        lesson = counted(lesson)
        labels = lesson.y.labels if isinstance(lesson.y, LabelSets) else lesson.y
        counts = np.bincount(labels, minlength=lesson.k).astype(np.int32)
        labels = np.arange(lesson.k) if lesson.labels is None else lesson.labels
        grown = [grow(self, lesson, lesson.seed + number) for number in range(self.trees)]
        common = Common.of(lesson.X.to_csr(), lesson.weights)
        trees, nodes = tuple(tree for tree, _ in grown), tuple(grown[0][1])
        return FittedLabels(trees, LabelNames.of(labels), counts, self.beam, common, nodes=nodes)
