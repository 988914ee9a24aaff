"""Scores of tags: tokens counted by hand, entities against the sets of both sides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.data.sentences import Sentences
from linnaeus.data.tag_encodings import spans
from linnaeus.errors import DataError
from linnaeus.evaluation import Accumulator, by_length, compare, evaluate, is_known, observe_tags, slices

TAGS = ["O", "B-X", "I-X", "B-Y", "I-Y"]
pairs = st.lists(st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), max_size=6), min_size=1, max_size=5)


@given(pairs)
def test_entities_are_those_of_both_sets(rows):
    gold, guess = [a for row in rows for a, _ in row], [b for row in rows for _, b in row]
    offsets = np.cumsum([0] + [len(row) for row in rows]).astype(np.int64)
    facts = observe_tags(offsets, gold, guess)
    found = evaluate(facts, rounds=0)
    there, said = set(spans(gold, offsets).listed()), set(spans(guess, offsets).listed())
    if "f1" not in found.metrics:
        assert not there | said
        return
    counts = [len(part.labels) for part in (facts.truth, facts.predicted, facts.hits)]
    assert counts == [len(there), len(said), len(there & said)]
    assert found.value("f1") == (2 * len(there & said) / (len(there) + len(said)) if there | said else 0.0)
    assert found.headline == "f1"
    for score in found.per_class:
        true, guessed = ({span for span in side if span[2] == score.label} for side in (there, said))
        assert score.support == len(true)
        assert score.precision == (len(true & guessed) / len(guessed) if guessed else 0.0)
        assert score.recall == (len(true & guessed) / len(true) if true else 0.0)


@given(pairs)
def test_batches_change_nothing(rows):
    seen, every = Accumulator(), [pair for row in rows for pair in row]
    for row in rows:
        seen.add(observe_tags(np.array([0, len(row)]), [a for a, _ in row], [b for _, b in row], entities=True))
    offsets = np.cumsum([0] + [len(row) for row in rows]).astype(np.int64)
    facts = observe_tags(offsets, [a for a, _ in every], [b for _, b in every], entities=True)
    assert seen.evaluation(rounds=20) == evaluate(facts, rounds=20)


def test_accuracy_of_tokens_sentences_known_and_unknown_words():
    offsets = np.array([0, 2, 2, 4])
    known = np.array([True, False, False, False])
    found = evaluate(observe_tags(offsets, ["N", "V", "N", None], ["N", "N", "N", "V"], known), rounds=0)
    assert (found.rows, found.units, found.headline) == (3, 3, "accuracy")
    of_words = {"known_accuracy": 1.0, "unknown_accuracy": 0.5}
    assert found.metrics == {"accuracy": 2 / 3, **of_words, "sentence_accuracy": 2 / 3}
    assert [(score.label, score.recall, score.support) for score in found.per_class] == [("N", 1, 2), ("V", 0, 1)]


def test_the_numbers_of_an_example():
    gold = ["B-PER", "I-PER", "O", "B-LOC", "O", "B-LOC"]
    guess = ["B-PER", "I-PER", "O", "B-PER", "O", "B-LOC"]
    found = evaluate(observe_tags(np.array([0, 6]), gold, guess), rounds=20)
    assert [found.value(name) for name in ("precision", "recall", "f1")] == [2 / 3] * 3
    assert {score.label: score.f1 for score in found.per_class} == {"PER": 2 / 3, "LOC": 2 / 3}
    assert found.intervals["f1"] == (2 / 3, 2 / 3)
    assert "1 sentence, 6 tokens, 2 types of entities" in str(found)


def test_slices_and_comparisons_of_tags():
    offsets = np.array([0, 2, 4])
    gold = ["B-PER", "O", "B-LOC", "O"]
    right, wrong = observe_tags(offsets, gold, gold), observe_tags(offsets, gold, ["B-PER", "O", "O", "O"])
    assert wrong.classes == right.classes
    parts = slices(wrong, by_length([1, 9], buckets=2), rounds=20).parts
    assert [part.metrics["f1"] for part in parts] == [1.0, 0.0]
    found = compare(right, wrong, rounds=20)
    assert (found.only_first, found.only_second, found.differences[0].metric) == (1, 0, "f1")
    other = observe_tags(offsets, gold, ["B-ORG", "O", "O", "O"])
    assert compare(right, other, rounds=20).only_first == 2


def test_words_are_known_or_not():
    new = Sentences.from_lists([["a", "b"], ["c"]])
    assert is_known(new, Sentences.from_lists([["c", "a"]]).tokens).tolist() == [True, False, True]


def test_lengths_must_fit():
    with pytest.raises(DataError, match="2 true and 1 predicted tags for 2"):
        observe_tags(np.array([0, 2]), ["A", "B"], ["A"])
