"""Many labels on the command line: trained, tested, predicted, explained, inspected and updated, in 80 columns."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from linnaeus.cli.main import main

LONG = "a long name of a label, number"
COUNT = 60


def name(i: int) -> str:
    return f"{LONG} {i:02d}"


def rows(numbers: range | list[int], per: int = 4) -> list[tuple[str, str]]:
    return [(f"topic{i} theme{i % 7} so it is {j}", name(i)) for i in numbers for j in range(per)]


def write(path: Path, table: list[tuple[str, ...]], head: tuple[str, ...] = ("text", "label")) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *table])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data with 60 labels, and two models: of labels, and of sets of labels."""
    found = tmp_path_factory.mktemp("many")
    write(found / "train.csv", rows(range(COUNT)))
    write(found / "test.csv", [*rows(range(COUNT), 1), ("nothing known", "no such label")])
    write(found / "more.csv", rows([90, 91]))
    write(found / "sets.csv", [(text, f"{label}|theme {int(label[-2:]) % 7}") for text, label in rows(range(COUNT))])
    write(found / "numbers.csv", [(text, str(1000 + int(label[-2:]))) for text, label in rows(range(COUNT))])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(found)
        patch.setattr("linnaeus.tasks.classify.task.MANY_LABELS", 50)
        assert main(["train", "train.csv", "-q"]) == 0
        assert main(["train", "sets.csv", "--label-separator", "|", "-q"]) == 0
    return found


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("linnaeus.tasks.classify.task.MANY_LABELS", 50)


def fits(text: str) -> bool:
    return all(len(line) <= 80 for line in text.splitlines())


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


# train


def test_train_chooses_a_label_tree_by_itself(run: Any, tmp_path: Path) -> None:
    done = run("train", "train.csv", "-o", tmp_path / "m.lin")
    assert done.code == 0
    assert "there are 60 labels: training a label tree (--recipe default trains one-vs-rest)" in done.err
    assert "240 rows" in done.out
    assert "60 labels" in done.out
    assert "precision_at_1" in done.out
    assert fits(done.out)
    assert json.loads(run("inspect", tmp_path / "m.lin", "--json").out)["task"] == "many"


