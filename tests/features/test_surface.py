"""What texts look like and which listed words they use: Shape, Affixes, Lexicon."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, InputTypeError, UsageError
from linnaeus.features import Affixes, Lexicon, Shape, Words
from linnaeus.text import tokens
from linnaeus.types import Place


def table(block, texts):
    fitted, X = block.fit_rows(texts)
    return dict(zip(fitted.names(), X.to_scipy().toarray().T.tolist(), strict=True))


def test_shape_counts_shares_and_lengths():
    found = table(Shape(), ["Call 911 NOW !", "quiet words", ""])
    assert found["words with punctuation"] == [0.25, 0, 0]
    assert found["words with a capital"] == [0.5, 0, 0]
    assert found["words in capitals"] == [0.25, 0, 0]
    assert found["words with a digit"] == [0.25, 0, 0]
    assert np.allclose(found["log words"], [math.log(5), math.log(3), 0])
    assert np.allclose(found["log characters"], [math.log(15), math.log(12), 0])


def test_shape_knows_other_scripts():
    found = table(Shape(), ["Ärger «Ö» ٣ 。"])
    assert found["words with a capital"] == [0.5]
    assert found["words with punctuation"] == [0.5]
    assert found["words with a digit"] == [0.25]


def test_places_of_shape_are_the_words_that_have_it():
    assert Shape().fit(["x"]).places(["is Big, is"]) == [[Place(0, 3, 7), Place(1, 3, 7)]]


def test_affixes_are_counted_at_both_ends_of_longer_words():
    found = table(Affixes(prefixes=(2,), suffixes=(3,)), ["Singing singers sing in", "ings"])
    assert found == {"-ers": [1, 0], "-ing": [2, 0], "-ngs": [0, 1], "in-": [0, 1], "si-": [3, 0]}


def test_affixes_stand_where_they_stand():
    fitted = Affixes(prefixes=(1,), suffixes=(2,)).fit(["abc"])
    assert fitted.places([" abc"]) == [[Place(1, 1, 2), Place(0, 2, 4)]]


def test_affixes_that_cannot_be_meant():
    for recipe in ({"prefixes": (0,)}, {"prefixes": (), "suffixes": ()}, {"min_df": 0}):
        with pytest.raises(UsageError, match="Affixes"):
            Affixes(**recipe)


def test_weights_of_listed_words_add_up():
    found = table(Lexicon({"good": 1.0, "bad": -2.5}), ["Good, GOOD; bad!", "goods", ""])
    assert found == {"lexicon": [-0.5, 0, 0]}


def test_lists_by_name():
    lists = {"praise": ["good", "great"], "blame": {"bad": 1, "not good": 2}}
    found = table(Lexicon(lists), ["not good, great", "Not  Good? bad"])
    assert found == {"praise": [2, 1], "blame": [2, 3]}


def test_a_list_of_words_counts_them():
    assert table(Lexicon(["straße"], name="roads"), ["STRASSE straße"]) == {"roads": [2]}


def test_entries_stand_where_they_stand():
    fitted = Lexicon({"a": ["not good"], "b": ["good"]}).fit(["x"])
    assert fitted.places(["so not good"]) == [[Place(0, 3, 11), Place(1, 7, 11)]]


def test_lexicons_compare_by_value():
    assert Lexicon(["a"]) == Lexicon({"a": 1.0})
    assert hash(Lexicon(["a"])) == hash(Lexicon({"a": 1}))


@pytest.mark.parametrize("lists", ["good", 3, [1], {"a": {"b": "c"}}, {"a": 1, "b": ["c"]}, {1: 2.0}])
def test_what_is_no_lexicon(lists):
    with pytest.raises(InputTypeError, match="Lexicon takes"):
        Lexicon(lists)


@pytest.mark.parametrize("lists", [{}, [], ["!"], {"a": float("nan")}, {"a": 1e60}])
def test_lexicons_that_cannot_be_meant(lists):
    with pytest.raises(UsageError, match="Lexicon"):
        Lexicon(lists)


@pytest.mark.parametrize("block", [Shape(), Affixes(), Lexicon(["a"])])
def test_rows_without_text_are_refused(block):
    with pytest.raises(DataError, match="needs texts"):
        block.fit_rows(Batch(labels=pa.array(["a"])))


@given(st.lists(st.text(alphabet="aAb 9.,'é東京都ß👍-", max_size=25), min_size=1, max_size=5))
def test_tokens_are_those_of_words(texts):
    """A lexicon of all words counts what Words counts; affixes are those of its words."""
    if not any(tokens(texts)):
        return
    fitted, X = Words().fit_rows(texts)
    lists = {name: [name] for name in fitted.names()}
    counted = Lexicon(lists).fit_rows(texts)[1]
    assert np.array_equal(counted.to_scipy().toarray(), X.to_scipy().toarray())
    endings = {f"-{word[-1]}" for row in tokens(texts) for word in row if len(word) > 1}
    assert set(Affixes((), (1,)).fit(texts).names()) == endings


def test_affixes_of_words_that_change_in_length():
    fitted = Affixes(prefixes=(), suffixes=(2,)).fit(["GROSS Maß"])
    assert fitted.names() == ["-ss"]
    assert fitted.places(["das Maß"]) == [[Place(0, 6, 7)]]


def test_weights_that_cancel_leave_no_place():
    fitted = Lexicon({"good": 1.0, "bad": -1.0}).fit(["x"])
    assert fitted.rows(["good and bad"]).nnz == 0
    assert fitted.places(["good and bad"]) == [[]]


def test_entries_of_too_many_words():
    with pytest.raises(UsageError, match="not 1 to 64 words"):
        Lexicon(["a " * 65])
