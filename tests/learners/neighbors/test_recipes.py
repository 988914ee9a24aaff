"""Recipes of neighbors: the same bytes on every run, in a file and back, and what they say of odd data."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tests.toys import fruit_and_metal

import linnaeus
from linnaeus import Recipe
from linnaeus.arrays import as_rows
from linnaeus.cli.inspect import described
from linnaeus.errors import LinnaeusError
from linnaeus.learners.neighbors import Components, Graph, Neighbors
from linnaeus.model.model import Model
from linnaeus.model.summary import remains
from linnaeus.recipes.cookbook import recipe
from linnaeus.store import file
from linnaeus.types import Lesson

NAMES = ("knn", "knn-metric", "knn-graph", "nearest-centroid")
each_recipe = pytest.mark.parametrize("name", NAMES)
TEXTS = ["an apple", "the zinc", "", "pear and lead", "nothing known"]


@each_recipe
def test_training_twice_writes_the_same_bytes_on_any_number_of_threads(name, tmp_path):
    for threads in (1, 2, 5):
        with linnaeus.threads(threads):
            recipe(name).changed({"tuning.folds": 2}).fit(fruit_and_metal()).save(tmp_path / f"{threads}.lin")
    assert len({path.read_bytes() for path in tmp_path.glob("*.lin")}) == 1


@each_recipe
def test_a_recipe_goes_through_toml(name):
    made = recipe(name)
    assert Recipe.from_json(made.to_json()) == made


@each_recipe
def test_a_loaded_model_answers_alike_one_by_one_and_together(name, tmp_path, monkeypatch):
    model = recipe(name).changed({"tuning.folds": 2}).fit(fruit_and_metal())
    model.save(tmp_path / "m.lin")
    monkeypatch.setattr(file, "VERIFY_LIMIT", 1)  # mapped, as a large file is
    again = Model.load(tmp_path / "m.lin")
    assert np.array_equal(again.scores(TEXTS), model.scores(TEXTS))
    assert np.array_equal(again.scores(TEXTS), np.vstack([again.scores([text]) for text in TEXTS]))
    assert [again.classify(text).label for text in TEXTS[:2]] == ["fruit", "metal"]
    assert again.explain("an apple").exact == (name == "nearest-centroid")


def test_a_graph_is_used_where_it_lies_in_the_file(tmp_path, monkeypatch):
    recipe("knn-graph").changed({"tuning.folds": 2}).fit(fruit_and_metal()).save(tmp_path / "m.lin")
    monkeypatch.setattr(file, "VERIFY_LIMIT", 1)
    body = Model.load(tmp_path / "m.lin").body
    for part in (*body.index.layers, body.index.rows.values, body.projection):
        assert not part.flags.writeable
        assert not part.flags.owndata


@pytest.mark.parametrize(("name", "kept"), list(zip(NAMES, (50, 50, 50, 0), strict=True)))
def test_inspect_says_what_is_kept_of_the_training_data(name, kept, tmp_path):
    made = recipe(name).changed({"tuning.folds": 2})
    for keep in ("nothing", "texts"):
        model = made.changed({"keep": keep}).fit(fruit_and_metal())
        model.save(tmp_path / "m.lin", force=True)
        told = described(model, str(tmp_path / "m.lin"))
        assert told["keeps_rows"] == kept
        assert told["keeps_texts"] is (keep == "texts")
        assert (f"features of {kept} training rows" in str(remains(model))) is (kept > 0)


@each_recipe
def test_one_class_only_is_refused_in_a_sentence(name):
    with pytest.raises(LinnaeusError, match="class"):
        recipe(name).fit([("good", "pos"), ("fine", "pos")])


@each_recipe
def test_fewer_rows_than_neighbors_a_lonely_class_and_texts_that_are_all_alike(name):
    few = recipe(name).changed({"tuning.folds": 2}).fit([("red apple", "a"), ("red plum", "a"), ("red iron", "b")] * 2)
    assert few.predict(["red apple", "red iron"])[0] == "a"
    lonely = recipe(name).changed({"tuning.folds": 3}).fit([*fruit_and_metal(), ("a lonely oak", "tree")])
    assert lonely.classes.tolist() == ["fruit", "metal", "tree"]
    same = recipe(name).changed({"tuning.folds": 2}).fit([("the same", "a"), ("the same", "b")] * 10)
    assert np.allclose(same.probabilities(["the same", ""]).sum(axis=1), 1)


@pytest.mark.parametrize("projection", [None, Components(width=3)])
@pytest.mark.parametrize("search", ["exact", Graph(links=4)])
def test_an_empty_class_rows_without_length_duplicates_only_and_k_larger_than_the_data(search, projection):
    how = Neighbors(k=9, search=search, projection=projection)
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    empty = how.learn(Lesson(as_rows(X), np.array([0, 2, 2, 0], np.int32), np.ones(4), 3))
    S = empty.scores(as_rows(X))
    assert np.allclose(S, [[0.5, 0.0, 0.5]] * 4)  # all four vote, and nobody for the class without rows
    same = how.learn(Lesson(as_rows(np.ones((5, 2))), np.array([0, 1, 1, 1, 0], np.int32), np.ones(5), 2))
    assert np.allclose(same.scores(as_rows([[2.0, 2.0], [0.0, 0.0]])), [[0.4, 0.6]] * 2)


@each_recipe
def test_a_prediction_needs_no_scikit_learn(name, tmp_path):
    recipe(name).changed({"tuning.folds": 2}).fit(fruit_and_metal()).save(tmp_path / "m.lin")
    program = (
        "import sys; from linnaeus.model.model import Model; "
        f"model = Model.load({str(tmp_path / 'm.lin')!r}); assert model.predict(['an apple'])[0] == 'fruit'; "
        "assert not {'sklearn', 'scipy', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