def test_fewer_labels_are_classes(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linnaeus.tasks.classify.task.MANY_LABELS", 61)
    done = run("train", "train.csv", "--set", "tuning=none", "-o", tmp_path / "m.lin")
    assert done.code == 0
    assert "label tree" not in done.err
    assert "60 classes" in done.out


@pytest.mark.parametrize("how", [["--recipe", "label-tree"], ["--task", "many"], ["--recipe", "flat-labels"]])
def test_a_label_tree_can_be_asked_for(run: Any, tmp_path: Path, how: list[str]) -> None:
    write(tmp_path / "few.csv", rows([1, 2, 3]))
    done = run("train", tmp_path / "few.csv", *how, "-o", tmp_path / "m.lin", "--json")
    assert done.code == 0
    assert json.loads(done.out)["held_out"]["task"] == "many"


def test_another_recipe_can_be_asked_for(run: Any, tmp_path: Path) -> None:
    done = run("train", "train.csv", "--recipe", "words", "-o", tmp_path / "m.lin")
    assert done.code == 0
    assert "label tree" not in done.err


def test_settings_of_the_chosen_recipe(run: Any, tmp_path: Path) -> None:
    settings = ["--set", "beam=3", "--set", "learner.leaf=8", "--set", "strengths=[1.0]"]
    done = run("train", "train.csv", *settings, "-o", tmp_path / "m.lin")
    assert done.code == 0, done.err
    assert "beam = 3" in run("inspect", tmp_path / "m.lin", "--recipe").out


def test_labels_that_are_whole_numbers(run: Any, tmp_path: Path) -> None:
    assert run("train", "numbers.csv", "-o", tmp_path / "m.lin").code == 0
    done = run("test", tmp_path / "m.lin", "numbers.csv", "--json")
    assert json.loads(done.out)["metrics"]["precision_at_1"] == 1


def test_test_data_and_cross_validation(run: Any, tmp_path: Path) -> None:
    done = run("train", "train.csv", "--test", "test.csv", "--cv", "3", "-o", tmp_path / "m.lin", "--json")
    assert done.code == 0
    account = json.loads(done.out)
    assert account["held_out"]["rows"] == 240
    assert account["test"]["rows"] == 61
    assert account["test"]["unknown"] == 1


def test_standard_input(spawn: Any, folder: Path, tmp_path: Path) -> None:
    process = spawn(["train", "-", "--recipe", "label-tree", "-o", tmp_path / "m.lin"], stdin=-1)
    _, err = process.communicate((folder / "train.csv").read_bytes())
    assert process.returncode == 0, err


# test, predict, explain, inspect


def test_test(run: Any) -> None:
    done = run("test", "train.lin", "test.csv")
    assert done.code == 0
    assert "61 rows" in done.out
    assert "1 row has a label that the model does not know" in done.out
    assert fits(done.out)
    assert run("test", "train.lin", "test.csv", "--min", "P@1=0.9").code == 0
    assert run("test", "train.lin", "test.csv", "--min", "P@1=0.999").code == 1
    done = run("test", "train.lin", "test.csv", "--abstain", "confidence=0.5", "--json")
    assert json.loads(done.out)["metrics"]["answered_accuracy"] == 1


def test_predict(run: Any) -> None:
    done = run("predict", "train.lin", "test.csv", "--top", "5")
    assert done.code == 0
    found = records(done.out)
    assert [row["label"] for row in found[:COUNT]] == [name(i) for i in range(COUNT)]
    assert all(len(row["top"]) == 5 for row in found)
    assert found[0]["top"][0] == {"label": found[0]["label"], "probability": found[0]["probability"]}
    assert records(run("predict", "train.lin", "topic33 theme5").out)[0]["label"] == name(33)
    done = run("predict", "train.lin", "test.csv", "--abstain", "confidence=0.5")
    assert records(done.out)[-1] == {"label": None, "probability": None}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_formats_of_predictions(run: Any, tmp_path: Path, suffix: str) -> None:
    for model in ("train.lin", "sets.lin"):
        path = tmp_path / f"{model}.{suffix}"
        assert run("predict", model, "test.csv", "--top", "2", "-o", path).code == 0
        if suffix == "parquet":
            assert pq.read_table(path).num_rows == COUNT + 1
        else:
            assert len(path.read_text(encoding="utf-8").splitlines()) == COUNT + 1 + (suffix != "jsonl")
    if suffix == "csv":
        with (tmp_path / "sets.lin.csv").open(encoding="utf-8", newline="") as file:
            assert next(csv.DictReader(file))["labels"] == f"{name(0)}|theme 0"


def test_a_separator_that_stands_in_a_name_is_refused(run: Any, tmp_path: Path) -> None:
    done = run("predict", "sets.lin", "test.csv", "--label-separator", ",", "-o", tmp_path / "x.csv")
    assert done.code == 2
    assert name(0)[:20] in done.err


def test_explain(run: Any) -> None:
    done = run("explain", "train.lin", "topic33 theme5 so")
    assert done.code == 0
    assert "topic33" in done.out
    assert name(33) in done.out
    assert fits(done.out)
    done = run("explain", "train.lin", "topic33", "--class", name(7), "--json")
    assert name(7) in [row["name"] for row in json.loads(done.out)["classes"]]
    assert run("explain", "sets.lin", "sets.csv", "--rows", "2").code == 0
    assert "<" in run("explain", "train.lin", "topic33", "--html").out


def test_inspect(run: Any) -> None:
    done = run("inspect", "train.lin")
    assert done.code == 0
    assert f"{name(19)} and 40 more" in " ".join(done.out.split())
    assert "LabelTree" in done.out
    assert fits(done.out)
    found = json.loads(run("inspect", "train.lin", "--json").out)
    assert (found["label_count"], found["classes"], found["labels"]) == (COUNT, None, "one")
    assert run("inspect", "train.lin", "--verify").code == 0
    assert json.loads(run("inspect", "sets.lin", "--json").out)["labels"] == "many"


# train --update


def test_update(run: Any, tmp_path: Path) -> None:
    done = run("train", "more.csv", "--update", "train.lin", "-o", tmp_path / "m.lin", "--test", "test.csv")
    assert done.code == 0
    assert "248 rows" in done.out
    assert "62 labels" in done.out
    assert fits(done.out)
    answers = [row["label"] for row in records(run("predict", tmp_path / "m.lin", "test.csv").out)]
    assert answers[:COUNT] == [name(i) for i in range(COUNT)]


def test_update_that_removes_labels(run: Any, tmp_path: Path) -> None:
    gone = ["--remove", name(7), "--remove", name(8)]
    done = run("train", "more.csv", "--update", "train.lin", *gone, "-o", tmp_path / "m.lin", "--json")
    assert done.code == 0
    assert json.loads(run("inspect", tmp_path / "m.lin", "--json").out)["label_count"] == COUNT
    answers = {row["label"] for row in records(run("predict", tmp_path / "m.lin", "test.csv").out)}
    assert not {name(7), name(8)} & answers
    assert name(9) in answers


def test_update_of_sets(run: Any, tmp_path: Path) -> None:
    write(tmp_path / "more.csv", [("topic99 theme1", "label 99|theme 1")] * 3)
    done = run("train", tmp_path / "more.csv", "--update", "sets.lin", "-o", tmp_path / "m.lin")
    assert done.code == 0, done.err
    assert json.loads(run("inspect", tmp_path / "m.lin", "--json").out)["label_count"] == COUNT + 8


# What is refused


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("train more.csv --remove x", 2, "--remove takes a label out of a trained model; name it with --update"),
        ("train more.csv --update train.lin --remove nothing", 2, "The model has no label 'nothing' to remove."),
        ("train more.csv --update train.lin --set beam=3", 2, "--update goes on with the recipe of the model"),
        ("train more.csv --update more.csv", 4, "more.csv"),
        ("train train.csv --recipe label-tree --set learner.beam=0", 2, "LabelTree(beam=...)"),
        ("train train.csv --recipe label-tree --set learner.bits=7", 2, "LabelTree(bits=...) is 8 or 16, not 7."),
        ("train train.csv --set learner.blur=7", 2, "'learner.blur' is not known"),
        ("train train.csv --recipe label-tree --set learner=linear", 2, "learned by LabelTree()"),
        ("train train.csv --set keep=texts", 2, "A model of many labels keeps no texts"),
        ("train train.csv --compact", 2, "become compact"),
        ("train train.csv --recipe label-tree --set features.values=nb", 2, "learn weights from the labels"),
        ("train numbers.csv --recipe label-tree --label-kind numeric", 2, "these are numbers; take the recipe ridge"),
        ("predict train.lin test.csv --scope", 2, "no out-of-scope scores"),
        ("predict train.lin test.csv --abstain scope", 2, "by its probabilities, confidence=0.8 or margin=0.2"),
        ("test train.lin test.csv --abstain coverage=0.9", 2, "or by risk=0.05, which with a taxonomy"),
        ("predict train.lin test.csv --top -1", 2, "--top"),
        ("predict train.lin test.csv --keep nothing", 3, "There is no column 'nothing' to keep"),
        ("predict sets.lin test.csv --abstain confidence=0.5", 2, "these are sets of labels"),
        ("predict train.lin missing.csv", 3, "missing.csv"),
        ("test train.lin more.txt", 3, "more.txt"),
        ("explain train.lin topic --class nothing", 2, "The model has no label 'nothing'"),
        ("search train.lin topic", 2, "A model of many labels keeps no texts to search"),
    ],
)
def test_what_is_refused_is_refused_in_one_sentence(run: Any, tmp_path: Path, words: str, code: int, said: str) -> None:
    words = f"{words} -o {tmp_path / 'new.lin'}" if words.startswith("train") else words
    done = run(*words.split())
    assert done.code == code, done.err
    (error,) = [line for line in done.err.splitlines() if line.startswith("linnaeus: error: ")]
    assert said in error
    assert not done.out
    assert not (tmp_path / "new.lin").exists()


