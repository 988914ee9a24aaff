"""Similarities and analogies, beside SciPy's and a search by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from linnaeus.arrays.word_table import WordTable
from linnaeus.embeddings.judging import analogy_score, ranks, similarity_score
from linnaeus.errors import DataError

WORDS = [f"w{i}" for i in range(12)]
TABLE = WordTable(WORDS, np.random.default_rng(0).standard_normal((12, 5)).astype(np.float32))


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=20))
def test_ranks_are_those_of_scipy(values):
    from scipy.stats import rankdata

    assert ranks(np.array(values, float)).tolist() == rankdata(values).tolist()


def test_the_correlation_is_that_of_scipy():
    rng = np.random.default_rng(1)
    pairs = [(*rng.choice(WORDS, 2, replace=False), float(rng.integers(0, 5))) for _ in range(40)]
    found = similarity_score(TABLE, [*pairs, ("nothing", "w1", 1.0)])
    cosines = [TABLE.similarity(a, b) for a, b, _ in pairs]
    assert found.value == pytest.approx(spearmanr(cosines, [score for *_, score in pairs]).statistic)
    assert (found.used, found.given) == (40, 41)


def test_analogies_are_answered_as_by_the_table():
    questions = [("w0", "w1", "w2", TABLE.analogy("w0", "w1", "w2", 1)[0].word), ("W3", "w4", "w5", "w3")]
    assert analogy_score(TABLE, questions).value == 0.5
    assert analogy_score(TABLE, [*questions, ("w0", "w1", "w2", "nothing")]).given == 3


def test_nothing_to_judge_by_is_refused():
    with pytest.raises(DataError):
        similarity_score(TABLE, [("x", "y", 1.0), ("w0", "w1", 2.0)])
    with pytest.raises(DataError):
        analogy_score(TABLE, [("w0", "w1", "w2", "x")])
