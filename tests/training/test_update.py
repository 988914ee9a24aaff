"""Models that learn from more rows: linear models of texts, in Python and on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linnaeus import Model, Recipe, TextClassifier, TextRegressor
from linnaeus.cli.main import main
from linnaeus.errors import UsageError
from linnaeus.features import Hashed, Words
from linnaeus.kernels import threads
from linnaeus.recipes.cookbook import recipe

FRUIT = [(f"{word} {i}", "fruit") for i in range(10) for word in ("apple", "plum", "pear")]
METAL = [(f"{word} {i}", "metal") for i in range(10) for word in ("zinc", "lead", "iron")]
STONE = [(f"{word} {i}", "stone") for i in range(10) for word in ("slate", "flint")]
HASHED = Recipe(features=Words(terms=Hashed(12)))


def test_new_words_and_new_classes_are_learned() -> None:
    first = HASHED.fit(FRUIT[:15] + METAL[:15])
    model = first.updated(FRUIT[15:] + METAL[15:] + STONE)
    assert model.classes.tolist() == ["fruit", "metal", "stone"]
    assert model.predict(["pear", "iron", "flint"]).tolist() == ["fruit", "metal", "stone"]
    assert (first.facts["rows"], model.facts["rows"], model.facts["updates"]) == (30, 80, 1)
    assert model.evaluation is None
    assert first.predict(["pear"]).tolist() == ["fruit"], "the model before is as it was"


def test_an_update_goes_on_from_a_file_to_the_same_bits(tmp_path: Path) -> None:
    one, two, three = FRUIT[:10] + METAL[:10], FRUIT[10:20] + METAL[10:20], FRUIT[20:] + METAL[20:]
    model = HASHED.fit(one).updated(two)
    model.save(tmp_path / "m.lin")
    found = set()
    for count in (1, 2, 5):
        with threads(count):
            found.add(Model.load(tmp_path / "m.lin").updated(three).params["W"].tobytes())
    assert found == {model.updated(three).params["W"].tobytes()}


def test_probabilities_stay_where_no_class_is_new() -> None:
    model = recipe("default").fit(FRUIT + METAL)
    again = model.updated(FRUIT[:5] + METAL[:5])
    assert again.decision is model.decision
    assert again.probabilities(["apple"])[0, 0] > 0.8


def test_numbers_and_label_sets_too() -> None:
    numbers = recipe("ridge").changed({"tuning": None}).fit([(f"good {i}", 5.0) for i in range(9)] + [("bad", 1.0)])
    before = numbers.predict(["bad"])[0]
    assert numbers.updated([("bad", -9.0)] * 20).predict(["bad"])[0] < before
    sets = HASHED.fit([("apple", ["fruit"]), ("zinc", ["metal"])] * 5)
    assert sets.updated([("flint", ["stone", "old"])] * 20).predict(["flint"])[0] == ("old", "stone")


def test_estimators_learn_batch_by_batch() -> None:
    face = TextClassifier(HASHED)
    for part in (FRUIT[:10] + METAL[:10], FRUIT[10:] + STONE, METAL[10:]):
        texts, labels = zip(*part, strict=True)
        face.partial_fit(list(texts), list(labels))
    assert face.predict(["plum", "lead", "slate"]).tolist() == ["fruit", "metal", "stone"]
    assert face.classes_.tolist() == ["fruit", "metal", "stone"]
    ridge = TextRegressor().partial_fit(["good", "bad"], [1.0, 0.0]).partial_fit(["good", "bad"] * 5, [1.0, 0.0] * 5)
    assert ridge.predict(["good"])[0] > ridge.predict(["bad"])[0]


@pytest.mark.parametrize("name", ["pos", "pos-second", "pos-greedy"])
def test_taggers_go_on_and_learn_new_tags(name: str, tmp_path: Path) -> None:
    words = {"dogs": "N", "cats": "N", "bark": "V", "sleep": "V", "they": "P"}
    old, new = (
        [[(word, words[word]) for word in line.split()] for line in lines.split(", ")] * 5
        for lines in ("dogs bark, cats sleep, cats bark", "they bark, they sleep, dogs sleep")
    )
    first = recipe(name).fit(old)
    model = first.updated(new)
    assert model.names == ("N", "P", "V")
    assert model.predict([["they", "sleep"], ["cats", "bark"]]) == [["P", "V"], ["N", "V"]]
    assert (model.facts["rows"], model.facts["tokens"], model.facts["updates"]) == (30, 60, 1)
    model.save(tmp_path / "m.lin")
    again = Model.load(tmp_path / "m.lin").updated(new)
    assert again.body.W.tobytes() == model.updated(new).body.W.tobytes()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: recipe("knn").fit(FRUIT + METAL).updated(FRUIT), "not models by Neighbors"),
        (lambda: HASHED.fit(FRUIT + METAL).compact(FRUIT + METAL).updated(FRUIT), "not compact models"),
        (lambda: HASHED.fit(FRUIT + METAL).updated([("apple", ["a", "b"])]), "differ in kind"),
        (lambda: recipe("pos-exact").fit([[("a", "X"), ("b", "Y")]]).updated([[("a", "X")]]), "by BatchChain cannot"),
    ],
)
def test_what_cannot_be_updated_is_said(wrong, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        wrong()


def test_the_command_line_updates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    for name, rows in {"old": FRUIT + METAL, "new": STONE}.items():
        Path(f"{name}.csv").write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    hashed = ["--set", "features={kind='words', terms={kind='hashed', bits=12}}"]
    assert main(["train", "old.csv", "--recipe", "logistic", *hashed, "-q"]) == 0
    assert main(["train", "new.csv", "--update", "old.lin", "--test", "new.csv", "-q"]) == 0
    assert "3 classes" in capsys.readouterr().out
    assert np.array_equal(Model.load("new.lin").predict(["flint 1"]), ["stone"])
    assert main(["train", "new.csv", "--update", "old.lin", "--recipe", "svm", "-o", "x.lin"]) == 2
    assert "--update goes on with the recipe of the model" in capsys.readouterr().err