@pytest.mark.parametrize(
    "table",
    [
        [],
        [("a text", "one label")] * 5,
        [("", f"label {i}") for i in range(60)],
        [(f"word{i}", "") for i in range(60)],
        [("the same", f"label {i}") for i in range(60)],
        [("x" * 5000, f"label {i}" * 100) for i in range(60)],
        [(f"\U0001f600 {i}", f"\u00e4\u65e5{i}\u0301") for i in range(60)],
        [(f"word{i}", f'"{i}", or; else | not\n') for i in range(60)],
    ],
    ids=["nothing", "one label", "no texts", "no labels", "one text", "long", "beyond ASCII", "signs"],
)
def test_odd_data_are_learned_or_refused_with_a_sentence(run: Any, tmp_path: Path, table: Any) -> None:
    write(tmp_path / "odd.csv", table)
    done = run("train", tmp_path / "odd.csv", "--recipe", "label-tree", "-o", tmp_path / "m.lin")
    assert done.code in (0, 2, 3), done.err
    if done.code:
        assert done.err.splitlines()[-1].startswith("linnaeus: error: ")
        return
    assert fits(done.out)
    for words in (["predict", tmp_path / "m.lin", tmp_path / "odd.csv", "--top", "3"], ["inspect", tmp_path / "m.lin"]):
        assert run(*words).code == 0
    assert run("test", tmp_path / "m.lin", tmp_path / "odd.csv").code == 0
    assert run("train", tmp_path / "odd.csv", "--update", tmp_path / "m.lin", "-o", tmp_path / "n.lin").code == 0
