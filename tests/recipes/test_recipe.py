"""Recipes as data: TOML, JSON, changes by path, refusals that name the place."""

from __future__ import annotations

import json
import tomllib

import pytest

from linnaeus import Recipe, datasets
from linnaeus.errors import InputTypeError, UsageError
from linnaeus.features import Chars, Hashed, Selected, TfIdf, Words
from linnaeus.learners.linear.learner import Linear
from linnaeus.losses import Hinge
from linnaeus.optimizers import AdaGrad, Average
from linnaeus.recipes.cookbook import RECIPES, recipe
from linnaeus.recipes.tuning import Tuning
from linnaeus.regularizers import L1, ElasticNet
from linnaeus.text import Normalize

VARIED = Recipe(
    features=Words(ngrams=(1, 3), normalize=Normalize(case=None, form=None), terms=Hashed(bits=12))
    | Chars(2, 4, values=TfIdf("sqrt")),
    learner=Linear(loss="hinge", regularizer=ElasticNet(0.5), optimizer=Average(AdaGrad(0.3)), tol=None, epochs=3),
    tuning=Tuning(strengths=(1.0, 0.1), folds=3),
    seed=7,
)


@pytest.mark.parametrize("name", [*RECIPES, "varied"])
def test_a_recipe_survives_toml_and_json(name):
    given = VARIED if name == "varied" else recipe(name)
    assert Recipe.from_json(json.loads(json.dumps(given.to_json()))) == given
    assert Recipe.from_json(tomllib.loads(given.to_toml())) == given


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, row in RECIPES.items() if row.task == "classify"])
def test_a_recipe_as_it_stands_learns_the_embedded_data(name):
    """With its own tuning; docs/recipes.md trains them without."""
    if name == "ridge":
        pytest.skip("it learns numbers")
    model = recipe(name).fit(datasets.intents("train"))
    accuracy = model.evaluate(datasets.intents("test"), rounds=0).value("accuracy")
    assert accuracy > (0.6 if name == "decision-tree" else 0.7)


def test_files_of_both_kinds_are_read(tmp_path):
    (tmp_path / "a.toml").write_text(VARIED.to_toml(), encoding="utf-8")
    (tmp_path / "a.json").write_text(json.dumps(VARIED.to_json()), encoding="utf-8")
    assert Recipe.read(tmp_path / "a.toml") == Recipe.read(tmp_path / "a.json") == VARIED


def test_what_is_left_out_has_its_default():
    found = Recipe.from_json({"learner": {"kind": "linear", "loss": "hinge"}})
    assert found == Recipe(learner=Linear(loss="hinge"))


@pytest.mark.parametrize(
    ("path", "value", "look"),
    [
        ("learner.loss", "hinge", lambda r: r.learner.loss == Hinge()),
        ("loss", "hinge", lambda r: r.learner.loss == Hinge()),
        ("regularizer.strength", 0.25, lambda r: r.learner.regularizer.strength == 0.25),
        ("regularizer__strength", 0.25, lambda r: r.learner.regularizer.strength == 0.25),
        ("regularizer", {"kind": "l1", "strength": 3}, lambda r: r.learner.regularizer == L1(3)),
        ("features.blocks.0.ngrams", [1, 1], lambda r: r.features.blocks[0].ngrams == (1, 1)),
        ("features.blocks.1.normalize.case", "none", lambda r: r.features.blocks[1].normalize.case is None),
        ("features", {"kind": "words", "stem": None}, lambda r: r.features == Words()),
        ("tuning.folds", 3, lambda r: r.tuning.folds == 3),
        ("tuning", "none", lambda r: r.tuning is None),
        (
            "decision.calibration",
            "sigmoid",
            lambda r: type(r.decision.calibration).__name__ == "Sigmoid" or r.decision.calibration == "sigmoid",
        ),
        ("seed", 5, lambda r: r.seed == 5),
    ],
)
def test_a_change_by_path(path, value, look):
    assert look(recipe("default").changed({path: value}))


def test_a_part_that_is_not_there_is_made_by_a_change_inside_it():
    assert Recipe(tuning=None).changed({"tuning.folds": 4}).tuning == Tuning(folds=4)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("learner.los", "hinge", "los"),
        ("nothing", 1, "nothing"),
        ("features.blocks.7.ngrams", [1, 1], "7"),
        ("loss", "hinj", "hinj"),
        ("regularizer.strength", -1, "strength"),
        ("seed", "x", "seed"),
        ("learner.loss.deep.down", 1, "deep"),
    ],
)
def test_a_wrong_change_is_named(path, value, words):
    with pytest.raises((UsageError, InputTypeError), match=words):
        recipe("default").changed({path: value})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"learner": {"kind": "linear", "lost": "hinge"}}, "learner.*lost"),
        ({"learner": {"kind": "jungle"}}, "jungle"),
        ({"features": {"kind": "selected"}}, "block"),
        ({"features": {"kind": "words", "ngrams": [3, 1]}}, "features"),
        ({"seed": 1, "sead": 2}, "sead"),
        ([], "table"),
    ],
)
def test_a_wrong_table_is_named(table, words):
    with pytest.raises(UsageError, match=words):
        Recipe.from_json(table)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "bad.toml").write_text("seed = ", encoding="utf-8")
    for name, words in (("bad.toml", "TOML"), ("gone.toml", "no such file")):
        with pytest.raises(UsageError, match=words):
            Recipe.read(tmp_path / name)


def test_pieces_of_ones_own_are_refused_in_files():
    class Mine(Hinge):
        pass

    with pytest.raises(UsageError, match="Mine"):
        Recipe(learner=Linear(loss=Mine())).to_json()
    with pytest.raises(InputTypeError, match="features"):
        Recipe(features="words")
    with pytest.raises(InputTypeError, match="learner"):
        Recipe(learner="linear")


def test_selection_is_stored_by_name():
    given = Recipe(features=Selected(Words(), by="chi2", k=3))
    assert Recipe.from_json(given.to_json()) == given
