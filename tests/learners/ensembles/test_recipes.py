"""Recipes of trees and boosting: the same bytes on every run, numbers, streams, and no scikit-learn to predict."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tests.toys import fruit_and_metal

import linnaeus
from linnaeus import Recipe, TextRegressor
from linnaeus.errors import LinnaeusError
from linnaeus.features import Words
from linnaeus.learners.ensembles import AdaBoost, Forest, GradientBoosting, Tree
from linnaeus.recipes.cookbook import recipe

NAMES = ("decision-tree", "random-forest", "adaboost", "gradient-boosting")
each_recipe = pytest.mark.parametrize("name", NAMES)


@each_recipe
def test_training_twice_writes_the_same_bytes(name, tmp_path):
    made = recipe(name).changed({"tuning.folds": 2})
    with linnaeus.threads(1):
        made.fit(fruit_and_metal()).save(tmp_path / "a.lin")
    with linnaeus.threads(2):
        made.fit(fruit_and_metal()).save(tmp_path / "b.lin")
    assert (tmp_path / "a.lin").read_bytes() == (tmp_path / "b.lin").read_bytes()


@each_recipe
def test_a_recipe_goes_through_toml(name):
    made = recipe(name)
    assert Recipe.from_json(made.to_json()) == made
    if hasattr(made.learner, "depth"):
        deep = made.changed({"learner.depth": "none"})
        assert deep.learner.depth is None
        assert Recipe.from_json(deep.to_json()) == deep


@each_recipe
def test_texts_are_answered_one_by_one_as_together(name):
    model = recipe(name).changed({"tuning.folds": 2}).fit(fruit_and_metal())
    texts = ["an apple", "the zinc", "", "pear and lead", "nothing known"]
    assert np.array_equal(model.scores(texts), np.vstack([model.scores([text]) for text in texts]))
    assert [model.classify(text).label for text in texts[:2]] == ["fruit", "metal"]
    assert model.explain("an apple").exact == (name == "adaboost")


@pytest.mark.parametrize("learner", [Tree(), Forest(trees=10), GradientBoosting(rounds=40)])
def test_numbers(learner):
    texts, stars = ["good film", "fine film", "bad film", "awful film"] * 4, [5.0, 4.0, 2.0, 1.0] * 4
    model = TextRegressor(Recipe(features=Words(), learner=learner)).fit(texts, stars)
    assert model.predict(["good film"])[0] > model.predict(["fine film"])[0] > model.predict(["bad film"])[0]


def test_adaboost_has_no_numbers_and_gradient_boosting_no_label_sets():
    with pytest.raises(LinnaeusError, match="AdaBoost learns classes and sets"):
        TextRegressor(Recipe(features=Words(), learner=AdaBoost())).fit(["a", "b"], [1.0, 2.0])
    with pytest.raises(LinnaeusError, match="GradientBoosting learns classes and numbers"):
        Recipe(features=Words(), learner=GradientBoosting()).fit([("a b", ["x", "y"]), ("c", ["x"])])


@each_recipe
def test_one_class_only_is_refused_in_a_sentence(name):
    with pytest.raises(LinnaeusError, match="class"):
        recipe(name).fit([("good", "pos"), ("fine", "pos")])


@each_recipe
def test_a_class_with_one_row_and_texts_that_are_all_alike(name):
    few = [*fruit_and_metal(), ("a lonely oak", "tree")]
    model = recipe(name).changed({"tuning.folds": 3}).fit(few)
    assert model.classes.tolist() == ["fruit", "metal", "tree"]
    same = recipe(name).changed({"tuning.folds": 2}).fit([("the same", "a"), ("the same", "b")] * 10)
    assert np.allclose(same.probabilities(["the same"]).sum(), 1)


@each_recipe
def test_a_prediction_needs_no_scikit_learn(name, tmp_path):
    recipe(name).changed({"tuning.folds": 2}).fit(fruit_and_metal()).save(tmp_path / "m.lin")
    program = (
        "import sys; from linnaeus.model.model import Model; "
        f"model = Model.load({str(tmp_path / 'm.lin')!r}); assert model.predict(['an apple'])[0] == 'fruit'; "
        "assert not {'sklearn', 'scipy', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
