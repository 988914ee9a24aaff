"""Models that keep training texts: they are found again, and the file says so."""

from __future__ import annotations

import pytest

from linnaeus import Recipe
from linnaeus.errors import LinnaeusError
from linnaeus.features import Words
from linnaeus.learners.bayes import Multinomial
from linnaeus.learners.linear.learner import Linear
from linnaeus.learners.neighbors import Neighbors
from linnaeus.model.model import Model

ROWS = [("red apple", "fruit"), ("green pear", "fruit"), ("iron ore", "metal"), ("zinc, a metal", "metal")]
RECIPE = Recipe(features=Words(), learner=Multinomial(), keep="texts")


KINDS = {"neighbors": Neighbors(k=2), "linear": Linear(loss="hinge"), "counting": Multinomial()}


@pytest.fixture(params=KINDS)
def model(request):
    return Recipe(features=Words(length="l2"), learner=KINDS[request.param], keep="texts").fit(ROWS)


def test_the_nearest_texts_are_found_with_their_labels(model):
    found = model.search(["a green apple", "ore"], 2)
    assert [[(near.text, near.label) for near in row] for row in found] == [
        [("red apple", "fruit"), ("green pear", "fruit")],
        [("iron ore", "metal"), ("red apple", "fruit")],
    ]
    assert found[1][0].similarity > found[1][1].similarity == 0
    assert found[0][0].row == 0
    assert len(model.search("apple", 99)[0]) == len(ROWS)


def test_explanations_show_them(model):
    found = model.explain("apple")
    assert found.neighbors[0].text == "red apple"
    assert "red apple" in str(found)


def test_they_are_in_the_file_and_only_where_the_recipe_says_so(tmp_path):
    RECIPE.fit(ROWS).save(tmp_path / "kept.lin")
    again = Model.load(tmp_path / "kept.lin")
    assert again.kept.texts.to_pylist() == [text for text, _ in ROWS]
    assert [again.kept.names[code] for code in again.kept.codes] == [label for _, label in ROWS]
    assert b"zinc, a metal" in (tmp_path / "kept.lin").read_bytes()
    RECIPE.changed({"keep": "nothing"}).fit(ROWS).save(tmp_path / "without.lin")
    assert b"zinc, a metal" not in (tmp_path / "without.lin").read_bytes()


def test_label_sets_and_numbers_are_shown_as_they_are_said():
    sets = RECIPE.fit([(text, [label, "thing"]) for text, label in ROWS])
    assert sets.kept.names[sets.kept.codes[0]] == "fruit, thing"


def test_where_there_is_nothing_to_search_a_sentence_says_so():
    with pytest.raises(LinnaeusError, match="keeps no texts to search"):
        RECIPE.changed({"keep": "nothing"}).fit(ROWS).search(["apple"])


def test_bad_values(model):
    with pytest.raises(LinnaeusError, match="keep is one of nothing, texts"):
        Recipe(keep="all")
    with pytest.raises(LinnaeusError, match="from 1 up"):
        model.search(["apple"], 0)
