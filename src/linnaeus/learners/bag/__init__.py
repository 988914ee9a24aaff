"""Embedding bags: a vector for each term, pooled over a text, and a linear classifier of the pooled vector.

    learner       EmbeddingBag: the settings, and the problem that they define
    training      batches in a fixed order, early stopping, checkpoints
    lists         the parts that a step looks at, where there are too many to score all: tree paths, drawn classes
    fitted        FittedBag: scores, exact weights of the terms of a row, and its state in a file
    quantization  tables in a few bytes a row: product quantization

To add a way of pooling: its sum in `fitted.POOLS`, and its steps in `kernels/native/bag.cpp` and the twin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.learners.bag.fitted import FittedBag as FittedBag
    from linnaeus.learners.bag.learner import EmbeddingBag as EmbeddingBag

__getattr__, __dir__ = room(__name__)
