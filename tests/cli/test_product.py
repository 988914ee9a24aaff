"""The verbs of the product: what they print where, what they write, their codes, and a sentence for bad input."""

from __future__ import annotations

import csv
import json
import re

import pyarrow.parquet as pq
import pytest

TREES = ["oak", "elm", "ash", "fir", "yew"]
ROWS = [(f"the {tree} {part} {part}s", part) for tree in TREES for part in ("leaf", "root", "bark")] * 2


def write(path, rows, head=("text", "label")):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])
    return path


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    return write(tmp_path_factory.mktemp("data") / "trees.csv", ROWS)


@pytest.fixture(scope="session")
def trained(data, tmp_path_factory):
    from linnaeus.cli.main import main

    path = tmp_path_factory.mktemp("model") / "trees.lin"
    assert main(["train", str(data), "-o", str(path), "--quiet"]) == 0
    return path


def test_train_says_what_it_guessed_and_shows_how_good_it_is(run, data, tmp_path):
    model = tmp_path / "m.lin"
    code, out, err = run("train", data, "-o", model)
    assert code == 0
    assert "text 'text' (guessed)" in err
    assert "accuracy" in out
    assert "held-out" in out
    assert f"linnaeus predict {model}" in out
    assert model.exists()


def test_train_as_json_with_test_data(run, data, tmp_path):
    code, out, _ = run("train", data, "-o", tmp_path / "m.lin", "--test", data, "--json", "--quiet", "--recipe", "fast")
    found = json.loads(out)
    assert code == 0
    assert found["test"]["metrics"]["accuracy"] == 1.0
    assert found["held_out"] is None
    assert found["facts"]["rows"] == len(ROWS)


def test_the_model_is_beside_where_one_stands_and_nothing_is_overwritten(run, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("train", data, "--recipe", "fast", "-q")[0] == 0
    before = (tmp_path / "trees.lin").read_bytes()
    code, _, err = run("train", data, "--recipe", "fast")
    assert code == 2
    assert "--force" in err
    assert run("train", data, "--recipe", "fast", "--force", "-q")[0] == 0
    assert (tmp_path / "trees.lin").read_bytes() == before


def test_recipes_by_name_by_file_and_by_change(run, data, tmp_path):
    code, out, _ = run("recipes")
    assert code == 0
    assert "default" in out
    code, toml, _ = run("recipes", "svm")
    (tmp_path / "mine.toml").write_text(toml, encoding="utf-8")
    changes = ("--set", "regularizer.strength=0.25", "--set", "features.ngrams=[1,1]", "--seed", "3", "--cv", "4")
    assert run("train", data, "--recipe", tmp_path / "mine.toml", *changes, "-o", tmp_path / "m.lin", "-q")[0] == 0
    found = json.loads(run("inspect", tmp_path / "m.lin", "--json")[1])
    assert found["recipe"]["learner"]["regularizer"]["strength"] == 0.25
    assert found["recipe"]["features"]["ngrams"] == [1, 1]
    assert found["recipe"]["seed"] == 3
    assert found["recipe"]["tuning"]["folds"] == 4
    again = run("inspect", tmp_path / "m.lin", "--recipe")[1]
    assert "strength = 0.25" in again


def test_predict_keeps_the_order_in_every_format(run, trained, tmp_path):
    new = write(
        tmp_path / "new.csv",
        [
            (f"{i}", f"a {part} of {tree}")
            for i, (tree, part) in enumerate([("oak", "leaf"), ("elm", "bark"), ("x", "root")])
        ],
        ("id", "text"),
    )
    wanted = ["leaf", "bark", "root"]
    out = run("predict", trained, new, "--top", "2")[1]
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["label"] for line in lines] == wanted
    assert [line["id"] for line in lines] == ["0", "1", "2"]
    assert all(len(line["top"]) == 2 and line["top"][0]["label"] == line["label"] for line in lines)
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.parquet"):
        assert run("predict", trained, new, "-o", tmp_path / name, "--top", "2", "-q")[0] == 0
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == wanted
    assert {"id", "label", "probability", "label_1", "probability_1", "label_2", "probability_2"} == set(rows[0])
    assert pq.read_table(tmp_path / "a.parquet")["label"].to_pylist() == wanted
    assert run("predict", trained, new, "-o", tmp_path / "a.csv")[0] == 2


def test_predict_reads_lines_of_standard_input(run, trained, monkeypatch):
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a leaf\nsome bark\n"), encoding="utf-8"))
    code, out, _ = run("predict", trained)
    assert code == 0
    assert [json.loads(line)["label"] for line in out.splitlines()] == ["leaf", "bark"]


