"""Label trees: linear rankers in the nodes of a tree whose leaves are labels; for very many labels.

learner    `LabelTree`, the settings
outline    the shape of a tree: labels clustered by the means of their texts, or a taxonomy
training   rankers, level by level from the root down
chunks     the weights of a node's children: sparse, in 8 or 16 bits, one chunk for all of them
packing    the same in fewer bytes, for small files
names      the labels' names, which are read one by one
taxonomy   trees of a given shape
updating   labels that are added, removed or learned again
placing    where new labels of a taxonomy go
chances    from scores to chances
fitted     `FittedLabels`: the best labels of rows, their chances, and why

A row goes down the tree in a beam (`kernels/native/label_search.cpp`). With one level the tree is flat: one ranker for
each label, still sparse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.learners.label_tree.fitted import FittedLabels as FittedLabels
    from linnaeus.learners.label_tree.learner import LabelTree as LabelTree


__getattr__, __dir__ = room(__name__)
