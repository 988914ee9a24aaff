"""In compatibility mode the matrices are scikit-learn's: same vocabulary and counts, weights to float32 rounding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from linnaeus import kernels
from linnaeus.features import Chars, Words
from linnaeus.text import Normalize

LOWER = Normalize(form=None, case="lower")
SETS = ["newsgroups20", "imdb", "langid75"]
pytestmark = [pytest.mark.slow, pytest.mark.native]


def recipe(kind: str, values: str, length: str | None) -> Words | Chars:
    if kind == "words":
        return Words(ngrams=(1, 2), tokenizer="scikit", normalize=LOWER, values=values, length=length)
    return Chars(3, 5, normalize=LOWER, values=values, length=length)


def settings(kind: str) -> dict:
    return {"ngram_range": (1, 2)} if kind == "words" else {"ngram_range": (3, 5), "analyzer": "char_wb"}


@pytest.mark.parametrize("kind", ["words", "char_wb"])
@pytest.mark.parametrize("name", SETS)
@pytest.mark.timeout(900)
def test_counts_and_weights_are_those_of_scikit_learn(real_data: Path, name: str, kind: str) -> None:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    texts = pq.read_table(real_data / name / "train.parquet")["text"].combine_chunks()
    peer = CountVectorizer(**settings(kind))
    expected = peer.fit_transform(texts.to_pylist())
    expected.sort_indices()
    features, X = recipe(kind, "count", None).fit_rows(texts)
    assert list(features.names()) == peer.get_feature_names_out().tolist()
    assert np.array_equal(X.indptr, expected.indptr)
    assert np.array_equal(X.indices, expected.indices)
    assert np.array_equal(X.data, expected.data)
    expected = TfidfTransformer().fit_transform(expected)
    with kernels.threads(2):
        Y = recipe(kind, "tfidf", "l2").fit_rows(texts)[1]
    assert np.array_equal(Y.indices, expected.indices)
    assert np.abs(Y.data - expected.data).max() < 1e-6