def test_predict_takes_a_text_but_no_name_with_a_slip(run, trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run("predict", trained, "the oak leaf?", "--top", 2)
    assert code == 0
    assert json.loads(out)["label"] == "leaf"
    assert run("predict", trained, "the leaf " * 2000)[0] == 0  # longer than a path can be
    for name in ("nwe.csv", "my data/nwe.csv"):
        code, _, err = run("predict", trained, name)
        assert code == 3
        assert f"{name}: there is no such file" in err
    code, _, err = run("predict", trained, "leaf")
    assert code == 3
    assert "There is no file 'leaf'; check the name, or pass this text on standard input: `echo TEXT |" in err
    (tmp_path / "two words").write_text("the elm root\n")
    code, out, _ = run("predict", trained, "two words", "--format", "lines")
    assert json.loads(out)["label"] == "root"


def test_explain_takes_a_text_longer_than_a_path(run, trained):
    code, out, _ = run("explain", trained, "the leaf " * 600, "--json")
    assert code == 0
    assert json.loads(out)["predicted"] == ["leaf"]


def test_abstaining(run, trained, tmp_path):
    new = write(tmp_path / "new.csv", [("a leaf",), ("nothing of this",)], ("text",))
    lines = [
        json.loads(line) for line in run("predict", trained, new, "--abstain", "confidence=0.999999")[1].splitlines()
    ]
    assert lines[1]["label"] is None
    assert "labels" in json.loads(run("predict", trained, new, "--abstain", "coverage=0.9")[1].splitlines()[0])


def test_how_unlike_the_training_data_a_row_is(run, trained, tmp_path):
    new = write(tmp_path / "new.csv", [("the oak leaf leafs",), ("quite something else",)], ("text",))
    known, strange = (
        json.loads(line)["out_of_scope"] for line in run("predict", trained, new, "--scope")[1].splitlines()
    )
    assert 0 <= known < strange <= 1


def test_testing_with_abstention(run, trained, data):
    found = json.loads(run("test", trained, data, "--abstain", "coverage=0.9", "--json")[1])
    assert found["rows"] == len(ROWS)
    answers = [
        json.loads(row)["labels"] for row in run("predict", trained, data, "--abstain", "coverage=0.9")[1].splitlines()
    ]
    held = sum(label in labels for (_, label), labels in zip(ROWS, answers, strict=True))
    assert found["metrics"]["set_coverage"] == pytest.approx(held / len(ROWS))
    assert found["metrics"]["mean_set_size"] == pytest.approx(sum(map(len, answers)) / len(ROWS))
    assert found["metrics"]["empty_sets"] == pytest.approx(sum(not labels for labels in answers) / len(ROWS))
    assert "set_coverage" in run("test", trained, data, "--abstain", "coverage=0.9")[1]
    assert json.loads(run("test", trained, data, "--abstain", "confidence=0.99", "--json")[1])["abstained"] >= 0


def test_test_and_its_minimum(run, trained, data):
    code, out, _ = run("test", trained, data, "--min", "accuracy=0.5", "--min", "macro-f1=0.5", "--json")
    assert code == 0
    assert json.loads(out)["metrics"]["macro_f1"] > 0.5
    sure = ("--abstain", "confidence=0.999999")  # rows without a prediction count as errors
    code, out, err = run("evaluate", trained, data, "--min", "accuracy=1", "--by", "length", *sure)
    assert code == 1
    assert "accuracy" in err
    assert "length" in out


def test_errors_have_a_maximum(run, trained, data):
    assert run("test", trained, data, "--max", "log-loss=30", "--max", "ece=1", "-q")[0] == 0
    code, out, err = run("test", trained, data, "--max", "log-loss=-1", "--min", "accuracy=0.1", "--json", "-q")
    assert code == 1
    assert "log_loss is" in err
    assert "above -1" in err
    assert json.loads(out)["missed"] == [{"metric": "log_loss", "wanted": -1.0}]


@pytest.mark.parametrize("name", ["log-loss", "ece", "brier", "cost", "rmse", "mae", "hamming-loss", "mean-set-size"])
def test_a_minimum_of_an_error_is_refused(run, trained, data, name):
    code, _, err = run("test", trained, data, "--min", f"{name}=0.5")
    assert code == 2
    assert f"For {name}, lower is better; use --max {name}=0.5." in err


def test_a_maximum_of_what_should_be_high_is_refused(run, trained, data):
    code, _, err = run("test", trained, data, "--max", "accuracy=0.5")
    assert code == 2
    assert "For accuracy, higher is better; use --min accuracy=0.5." in err
    code, _, err = run("test", trained, data, "--max", "ece")
    assert code == 2
    assert "--max takes METRIC=VALUE, such as log-loss=0.5, not 'ece'." in err


def test_explain_a_text_a_file_and_a_model(run, trained, data):
    code, out, _ = run("explain", trained, "the oak leaf leafs", "--class", "bark")
    assert code == 0
    assert "leaf" in out
    assert "bark" in out
    found = json.loads(run("explain", trained, data, "--json")[1].splitlines()[0])
    assert found["text"] == ROWS[0][0]
    shown = run("explain", trained, "the oäk leaf", "--html").out
    assert shown.startswith('<!doctype html>\n<meta charset="utf-8">\n<title>the oäk leaf</title>\n<div class=')
    assert run("explain", trained, data, "--rows", "2", "--html").out.count("<!doctype html>") == 1
    assert run("explain", trained, "--html").code == 2
    assert "leaf" in run("explain", trained, "--features", "2")[1]


def test_inspect_says_first_that_no_texts_are_kept(run, trained):
    code, out, _ = run("inspect", trained, "--verify")
    assert code == 0
    assert "none of the training data" in "".join(out.splitlines()[:3])
    assert "leaf" in out


def test_inspect_says_among_how_many_a_strength_was_chosen(run, trained, data, tmp_path):
    assert re.search(r"strength +[\d.]+, the best of [2-9]", run("inspect", trained)[1])
    for recipe, said in (("svm", r"[\d.]+"), ("fast", "as in the recipe")):
        model = tmp_path / f"{recipe}.lin"
        assert run("train", data, "-o", model, "--recipe", recipe, "-q")[0] == 0
        assert re.search(rf"strength +{said} *$", run("inspect", model)[1], re.MULTILINE)


def test_numbers_are_learned_as_numbers(run, tmp_path):
    rows = [
        (f"{word} film {i}", value) for i in range(10) for word, value in (("good", 4.5), ("bad", 1.5), ("dull", 2.5))
    ]
    path = write(tmp_path / "stars.csv", rows)
    assert run("train", path, "--task", "regress", "-o", tmp_path / "m.lin", "-q")[0] == 0
    out = run("predict", tmp_path / "m.lin", path)[1]
    assert abs(json.loads(out.splitlines()[0])["label"] - 4.5) < 1.0
    assert "rmse" in run("test", tmp_path / "m.lin", path)[1]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["train", "{data}", "--recipe", "nope"], 2, "nope"),
        (["train", "{data}", "--set", "loss"], 2, "PATH=VALUE"),
        (["train", "{data}", "--set", "los=hinge"], 2, "los"),
        (["train", "{data}", "--label", "gone"], 3, "gone"),
        (["train", "{folder}/gone.csv"], 3, "gone.csv"),
        (["train", "{data}", "-o", "{folder}/no/where.lin"], 2, "folder"),
        (["predict", "{folder}/gone.lin", "{data}"], 4, "gone.lin"),
        (["predict", "{data}", "{data}"], 4, "not a Linnaeus model"),
        (["predict", "{model}", "{data}", "-o", "{folder}/x.xlsx"], 2, "xlsx"),
        (["predict", "{model}", "{data}", "--abstain", "luck=1"], 2, "luck"),
        (["predict", "{model}", "{data}", "--keep", "gone"], 3, "gone"),
        (["test", "{model}", "{data}", "--min", "accuracy"], 2, "METRIC=VALUE"),
        (["test", "{model}", "{data}", "--min", "luck=1"], 2, "luck"),
        (["test", "{model}", "{data}", "--label", ""], 3, "label"),
        (["test", "{model}", "{data}", "--by", "gone"], 3, "gone"),
        (["explain", "{model}", "a text", "--class", "gone"], 2, "gone"),
        (["recipes", "gone"], 2, "gone"),
    ],
)
def test_bad_input_is_one_sentence(run, data, trained, tmp_path, words, code, said):
    given = [word.format(data=data, model=trained, folder=tmp_path) for word in words]
    if given[0] == "train" and "-o" not in given:
        given += ["-o", str(tmp_path / "m.lin")]
    found, _, err = run(*given)
    assert found == code, err
    assert said in err
    assert "Traceback" not in err
    assert not list(tmp_path.glob("*.lin"))
