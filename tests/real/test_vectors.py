"""Word vectors of real reviews: the same bits on any number of threads, and what they know."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

import linnaeus
from linnaeus import kernels
from linnaeus.embeddings import CBOW, PPMI, SkipGram, encoded, similarity_score

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def text(real_data):
    path = real_data / "corpus_imdb_unsup" / "train.parquet"
    if not path.exists():
        pytest.skip("no corpus_imdb_unsup here")
    with encoded(linnaeus.read(path, label="").head(6000)) as found:
        yield found


@pytest.fixture(scope="module")
def pairs(real_data):
    rows = pq.read_table(real_data / "word_similarity" / "men3000.parquet").to_pylist()
    return [(row["word1"], row["word2"], float(row["score"])) for row in rows]


METHODS = {
    "skipgram": (SkipGram(width=50, epochs=3), 0.15),
    "subwords": (SkipGram(width=50, epochs=3, subwords=(3, 6)), 0.15),
    "cbow": (CBOW(width=50, epochs=3), 0.15),
    "ppmi": (PPMI(width=50), 0.2),
}


@pytest.mark.parametrize("name", METHODS)
def test_similar_words_have_similar_vectors_whatever_the_threads(name, text, pairs):
    method, least = METHODS[name]
    found = {}
    for count in (1, 3):
        with kernels.threads(count):
            found[count] = method.learn(text)
    assert found[1].vectors.tobytes() == found[3].vectors.tobytes()
    assert np.isfinite(found[1].vectors).all()
    assert similarity_score(found[1], pairs).value > least
