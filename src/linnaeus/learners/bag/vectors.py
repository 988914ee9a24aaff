"""Given vectors: those that a table of word vectors has for the names of features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnaeus.arrays.word_table import WordTable
from linnaeus.errors import DataError, UsageError

if TYPE_CHECKING:
    from linnaeus.learners.bag.learner import EmbeddingBag
    from linnaeus.types import Floats, Ints, Lesson


def static_vectors(plan: EmbeddingBag, lesson: Lesson, columns: Ints) -> tuple[Floats, int]:
    """The given vectors of these features (m, h), zeros of those without, and how many of their numbers stay.

    A feature whose name is not a word of the table has a vector if the table makes one from its subwords.
    """
    if plan.lookup == "dynamic":
        return np.zeros((len(columns), 0), np.float32), 0
    if lesson.names is None:
        raise UsageError("Given vectors need features with names, such as Words(terms=Exact()).")
    table = _table(plan.vectors)
    every = lesson.names()
    names = [every[column] for column in columns.tolist()]
    found = np.zeros((len(columns), table.width), np.float32)
    rows = np.array([table.numbers.get(name, -1) for name in names], np.int64)
    found[rows >= 0] = table.vectors[rows[rows >= 0]]
    missing = np.flatnonzero(rows < 0)
    if table.subwords is not None and len(missing):
        there, more = table.subwords.mean([names[i] for i in missing.tolist()])
        found[missing[np.asarray(there, bool)]] = more[np.asarray(there, bool)]
    if not found.any():
        raise DataError("No feature is a word of the given vectors; use single words, and the table of their language.")
    return found, 0 if plan.lookup == "started" else table.width


def _table(vectors: object) -> WordTable:
    if isinstance(vectors, WordTable):
        return vectors
    from linnaeus.features.word_vectors.files import read_vectors

    if not isinstance(vectors, str):
        raise UsageError(f"vectors takes the name of a file or a WordTable, not {vectors!r}.")
    return read_vectors(vectors)
