"""One row per word: runs of characters are folded in, and all rows and the bias come to the score."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.explain.models import SPACES, random_model
from tests.explain.test_places import texts
from tests.toys import fruit_and_metal

from linnaeus import Recipe
from linnaeus.explain import explain, explanation_page
from linnaeus.features import Chars, Hashed, Shape, Words
from linnaeus.recipes.cookbook import recipe
from linnaeus.render import PLAIN, UNICODE

FITTED = (Words(ngrams=(1, 2), terms=Hashed(6)) | Chars(2, 4, terms=Hashed(8)) | Shape()).fit([])
EXACT = (Words(ngrams=(1, 2)) | Chars(2, 5)).fit(["Wake me up at six", "wake up, please wake up"])


@settings(max_examples=50)
@given(texts, st.sampled_from(SPACES))
def test_rows_add_up_to_the_score_for_every_class(text, space):
    why = explain(text, random_model(FITTED, *space), search=None)
    for reason in (*why.reasons, *filter(None, [why.contrast])):
        rows = reason.words()
        scale = max(1.0, sum(abs(row.contribution) for row in rows))
        assert abs(reason.bias + sum(row.contribution for row in rows) - reason.score) <= 1e-6 * scale
        for row in rows:
            inside = sum(part.contribution for part in row.features)
            assert abs(inside - row.contribution) <= 1e-6 * scale


def test_a_word_is_one_row_with_its_runs_of_characters_inside():
    rows = explain("Wake me up, wake up", random_model(EXACT)).reason().words()
    names = [row.name for row in rows if row.placed]
    assert len(set(names)) == len(names)
    assert {"wake", "me", "up", "wake me", "me up"} <= set(names)
    assert all(re.search(r"\w", name) is None or name in ("wake", "me", "up") or " " in name for name in names)
    wake = next(row for row in rows if row.name == "wake")
    inside = [part.name for part in wake.features]
    assert {"wake", "wak", " wak"} <= set(inside)
    assert len(set(inside)) == len(inside)


def test_what_is_not_in_the_text_has_a_row_under_its_own_name():
    rows = explain("good film", random_model(FITTED)).reason().words()
    away = [row for row in rows if not row.placed]
    assert {row.name for row in away} <= set(Shape().fit([]).names())
    page = explanation_page(explain("good film", random_model(FITTED)), UNICODE, PLAIN, parts=100).plain()
    assert all(row.name in page for row in away)
    assert "not in the text" not in page


@pytest.fixture(scope="module")
def model():
    return recipe("default").fit(fruit_and_metal())


def test_the_headline_has_the_probability_and_two_classes_are_not_said_twice(model):
    why = model.explain("a pear and an apple")
    first = str(why).splitlines()[0]
    assert re.fullmatch(r"fruit \([\d.]+ %\)", first)
    told = why.to_json()["classes"][0]
    assert (told["name"], told["probability"]) == (
        "fruit",
        pytest.approx(model.probabilities(["a pear and an apple"])[0, 0]),
    )
    assert "Why not" not in str(why)


def test_several_classes_name_the_next_one():
    rows = [*fruit_and_metal(), *((f"the cat and dog number {i}", "animal") for i in range(10))]
    assert re.match(r"fruit \([\d.]+ %\); next \w+ \([\d.]+ %\)\n", str(Recipe().fit(rows).explain("a pear")))


def test_detail_opens_the_words(model):
    why = model.explain("a pear and an apple")
    short, full = (explanation_page(why, UNICODE, PLAIN, detail=detail).plain() for detail in (False, True))
    assert "value x weight" not in short
    assert "    pea" not in short
    assert re.search(r"^    pea", full, re.MULTILINE)
    assert all(line.split()[0] in full for line in short.splitlines() if line.strip())


def test_words_open_in_html(model):
    html = model.explain("a pear and an apple").to_html()
    assert re.search(r"<details><summary><bdi>pear</bdi></summary>.*?<bdi>pea", html)
