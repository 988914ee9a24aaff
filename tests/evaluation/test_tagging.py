"""Scores of tags: tokens counted by hand, entities against the sets of both sides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.data.sentences import Sentences
from linnaeus.data.tag_encodings import spans
from linnaeus.errors import DataError
from linnaeus.evaluation import is_known, score_tags

TAGS = ["O", "B-X", "I-X", "B-Y", "I-Y"]
pairs = st.lists(st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), max_size=6), min_size=1, max_size=5)


@given(pairs)
def test_entities_are_those_of_both_sets(rows):
    gold, guess = [a for row in rows for a, _ in row], [b for row in rows for _, b in row]
    offsets = np.cumsum([0] + [len(row) for row in rows]).astype(np.int64)
    found = score_tags(offsets, gold, guess)
    there, said = set(spans(gold, offsets).listed()), set(spans(guess, offsets).listed())
    if found.entities is None:
        assert not there | said
        return
    all_ = found.entities
    assert (all_.support, all_.predicted, all_.correct) == (len(there), len(said), len(there & said))
    for score in found.types:
        own = [{span for span in side if span[2] == score.label} for side in (there, said)]
        assert (score.support, score.predicted, score.correct) == (len(own[0]), len(own[1]), len(own[0] & own[1]))
    assert found.counts.sum(0)[2:].tolist() == [len(there), len(said), len(there & said)]


def test_accuracy_of_tokens_sentences_known_and_unknown_words():
    offsets = np.array([0, 2, 2, 4])
    known = np.array([True, False, False, False])
    found = score_tags(offsets, ["N", "V", "N", None], ["N", "N", "N", "V"], known)
    assert (found.tokens, found.accuracy, found.sentences) == (3, 2 / 3, 2 / 3)
    assert (found.known, found.unknown, found.entities) == (1.0, 0.5, None)
    assert found.headline == ("accuracy", 2 / 3)
    assert found.to_json()["unknown"] == 0.5


def test_the_numbers_of_an_example():
    gold = ["B-PER", "I-PER", "O", "B-LOC", "O", "B-LOC"]
    guess = ["B-PER", "I-PER", "O", "B-PER", "O", "B-LOC"]
    found = score_tags(np.array([0, 6]), gold, guess)
    assert (found.entities.precision, found.entities.recall, found.entities.f1) == (2 / 3, 2 / 3, 2 / 3)
    assert {score.label: score.f1 for score in found.types} == {"PER": 2 / 3, "LOC": 2 / 3}
    low, high = found.interval(rounds=20)
    assert low == high == 2 / 3


def test_words_are_known_or_not():
    new = Sentences.from_lists([["a", "b"], ["c"]])
    assert is_known(new, Sentences.from_lists([["c", "a"]]).tokens).tolist() == [True, False, True]


def test_lengths_must_fit():
    with pytest.raises(DataError, match="2 true and 1 predicted tags for 2"):
        score_tags(np.array([0, 2]), ["A", "B"], ["A"])
