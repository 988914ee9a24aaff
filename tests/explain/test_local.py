"""Models that are not linear are explained word by word, and say so."""

from __future__ import annotations

import json

import numpy as np
import pytest

from linnaeus.explain import as_row, explain, explanation_html, local
from linnaeus.features import Words
from linnaeus.outputs import Binary, Multiclass

FEATURES = Words().fit(["not good", "bad film"])


def scores(source):
    """Good, unless "not" stands there too: no linear model has this."""
    X = FEATURES.rows(source).to_scipy().toarray()
    good, bad, negated = (X[:, FEATURES.names().index(word)] > 0 for word in ("good", "bad", "not"))
    return ((good ^ negated) * 2.0 - bad * 3.0)[:, None]


def why(text, **options):
    row = as_row(text)
    return explain(row, local(row, FEATURES, scores, Binary(), ("neg", "pos")), **options)


def test_parts_are_words_and_add_up_with_the_rest():
    found = why("Good, but a bad film: bad!")
    assert not found.exact
    reason = found.reason()
    assert found.predicted == ("neg",)
    assert {part.name: part.contribution for part in reason.parts()} == pytest.approx(
        {"good": -2.0, "but": 0.0, "a": 0.0, "bad": 3.0, "film": 0.0}
    )
    assert reason.bias + reason.contributions.sum() == pytest.approx(reason.score)
    spots = next(part for part in reason.parts() if part.name == "bad").spots
    assert [found.text[spot.start : spot.end] for spot in spots] == ["bad", "bad"]
    assert sum(spot.contribution for spot in spots) == pytest.approx(3.0)


def test_the_flip_is_what_the_model_says_itself():
    found = why("good")
    assert found.flip.predicted == ("neg",)
    found = why("not good at all")
    assert [found.text[a:b] for a, b in found.flip.words] in (["not"], ["good"])


def test_it_says_that_it_is_approximate():
    found = why("good film")
    assert "Approximate" in str(found)
    assert "Approximate" in explanation_html(found)
    assert json.loads(json.dumps(found.to_json()))["exact"] is False


@pytest.mark.parametrize("text", ["", "  ", "?!"])
def test_texts_without_words(text):
    found = why(text)
    assert found.reason().score == pytest.approx(found.reason().bias + found.reason().contributions.sum())


def test_more_classes_and_classes_asked_for():
    def three(source):
        S = scores(source)
        return np.hstack([S, -S, S * 0 + 0.5])

    row = as_row("good")
    found = explain(row, local(row, FEATURES, three, Multiclass(), ("a", "b", "c")), ["b"])
    assert [reason.name for reason in found.reasons] == ["a", "c", "b"]
