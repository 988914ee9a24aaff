"""A parser on real sentences, with true tags: what two passes reach that learn from a part of the training set."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pyarrow.parquet as pq
import pytest

from linnaeus.data.sentences import Sentences
from linnaeus.features.arcs import Arcs
from linnaeus.learners.dependencies import Dependencies, Treebank
from linnaeus.types import Heads

COLUMNS = ("lemmas", "upos", "xpos", "feats")


def read(folder, part, most):
    if not (folder / f"{part}.parquet").exists():
        pytest.skip(f"no {folder.name} here")
    table = pq.read_table(folder / f"{part}.parquet").slice(0, most).to_pydict()
    sentences = Sentences.from_lists(table["tokens"], columns={name: table[name] for name in COLUMNS})
    heads, relations = (list(chain.from_iterable(table[name])) for name in ("heads", "relations"))
    return sentences, np.array(heads, np.int32), np.array(relations)


def test_heads_and_relations(real_data):
    folder = real_data / "ud_english_ewt_trees"
    (train, heads, relations), (dev, true_heads, true_relations) = (
        read(folder, "train", 3000),
        read(folder, "dev", None),
    )
    names, numbers = np.unique(relations, return_inverse=True)
    features = Arcs(bits=18, relation_bits=14).fit(train)
    y = Heads.of(np.diff(train.offsets), heads)
    bank = Treebank(features, train, y, numbers.astype(np.int32), len(names))
    found = Dependencies(epochs=4, rate=0.02).learn_trees(bank).parse(features, dev)
    right = found.heads == true_heads
    assert right.mean() >= 0.84
    assert (right & (names[found.relations] == true_relations)).mean() >= 0.8
