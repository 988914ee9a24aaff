"""`WordSequence`: words in their order, with a column for unknown ones."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.errors import LinnaeusWarning, ModelFileError, UsageError
from linnaeus.features import Everyone, WordSequence, as_unseen, restore
from linnaeus.types import State

TEXTS = ["to be or not to be", "to see", "", "see Rome!"]


def test_words_in_their_order():
    fitted, X = WordSequence().fit_rows(TEXTS)
    assert fitted.names()[:] == ["<unknown>", "be", "not", "or", "rome", "see", "to"]
    assert [X.indices[a:b].tolist() for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)] == [
        [6, 1, 3, 2, 6, 1],
        [6, 5],
        [],
        [5, 4],
    ]
    assert fitted.ordered
    assert fitted.rows(["see to Paris"]).indices.tolist() == [5, 6, 0]


def test_the_columns_are_those_of_frequent_words():
    assert list(WordSequence(min_df=2).fit(TEXTS).names()) == ["<unknown>", "see", "to"]
    assert list(WordSequence(min_df=0.5).fit(TEXTS).names()) == ["<unknown>", "see", "to"]
    assert list(WordSequence(max_terms=2).fit(TEXTS).names()) == ["<unknown>", "be", "to"]
    assert WordSequence(min_df=9).fit(TEXTS).rows(TEXTS).indices.tolist() == [0] * 10


def test_long_texts_are_truncated_and_the_warning_counts_them():
    with pytest.warns(LinnaeusWarning, match="1 of 4 texts have more than 3 words"):
        fitted, X = WordSequence(length=3).fit_rows(TEXTS)
    assert np.diff(X.indptr).tolist() == [3, 2, 0, 2]
    assert [place.start for place in fitted.places(TEXTS[:1])[0]] == [0, 3, 6]


def test_places_are_those_of_the_text():
    fitted = WordSequence().fit(TEXTS)
    assert [(p.column, p.start, p.end) for p in fitted.places(["Oh, see Rome"])[0]] == [
        (0, 0, 2),
        (5, 4, 7),
        (4, 8, 12),
    ]


def test_words_of_held_out_rows_alone_become_unknown():
    block = WordSequence()
    fitted, X = block.fit_rows(TEXTS)
    found = as_unseen(block, fitted, X.take(np.array([0, 3])), Everyone.of(X, ordered=True))
    assert found.indices.tolist() == [6, 0, 0, 0, 6, 0, 5, 0]
    block = WordSequence(min_df=2)
    fitted, X = block.fit_rows(["a a a", "a b", "b b"])
    assert as_unseen(block, fitted, X.take(np.array([1])), Everyone.of(X, ordered=True)).indices.tolist() == [0, 0]


def test_it_is_saved_and_checked():
    fitted = WordSequence().fit(TEXTS)
    again = restore(fitted.state())
    assert again.rows(TEXTS).indices.tolist() == fitted.rows(TEXTS).indices.tolist()
    state = fitted.state()
    with pytest.raises(ModelFileError):
        restore(State({**state.manifest, "length": 0}, state.tensors))


@pytest.mark.parametrize("wrong", [{"min_df": 0}, {"length": 0}, {"max_terms": 0}, {"tokenizer": "none"}])
def test_what_means_nothing_is_refused(wrong):
    with pytest.raises(UsageError):
        WordSequence(**wrong)
