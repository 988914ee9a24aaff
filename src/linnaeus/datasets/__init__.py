"""Labeled text that ships with the package, so that every example runs without a download.

A dataset is one CSV file in this folder with the columns `text`, `label` and `split` (`train` or `test`), and one
function that reads it as a `Corpus`.

To add one: the file, a function here, its row in `DATASETS`, and its checks in `tests/datasets/`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from linnaeus.data import read
from linnaeus.errors import UsageError

if TYPE_CHECKING:
    from linnaeus.data import Corpus

__all__ = ["DATASETS", "intents"]

SPLITS = ("train", "test")


def intents(split: str | None = None) -> Corpus:
    """600 short requests to a voice assistant, each with one of ten intents, in shuffled order.

    `split` is "train" (48 of each intent), "test" (the 12 held out) or None for all of them. The column `split` holds
    the name of the split. Use the dataset for examples and tests, not to compare methods: its texts, including the test
    texts, were revised after a look at the errors of simple models, so its accuracy figures are too high.

    >>> corpus = intents("test")
    >>> len(corpus)
    120
    """
    return _load("intents.csv", split)


def _load(name: str, split: str | None) -> Corpus:
    corpus = read(Path(__file__).with_name(name), text="text", label="label", columns=["split"]).load()
    if split is None:
        return corpus
    if split not in SPLITS:
        raise UsageError(f"split={split!r} is not known; use 'train', 'test' or None for both.")
    parts = [part for batch in corpus.batches() for part in batch.columns["split"].to_pylist()]
    return corpus.take([row for row, part in enumerate(parts) if part == split])


DATASETS = {"intents": intents}
"""Every embedded dataset by name: a function of `split` that returns a `Corpus`."""
