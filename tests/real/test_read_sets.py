"""Public data sets are read as their papers describe them."""

import pytest

from linnaeus.data import join, read

SETS = [
    ("imdb/train.parquet", 25_000, "one", 2),
    ("newsgroups20/train.parquet", 11_314, "one", 20),
    ("langid75/train.parquet", 59_308, "one", 75),
    ("goemotions/train.parquet", 43_410, "many", 28),
    ("corpus_imdb_unsup/train.parquet", 50_000, "none", 0),
]


@pytest.mark.parametrize(("name", "rows", "kind", "classes"), SETS, ids=[case[0] for case in SETS])
def test_rows_kinds_and_classes(real_data, name, rows, kind, classes):
    corpus = read(real_data / name)
    assert (len(corpus), corpus.kind, len(corpus.classes)) == (rows, kind, classes)


def test_batches_of_any_size_are_the_same_rows(real_data):
    path = real_data / "langid75" / "test.parquet"
    assert join(list(read(path, batch_rows=777).batches())) == read(path).batch()


def test_a_stratified_split_of_many_classes(real_data):
    corpus = read(real_data / "newsgroups20" / "train.parquet").load()
    _, test = corpus.split(0.1, seed=1)
    whole, part = corpus.labels.to_pylist(), test.labels.to_pylist()
    assert all(abs(part.count(label) - whole.count(label) / 10) < 1 for label in corpus.classes)
