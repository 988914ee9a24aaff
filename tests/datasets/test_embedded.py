"""The embedded data set as users get it: a corpus, whole or in its two parts."""

import csv
from collections import Counter
from pathlib import Path

import pytest

import linnaeus
from linnaeus.datasets import DATASETS, intents
from linnaeus.errors import UsageError


def rows(corpus):
    return [
        (text, label)
        for batch in corpus.batches()
        for text, label in zip(batch.text.to_pylist(), batch.labels.to_pylist(), strict=True)
    ]


def test_train_and_test_are_the_whole():
    everything, train, test = rows(intents()), rows(intents("train")), rows(intents("test"))
    assert (len(everything), len(train), len(test)) == (600, 480, 120)
    assert sorted(train + test) == sorted(everything)


def test_labels_are_balanced_in_both_parts():
    assert set(Counter(label for _, label in rows(intents("train"))).values()) == {48}
    assert set(Counter(label for _, label in rows(intents("test"))).values()) == {12}


def test_the_corpus_has_the_rows_of_the_file_in_its_order():
    path = Path(linnaeus.datasets.__file__).with_name("intents.csv")
    with path.open(encoding="utf-8", newline="") as lines:
        assert rows(intents()) == [(row["text"], row["label"]) for row in csv.DictReader(lines)]


def test_every_call_and_every_walk_gives_the_same():
    corpus = intents("train")
    assert rows(corpus) == rows(corpus) == rows(intents("train"))


def test_the_length_is_known():
    assert [len(intents(split)) for split in (None, "train", "test")] == [600, 480, 120]


def test_an_unknown_split_is_one_sentence():
    with pytest.raises(UsageError, match=r"^split='dev' is not known; use 'train', 'test' or None for both\.$"):
        intents("dev")


def test_the_table_names_every_data_set():
    folder = Path(linnaeus.datasets.__file__).parent
    assert set(DATASETS) == {path.stem for path in folder.glob("*.csv")}
    assert all(isinstance(load(), linnaeus.Corpus) for load in DATASETS.values())
