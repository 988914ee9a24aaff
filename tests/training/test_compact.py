"""Smaller models: fewer features, int8 weights, a loss that was measured, and the same answers after a file."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from linnaeus import Model, TextClassifier, datasets, read
from linnaeus.errors import UsageError
from linnaeus.learners.problems import is_family
from linnaeus.recipes.cookbook import RECIPES, recipe
from linnaeus.training.compact import Compact

TEXT_RECIPES = [name for name, row in RECIPES.items() if row.task in ("classify", "regress")]

TEXTS = ["a good film", "so good", "good and fine", "a bad film", "so bad", "bad and dull"] * 8
LABELS = ["pos", "pos", "pos", "neg", "neg", "neg"] * 8
NUMBERS = [5.0, 5.0, 4.0, 1.0, 1.0, 2.0] * 8
SETS = [["good"], ["good", "so"], ["good"], ["bad"], ["bad", "so"], []] * 8


def rows(name: str):
    numeric = name == "ridge"
    return read(
        list(zip(TEXTS, NUMBERS if numeric else LABELS, strict=True)), label_kind="numeric" if numeric else "one"
    )


@pytest.fixture(scope="module")
def model():
    return recipe("svm").fit(datasets.intents("train"))


@pytest.mark.parametrize("name", [name for name in TEXT_RECIPES if not is_family(recipe(name).learner)])
@pytest.mark.parametrize("weights", ["int8", "float16"])
def test_every_compact_recipe_saves_and_answers_alike(name, weights, tmp_path):
    given = rows(name)
    small = recipe(name).fit(given).compact(given, Compact(weights=weights))
    small.save(tmp_path / "m.lin")
    again = Model.load(tmp_path / "m.lin")
    new = ["a good one", "bad", "", "nothing known", "so good and fine"]
    assert np.array_equal(small.scores(new), again.scores(new))
    assert small.predict(new).tolist() == again.predict(new).tolist()
    if name != "ridge":
        assert np.array_equal(small.probabilities(new), again.probabilities(new))
        assert small.predict(["so good", "so bad"]).tolist() == ["pos", "neg"]
    again.save(tmp_path / "n.lin")
    assert (tmp_path / "m.lin").read_bytes() == (tmp_path / "n.lin").read_bytes()
    copied = pickle.loads(pickle.dumps(small))
    assert np.array_equal(copied.scores(new), small.scores(new))


def test_what_is_lost_is_measured_on_rows_that_were_held_out(model, tmp_path):
    train, test = datasets.intents("train"), datasets.intents("test")
    small = model.compact(train, Compact(loss=0.02))
    facts = small.facts["compact"]
    assert facts["features"] == small.features.width < facts["of"] == model.features.width
    assert facts["lost"] <= 0.02
    assert facts["held_out"] == round(model.facts["rows"] / 5)
    assert [share for share, _ in facts["tried"]] == sorted((share for share, _ in facts["tried"]), reverse=True)
    assert all(lost <= 0.02 for _, lost in facts["tried"][:-1])
    before, after = (found.evaluate(test, rounds=0) for found in (model, small))
    assert after.value("accuracy") > before.value("accuracy") - 0.05
    assert abs(after.value("ece") - before.value("ece")) < 0.05
    model.save(tmp_path / "m.lin")
    small.save(tmp_path / "s.lin")
    assert (tmp_path / "s.lin").stat().st_size < (tmp_path / "m.lin").stat().st_size / 2


def test_equal_models_become_equal_files(model, tmp_path):
    for name in ("a.lin", "b.lin"):
        model.compact(datasets.intents("train")).save(tmp_path / name)
    assert (tmp_path / "a.lin").read_bytes() == (tmp_path / "b.lin").read_bytes()


def test_a_model_of_a_file_becomes_the_same_compact_model(model, tmp_path):
    model.save(tmp_path / "m.lin")
    model.compact(datasets.intents("train")).save(tmp_path / "a.lin")
    Model.load(tmp_path / "m.lin").compact(datasets.intents("train")).save(tmp_path / "b.lin")
    assert (tmp_path / "a.lin").read_bytes() == (tmp_path / "b.lin").read_bytes()


def test_explanations_of_a_compact_model_add_up(model):
    why = model.compact(datasets.intents("train")).explain("please turn on the lights").reason()
    assert why.bias + float(np.sum(why.contributions)) == pytest.approx(why.score, abs=1e-5)


def test_label_sets_are_made_compact_too(tmp_path):
    face = TextClassifier("logistic").fit(TEXTS, SETS)
    given = read([{"text": text, "label": labels} for text, labels in zip(TEXTS, SETS, strict=True)])
    small = face.model_.compact(given)
    assert small.facts["compact"]["lost"] is not None
    assert set(small.predict(["so good"])[0]) >= {"good"}


def test_too_few_rows_to_measure_are_not_pruned():
    given = read([("good", "pos"), ("bad", "neg"), ("good film", "pos"), ("bad film", "neg")])
    small = recipe("fast").fit(given).compact(given)
    assert small.facts["compact"]["lost"] is None
    assert small.facts["compact"]["tried"] == []
    assert small.predict(["good", "bad"]).tolist() == ["pos", "neg"]


def test_a_class_that_only_the_held_out_rows_have():
    given = read([*zip(TEXTS, LABELS, strict=True), ("odd one", "rare"), ("one more", "rarer")])
    assert recipe("logistic").fit(given).compact(given).classes.tolist() == ["neg", "pos", "rare", "rarer"]


def test_two_sets_of_weights_are_refused(model):
    from linnaeus.errors import ModelFileError
    from linnaeus.model.file import model_of, state_of

    state = state_of(model.compact(datasets.intents("train")))
    both = replace(state, tensors={**state.tensors, "params.W": model.params["W"]})
    with pytest.raises(ModelFileError, match="two sets"):
        model_of(both)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"shares": (0.0,)}, "shares"),
        ({"shares": (2.0,)}, "shares"),
        ({"weights": "int4"}, "int4"),
        ({"held_out": 1.0}, "held_out"),
    ],
)
def test_settings_that_cannot_be_are_refused(setting, words):
    with pytest.raises(UsageError, match=words):
        Compact(**setting)
