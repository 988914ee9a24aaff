"""Labeled text that ships with the package, so that every example runs without a download.

A dataset is one CSV file in this folder with the columns `text`, `label` and `split` (`train` or `test`), and one
function that reads it as a `Corpus`.

To add one: the file, a function in `embedded.py`, its row in `DATASETS`, and its checks in `tests/datasets/`.
"""

from linnaeus.datasets.embedded import intents

DATASETS = {"intents": intents}
"""Every embedded dataset by name: a function of `split` that returns a `Corpus`."""

__all__ = ["DATASETS", "intents"]
