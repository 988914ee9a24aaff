"""On real texts of all scripts: contributions and bias are the score, and spans point at what they name."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.explain.models import check_sums, random_model

from linnaeus.data.batch import Batch
from linnaeus.explain import Explanation, explain
from linnaeus.features import Chars, Columns, Hashed, Words
from linnaeus.text import Normalize

# A thousand texts of each kind take six minutes: LINNAEUS_ROWS=1000 asks for them.
ROWS, TRAIN = int(os.environ.get("LINNAEUS_ROWS", "200")), 4000
NORMAL = Normalize()
WORDS = Words(ngrams=(1, 2), values="tfidf", length="l2")
LENGTH = Columns(categorical=("length",))

BLOCKS = {
    "words": WORDS,
    "hashed words": Words(ngrams=(1, 2), values="log", length="l2", terms=Hashed(16)),
    "characters": Chars(2, 4, values="tfidf", length="l2"),
    "hashed characters": Chars(1, 4, terms=Hashed(18), values="sqrt"),
    "pairs and columns": Words() * LENGTH | LENGTH,
    "words and characters": WORDS | Chars(3, 5, values="bm25"),
}
pytestmark = [pytest.mark.slow, pytest.mark.native]


def some_rows(folder: Path, name: str, part: str, n: int) -> Batch:
    """Random rows, with their length as a further column."""
    texts = pq.read_table(folder / name / f"{part}.parquet")["text"].combine_chunks()
    drawn = np.random.default_rng(0).choice(len(texts), min(max(n, 1000), len(texts)), replace=False)
    chosen = texts.take(pa.array(drawn[:n]))
    lengths = pa.array([str(len(text).bit_length()) for text in chosen.to_pylist()])
    return Batch(chosen, columns={"length": lengths})


@pytest.mark.parametrize("kind", BLOCKS)
@pytest.mark.parametrize("name", ["imdb", "langid75"])
@pytest.mark.timeout(1800)
def test_contributions_and_bias_are_the_score(real_data: Path, name: str, kind: str) -> None:
    rows = some_rows(real_data, name, "test", ROWS)
    features = BLOCKS[kind].fit(some_rows(real_data, name, "train", TRAIN))
    model = random_model(features, k=3)
    S = features.rows(rows).to_scipy() @ model.W.astype(np.float64) + model.b
    for i in range(len(rows)):
        why = explain(rows.slice(i, 1), model, model.classes, search=None)
        found = {reason.name: reason.score for reason in why.reasons}
        assert [found[name] for name in model.classes] == pytest.approx(S[i], abs=1e-5)
        check_sums(why)
        check_spans(why)


def check_spans(why: Explanation) -> None:
    """The piece of the original text that a place spans, normalized, holds every token of the feature's name."""
    found = why.found
    for i in range(0, len(found.owners), max(1, len(found.owners) // 100)):
        piece, owner = NORMAL(found.text[found.starts[i] : found.ends[i]]), found.owners[i]
        terms = [term.partition(" & ")[0].split() for term in found.terms[owner] or (found.names[owner],)]
        assert any(all(token in piece for token in tokens) for tokens in terms)
